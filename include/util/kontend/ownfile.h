/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OWNFILE_H
#define KONTEND_OWNFILE_H

#include <stddef.h>

/*
 * Opens a file in a place where other users may write or make links: for reading, without blocking,
 * if it is a regular file of root or of kontend's user, as is the link if it is one. A descriptor,
 * -EINVAL (not a regular file), -EPERM (another user's), or the kernel's error.
 */
int ownfile_open(const char *path);
/*
 * Creates or replaces such a file, making at most @make folders for it: completely or not at all.
 * The file and its folder must be the user's; a link is followed. 0, -EINVAL, -EPERM, or the
 * kernel's error.
 */
int ownfile_replace(const char *path, unsigned make, const void *bytes, size_t len);
/* The reason, for users. */
const char *ownfile_reason(int code);

#endif
