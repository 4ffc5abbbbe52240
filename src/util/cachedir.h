/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UTIL_KEPT_FOLDER_H
#define KONTEND_UTIL_KEPT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the cache folder (cachefile.h), or folder @sub in it: a descriptor, or a negative errno.
 * @create: makes missing folders, for the user only.
 */
int cachedir_open(const char *sub, bool create);
/*
 * Opens folder @name in folder @in, which is closed; AT_FDCWD: a path. A descriptor, -EPERM
 * (another user's, or writable by others) or another negative errno, which @in may be.
 */
int cachedir_enter(int in, const char *name, bool create);
/* The folder in this environment variable; NULL: none. */
const char *cachedir_from(const char *variable);
/*
 * True if @fd is of that type, S_IFREG or so, belongs to kontend's user, and no other user may
 * write to it.
 */
bool cachedir_is_ours(int fd, mode_t type, bool or_of_root);
static inline bool cachedir_is_for_all(const char *sub)
{
	return sub && sub[0] == '/';
}
/*
 * Removes files until there is room for @need bytes. 0, -EFBIG: impossible, or another negative
 * errno.
 */
int cachedir_make_room(int folder, uint64_t need, uint64_t most);

#endif
