/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CACHEFOLDER_H
#define KONTEND_CACHEFOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The folder of what can be made anew and saves time: $KONTEND_CACHE, $XDG_CACHE_HOME/kontend or
 * ~/.cache/kontend. KONTEND_CACHE set to nothing: there is none. It is of use only if it and what
 * it is in belong to us, and nobody else may write there: so root has none in the home of another
 * user. No link is followed below the first folder.
 */

/* A descriptor, or a negative errno. @create: what is missing is made, for us alone. */
int cachefolder_open(bool create);
/* The same of a folder in it. */
int cachefolder_open_sub(const char *name, bool create);
/* Where @name in it is, if it is there; false: there is no such folder. */
bool cachefolder_path(const char *name, char *ret, size_t size);
/* Is it of that type, S_IFREG or so, ours, and for nobody else to be written to? */
bool cachefolder_is_ours(int fd, mode_t type);

#endif
