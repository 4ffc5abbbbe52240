/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FDPASS_H
#define KONTEND_FDPASS_H

#include <stddef.h>

/* Messages with descriptors between processes. Interrupted calls are repeated. */
enum { FDPASS_MOST = 2 };

/* @flags as in sendmsg(); MSG_NOSIGNAL is added. 0 or the negative error of sendmsg(). */
int fdpass_send(int to, const void *data, size_t len, const int *fds, size_t n, int flags);
/*
 * Receives a message of at most @size bytes: its size, 0 if the other end is closed, or negative.
 * Descriptors are close-on-exec and owned by the caller; -1: none. Surplus ones are closed.
 */
long fdpass_receive(int from, void *ret, size_t size, int fds[FDPASS_MOST], int flags);

#endif
