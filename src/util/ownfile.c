// SPDX-License-Identifier: GPL-2.0-only
/*
 * Root may run kontend in the home of another user, whose files must neither block it (FIFOs) nor
 * control it. An opened file is checked by its descriptor. The link itself is checked, too, since
 * another user could point it at a file of root.
 */
#include "kontend/ownfile.h"
#include "kontend/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

int ownfile_open(const char *path)
{
	struct stat name, st;

	if (lstat(path, &name) < 0)
		return -errno;
	if (!is_ours(&name))
		return -EPERM;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int code = fstat(fd, &st) < 0	  ? -errno
		   : !S_ISREG(st.st_mode) ? -EINVAL
		   : !is_ours(&st)	  ? -EPERM
					  : 0;
	if (code == 0)
		return fd;
	close(fd);
	return code;
}

const char *ownfile_reason(int code)
{
	if (code == -EINVAL)
		return "it is not a regular file";
	return code == -EPERM ? "it belongs to another user" : strerror(-code);
}

/*
 * Replaces a file of the user: writes it completely under another name, which then takes the place
 * of the old one. When root runs with the home of another user, nothing there is created or
 * changed, as the owner could not undo it. So the folder, and any folder in which one is made, must
 * belong to kontend's user; it is checked by its descriptor and used only through that.
 */

/* Cuts @path before its last name, which is returned; NULL: it has only one. */
static const char *cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return NULL;
	*slash = '\0';
	return slash + 1;
}

static int if_ours(int fd)
{
	struct stat st;
	int code = fstat(fd, &st) < 0 ? -errno : st.st_uid == geteuid() ? 0 : -EPERM;

	if (code == 0)
		return fd;
	close(fd);
	return code;
}

/* The parent of "/a" is "/". */
static int open_folder(const char *path, unsigned make)
{
	int fd = open(*path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char above[PATH_MAX];

	if (fd >= 0)
		return if_ours(fd);
	if (errno != ENOENT || !make)
		return -errno;
	snprintf(above, sizeof(above), "%s", path);
	const char *name = cut_name(above);
	int in = name ? open_folder(above, make - 1) : -ENOENT;
	if (in < 0)
		return in;
	int code = mkdirat(in, name, 0700) < 0 && errno != EEXIST ? -errno : 0;
	if (code == 0)
		fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	code = code == 0 && fd < 0 ? -errno : code;
	close(in);
	return code < 0 ? code : if_ours(fd);
}

/* Finds the file's real path, and the mode of an existing file. */
static int find_target(const char *path, char real[PATH_MAX], mode_t *ret_mode)
{
	struct stat st;

	*ret_mode = 0600;
	if (snprintf(real, PATH_MAX, "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	if (S_ISLNK(st.st_mode) && (!realpath(path, real) || lstat(real, &st) < 0))
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	*ret_mode = st.st_mode & 0777;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static int write_new(int folder, const char *name, mode_t mode, const void *bytes, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	int code = fdio_write_all(fd, bytes, len);
	if (code == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		code = -errno;
	if (close(fd) < 0 && code == 0)
		code = -errno;
	return code;
}

static int replace_in(int folder, const char *name, mode_t mode, const void *bytes, size_t len)
{
	char temporary[NAME_MAX + 1];

	if (snprintf(temporary, sizeof(temporary), "%s.%d.new", name, (int)getpid()) >=
	    (int)sizeof(temporary))
		return -ENAMETOOLONG;
	int code = write_new(folder, temporary, mode, bytes, len);
	if (code == -EEXIST)
		return code;
	if (code == 0 && renameat(folder, temporary, folder, name) < 0)
		code = -errno;
	if (code < 0)
		unlinkat(folder, temporary, 0);
	return code;
}

int ownfile_replace(const char *path, unsigned make, const void *bytes, size_t len)
{
	char real[PATH_MAX];
	mode_t mode;
	int code = find_target(path, real, &mode);

	if (code < 0)
		return code;
	const char *name = cut_name(real);
	int folder = name ? open_folder(real, make) : -EINVAL;
	if (folder < 0)
		return folder;
	code = replace_in(folder, name, mode, bytes, len);
	close(folder);
	return code;
}
