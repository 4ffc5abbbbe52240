/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FDPASS_H
#define KONTEND_FDPASS_H

#include <stddef.h>

/* Messages between processes, with descriptors along. A signal that comes meanwhile is no end. */
enum { FDPASS_MOST = 2 };

/* @flags as of sendmsg(), MSG_NOSIGNAL with them. 0 or what sendmsg() says, negative. */
int fdpass_send(int to, const void *data, size_t len, const int *fds, size_t n, int flags);
/*
 * A message of at most @size bytes: how many it has, 0 when there is nobody any more, or negative.
 * Descriptors are closed on exec, and the caller's: -1 where there is none. Those that are more
 * than fit are closed.
 */
long fdpass_receive(int from, void *ret, size_t size, int fds[FDPASS_MOST], int flags);

#endif
