// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of files among those of others. A name tells nothing of who made the file, and whoever may
 * write to the folder can change what it stands for at any moment: so a file of ours is known by
 * its inode, a name is only taken when it is free, and where one is to change hands, both files
 * exchange their names in one step. Nothing is without a name in between, and what went wrong
 * behind it can be undone. File systems that cannot do that get plain renames.
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

/* Not every C library has it. */
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

/* A step back, which may fail like those that were taken. */
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
 * Where names cannot be exchanged: what had the name gets one of its own until the new file has it,
 * and only then the name of the one before, in one step. At every moment each of them has a name.
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
