// SPDX-License-Identifier: GPL-2.0-only
/*
 * File names in a folder that other users may write to. A name does not prove who made the file,
 * and any user with write access can replace it at any moment. So a file of kontend is known by its
 * inode, a name is taken only if it is free, and two files exchange their names in one step. No
 * file is without a name in between, and a later failure can be undone. File systems without
 * RENAME_EXCHANGE get plain renames.
 */
#include "output-names.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int place_know(int fd, struct output_file *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct output_file){st.st_dev, st.st_ino};
	return 0;
}

bool place_has(const char *name, const struct output_file *f)
{
	struct stat st;

	return lstat(name, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

void output_remove(const char *name, const struct output_file *f)
{
	if (place_has(name, f))
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

int output_rename(const char *from, const char *to)
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

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "No memory for the names of files");
}

/* Undoes a step; may fail like the steps themselves. */
static int go_back(const char *from, const char *to, struct error *err)
{
	int r = output_rename(from, to);

	return r < 0 ? failed(from, to, r, err) : 0;
}

static int put_by(const char *temp, const char *path, const char *old, const char *spare,
		  struct error *err)
{
	int r = output_rename(path, spare), code;

	if (r < 0)
		return failed(path, spare, r, err);
	r = output_rename(temp, path);
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
		return no_memory(err);
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

int place_put(const char *temp, const char *path, struct error *err)
{
	int r = output_rename(temp, path);

	if (r != -EEXIST)
		return r < 0 ? failed(temp, path, r, err) : 0;
	char *old = mem_join(path, ".old");
	if (!old)
		return no_memory(err);
	r = put_over(temp, path, old, err);
	mem_free(old);
	return r;
}
