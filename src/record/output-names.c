// SPDX-License-Identifier: GPL-2.0-only
/*
 * File names in a folder that other users may write to. A name does not prove who made the file,
 * and any user with write access can replace it at any moment. So a file of kontend is known by its
 * inode, a name is taken only if it is free, and two files exchange their names in one step. No
 * file is without a name in between, and a later failure can be undone. File systems without
 * RENAME_EXCHANGE get plain renames.
 *
 * The files of a recording have names that begin with the requested one. Earlier parts are removed
 * if there are too many of them; no other files are ever removed.
 */
#include "kontend/mem.h"
#include "kontend/record-output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int record_output_know(int fd, struct record_output_file *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct record_output_file){st.st_dev, st.st_ino};
	return 0;
}

bool record_output_has(const char *name, const struct record_output_file *f)
{
	struct stat st;

	return lstat(name, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

void record_output_remove(const char *name, const struct record_output_file *f)
{
	if (record_output_has(name, f))
		unlink(name);
}

/* Some C libraries lack it. */
static int rename_as(const char *from, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static bool is_unknown(int code)
{
	return code == EINVAL || code == ENOSYS || code == ENOTSUP;
}

int record_output_rename(const char *from, const char *to)
{
	struct stat st;

	if (rename_as(from, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (!is_unknown(errno))
		return -errno;
	if (lstat(to, &st) == 0)
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

static int failed(const char *from, const char *to, int code, struct error *err)
{
	return error_errno(err, code, "Cannot rename the file '%s' to '%s'", from, to);
}

/* Undoes a step; may fail like the steps themselves. */
static int go_back(const char *from, const char *to, struct error *err)
{
	int r = record_output_rename(from, to);

	return r < 0 ? failed(from, to, r, err) : 0;
}

static int put_by(const char *temp, const char *path, const char *old, const char *spare,
		  struct error *err)
{
	int r = record_output_rename(path, spare), code;

	if (r < 0)
		return failed(path, spare, r, err);
	r = record_output_rename(temp, path);
	if (r < 0) {
		failed(temp, path, r, err);
		code = go_back(spare, path, err);
		return code < 0 ? code : r;
	}
	if (rename(spare, old) == 0)
		return 0;
	r = failed(path, old, -errno, err);
	code = go_back(path, temp, err);
	code = code < 0 ? code : go_back(spare, path, err);
	return code < 0 ? code : r;
}

/*
 * For file systems that cannot exchange names: the old file gets a temporary name until the new
 * file has its name, and only then PATH.old, in one step. At every moment each file has a name.
 */
static int put_in_steps(const char *temp, const char *path, const char *old, struct error *err)
{
	char *spare = mem_join(temp, ".old");

	if (!spare)
		return error_enomem(err, "the names of files");
	int r = put_by(temp, path, old, spare, err);
	mem_free(spare);
	return r;
}

static int put_over(const char *temp, const char *path, const char *old, struct error *err)
{
	if (rename_as(temp, path, RENAME_EXCHANGE) < 0)
		return is_unknown(errno) ? put_in_steps(temp, path, old, err)
					 : failed(temp, path, -errno, err);
	if (rename(temp, old) == 0)
		return 0;
	int code = -errno;
	if (rename_as(temp, path, RENAME_EXCHANGE) < 0)
		return error_errno(err, code,
				   "Cannot rename the earlier file '%s' from '%s' to '%s'", path,
				   temp, old);
	return failed(path, old, code, err);
}

int record_output_put(const char *temp, const char *path, struct error *err)
{
	int r = record_output_rename(temp, path);

	if (r != -EEXIST)
		return r < 0 ? failed(temp, path, r, err) : 0;
	char *old = mem_join(path, ".old");
	if (!old)
		return error_enomem(err, "the names of files");
	r = put_over(temp, path, old, err);
	mem_free(old);
	return r;
}

static bool is_taken(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

char *record_output_part(const char *path)
{
	char stamp[48];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	size_t n = strftime(stamp, sizeof(stamp) - 12, ".%Y%m%d-%H%M%S", &tm);
	for (int i = 2;; i++) {
		char *name = mem_join(path, stamp);

		if (!name || !is_taken(name))
			return name;
		mem_free(name);
		snprintf(stamp + n, sizeof(stamp) - n, "-%d", i);
	}
}

static void remove_oldest(struct record_parts *p)
{
	if (!p->keep || p->n <= p->keep)
		return;
	record_output_remove(p->list[0].name, &p->list[0].file);
	mem_free(p->list[0].name);
	p->n--;
	p->removed++;
	memmove(p->list, p->list + 1, p->n * sizeof(*p->list));
}

/* The name may be taken by another file in between. */
static int give_name(const char *path, char **ret, struct error *err)
{
	int r;

	do {
		char *name = record_output_part(path);

		if (!name)
			return error_enomem(err, "the recording");
		r = record_output_rename(path, name);
		if (r == 0)
			*ret = name;
		else if (r != -EEXIST)
			error_errno(err, r, "Cannot rename the file '%s' to '%s'", path, name);
		if (r < 0)
			mem_free(name);
	} while (r == -EEXIST);
	return r;
}

int record_parts_add(struct record_parts *p, const char *path,
		     const struct record_output_file *file, struct error *err)
{
	char *name = NULL;

	if (mem_grow(&p->list, &p->cap, p->n, sizeof(*p->list)))
		return error_enomem(err, "the recording");
	int r = record_output_has(path, file) ? give_name(path, &name, err) : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	p->finished++;
	if (r < 0)
		return 0;
	p->list[p->n++] = (struct record_part){name, *file};
	remove_oldest(p);
	return 0;
}

void record_parts_text(const struct record_parts *p, char *buf, size_t size)
{
	char gone[48] = "";

	if (p->removed)
		snprintf(gone, sizeof(gone), " (%u older ones were removed)", p->removed);
	if (p->finished)
		snprintf(buf, size, " and %u files before it%s", p->finished - p->removed, gone);
	else
		buf[0] = '\0';
}

void record_parts_deinit(struct record_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		mem_free(p->list[i].name);
	mem_free(p->list);
	*p = (struct record_parts){0};
}
