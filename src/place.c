// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of files among those of others. A name tells nothing of who made the file, and whoever may
 * write to the folder can change what it stands for at any moment: so a file of ours is known by
 * its inode, a name is only taken when it is free, and where one is to change hands, both files
 * exchange their names in one step. Nothing is without a name in between, and what went wrong
 * behind it can be undone. File systems that cannot do that get plain renames.
 */
#include "place.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int place_know(int fd, struct place_file *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct place_file){st.st_dev, st.st_ino};
	return 0;
}

bool place_has(const char *name, const struct place_file *f)
{
	struct stat st;

	return lstat(name, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

void place_remove(const char *name, const struct place_file *f)
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

int place_rename(const char *from, const char *to)
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

/* Where names cannot be exchanged: what was called so before is lost in the first step. */
static int put_in_steps(const char *temp, const char *path, const char *old, struct error *err)
{
	if (rename(path, old) < 0)
		return failed(path, old, -errno, err);
	int r = place_rename(temp, path);
	if (r == 0)
		return 0;
	failed(temp, path, r, err);
	int back = place_rename(old, path);
	return back < 0 ? failed(old, path, back, err) : r;
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
	static const char suffix[] = ".old";
	size_t len = strlen(path);
	int r = place_rename(temp, path);

	if (r != -EEXIST)
		return r < 0 ? failed(temp, path, r, err) : 0;
	char *old = mem_calloc(len + sizeof(suffix), 1);
	if (!old)
		return error_set(err, -ENOMEM, "No memory for the names of files");
	memcpy(old, path, len);
	memcpy(old + len, suffix, sizeof(suffix));
	r = put_over(temp, path, old, err);
	mem_free(old);
	return r;
}
