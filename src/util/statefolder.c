// SPDX-License-Identifier: GPL-2.0-only
/* Opens folder by folder, each from the descriptor of its parent, as cache files do. */
#include "kontend/statefolder.h"

#include "cachedir.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int failed(int code, const char *path, struct error *err)
{
	if (code == -EPERM)
		return error_set(
			err, code,
			"the folder '%s' belongs to another user, or other users may write to it",
			path);
	return error_errno(err, code, "cannot use the folder '%s'", path);
}

/* Appends "/@name". False: no room. */
static bool append(char *path, size_t size, const char *name)
{
	size_t len = strlen(path);
	int n = snprintf(path + len, size - len, "/%s", name);

	return n > 0 && (size_t)n < size - len;
}

int statefolder_open(char *ret_path, size_t size, struct error *err)
{
	static const char *const below[] = {".local", "state", "kontend"};
	const char *base = cachedir_from("XDG_STATE_HOME"), *home = cachedir_from("HOME");
	size_t at = base ? 2 : 0;
	int fd;

	if (!base && !home)
		return error_set(err, -ENOENT,
				 "no folder for saved files: set XDG_STATE_HOME or HOME");
	if ((size_t)snprintf(ret_path, size, "%s", base ? base : home) >= size)
		return error_errno(err, -ENAMETOOLONG, "%.40s", base ? base : home);
	fd = cachedir_enter(AT_FDCWD, ret_path, base != NULL);
	for (; fd >= 0 && at < sizeof(below) / sizeof(*below); at++) {
		if (!append(ret_path, size, below[at])) {
			close(fd);
			return failed(-ENAMETOOLONG, ret_path, err);
		}
		fd = cachedir_enter(fd, below[at], true);
	}
	return fd < 0 ? failed(fd, ret_path, err) : fd;
}
