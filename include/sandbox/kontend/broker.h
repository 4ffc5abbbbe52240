/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BROKER_H
#define KONTEND_BROKER_H

#include "kontend/error.h"
#include "kontend/fdpass.h"
#include <stdint.h>

/*
 * The broker: a process that stays outside the sandbox and serves a few kinds of requests, settled
 * before the first byte of the recording was read. It never reads a recording itself. Its client is
 * taken for hostile: so each request checks its arguments.
 */
enum { BROKER_TEXT = 4300, BROKER_KEEPS = 8 };

struct broker_ask {
	int64_t number;
	const char *text;     /* ends in a NUL; "": none */
	int fds[FDPASS_MOST]; /* that came along; -1: none; the broker closes them */
};

struct broker_answer {
	int64_t number; /* negative: -errno */
	char text[640]; /* for people, or a name */
	int fd;		/* goes along, and is closed here; -1: none */
};

struct broker_request {
	void (*run)(void *ctx, const struct broker_ask *ask, struct broker_answer *ret);
};

struct broker {
	int pid; /* 0: there is none */
	int fd;
};

/*
 * Forks, so while there is but one thread. @requests and @ctx are its own copy, as they are now. It
 * keeps the descriptors in @keep, under their numbers; -1: none.
 */
int broker_start(struct broker *p, const struct broker_request *requests, size_t n_requests,
		 void *ctx, const int *keep, size_t n_keep, struct error *err);
/*
 * ret->fd is the caller's. 0, whatever the answer is; -ENOLINK: the broker has ended, so that
 * there is no answer; else the error of sendmsg().
 */
int broker_do(const struct broker *p, unsigned request, const struct broker_ask *ask,
	      struct broker_answer *ret);
/* There are no more requests: the broker ends. */
void broker_stop(struct broker *p);

#endif
