/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OWNFILE_H
#define KONTEND_OWNFILE_H

/*
 * A file that was found by its name in a place that others may write to, or make a link of: opened
 * to be read, without waiting, if it is a regular one that belongs to root or to us, as does the
 * link, if its name is one. A descriptor, -EINVAL (no regular file), -EPERM (another user's), or
 * what the kernel said.
 */
int ownfile_open(const char *path);
/* The reason for people. */
const char *ownfile_reason(int code);

#endif
