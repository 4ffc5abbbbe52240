/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NOTIFY_H
#define KONTEND_NOTIFY_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Tells the service manager that started us how we are, by the protocol of sd_notify(3). Where
 * nobody asked to be told, all of it does nothing and answers 0. `= {.fd = -1}` may be closed.
 */
struct notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un to;
	socklen_t to_len;
	uint64_t watchdog_ns; /* the longest time between two signs of life; 0: none are wanted */
	uint64_t alive_ns;    /* when the last one was given */
	uint64_t failed;      /* messages that could not be sent */
};

/*
 * As NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the environment say, which are taken out of
 * it: processes that we start are not the service. -EINVAL with @err: they make no sense.
 */
int notify_open(struct notify *n, struct error *err);
/* These answer 0, or negative errno where the message cannot be sent: -EAGAIN, the manager is slow.
 */
int notify_ready(struct notify *n);
/* Reads its configuration again from @now_ns of CLOCK_MONOTONIC on; notify_ready() ends that. */
int notify_reloading(struct notify *n, uint64_t now_ns);
int notify_stopping(struct notify *n);
/* A sentence for people, in one line. Not waited for, as it is about a moment. */
int notify_status(struct notify *n, const char *text);
/* A sign of life, if it is time for one: half of the time that is allowed has gone. */
int notify_alive(struct notify *n, uint64_t now_ns);
/* When notify_alive() wants to be called next; UINT64_MAX: never. */
uint64_t notify_next(const struct notify *n);
void notify_close(struct notify *n);

#endif
