/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NOTIFY_H
#define KONTEND_NOTIFY_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Reports the state of the service to the service manager with the protocol of sd_notify(3).
 * Without a manager, all functions do nothing and return 0. `= {.fd = -1}` may be closed.
 */
struct notify {
	int fd; /* -1: no service manager */
	struct sockaddr_un to;
	socklen_t to_len;
	uint64_t watchdog_ns; /* longest time between two keep-alive messages; 0: none needed */
	uint64_t alive_ns;    /* time of the last one */
	uint64_t failed;      /* messages that could not be sent */
};

/*
 * Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment: child
 * processes are not the service. -EINVAL with @err if they are invalid.
 */
int notify_open(struct notify *n, struct error *err);
/*
 * These return 0, or a negative errno if the message cannot be sent: -EAGAIN: the manager is slow.
 */
int notify_ready(struct notify *n);
/*
 * The service reads its configuration again from @now_ns of CLOCK_MONOTONIC on; notify_ready() ends
 * that.
 */
int notify_reloading(struct notify *n, uint64_t now_ns);
int notify_stopping(struct notify *n);
/* Sends a one-line status for users. Does not block, since the status soon changes. */
int notify_status(struct notify *n, const char *text);
/* Sends a keep-alive message if half of the allowed time has passed. */
int notify_alive(struct notify *n, uint64_t now_ns);
/* Time of the next call of notify_alive(); UINT64_MAX: never. */
uint64_t notify_next(const struct notify *n);
void notify_close(struct notify *n);

#endif
