/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UTIL_KEPT_FOLDER_H
#define KONTEND_UTIL_KEPT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The folder of kept files (cachefile.h), or folder @sub in it: a descriptor, or a negative errno.
 * @create: what is missing is made, for us alone.
 */
int cachedir_open(const char *sub, bool create);
/*
 * Folder @name in folder @in, which is closed; AT_FDCWD: a path. A descriptor, -EPERM (it is not
 * ours, or others may write to it) or another negative errno, which @in may be.
 */
int cachedir_enter(int in, const char *name, bool create);
/* The folder that the environment names there; NULL: none. */
const char *cachedir_from(const char *variable);
/* Is it of that type, S_IFREG or so, ours, and for nobody else to be written to? */
bool cachedir_is_ours(int fd, mode_t type, bool or_of_root);
static inline bool cachedir_is_for_all(const char *sub)
{
	return sub && sub[0] == '/';
}
/* Until there is room for @need bytes. 0, -EFBIG: there never is, or another negative errno. */
int cachedir_make_room(int folder, uint64_t need, uint64_t most);

#endif
