/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OWNFILE_H
#define KONTEND_OWNFILE_H

#include <stddef.h>

/*
 * A file that was found by its name in a place that others may write to, or make a link of: opened
 * to be read, without waiting, if it is a regular one that belongs to root or to us, as does the
 * link, if its name is one. A descriptor, -EINVAL (no regular file), -EPERM (another user's), or
 * what the kernel said.
 */
int ownfile_open(const char *path);
/*
 * Writes such a file anew, or makes it, and at most @make folders on the way to it: whole, or not
 * at all. It is ours and so is its folder; of a link it is what that leads to. 0, -EINVAL, -EPERM,
 * or what the kernel said.
 */
int ownfile_replace(const char *path, unsigned make, const void *bytes, size_t len);
/* The reason for people. */
const char *ownfile_reason(int code);

#endif
