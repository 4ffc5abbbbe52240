// SPDX-License-Identifier: GPL-2.0-only
/*
 * Root may run kontend in the home of another user, whose files must neither block it (FIFOs) nor
 * control it. An opened file is checked by its descriptor. The link itself is checked, too, since
 * another user could point it at a file of root.
 */
#include "kontend/ownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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
