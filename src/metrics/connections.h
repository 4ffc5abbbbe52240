/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_CONNECTIONS_H
#define KONTEND_METRICS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who is connected to the server, and who has to go so that another client gets an answer. Times
 * are the caller's, and so is the lock.
 */
enum {
	CONNECTIONS_MOST = 16,	/* at once */
	CONNECTIONS_FRESH = 2,	/* of these, for clients that send a request within a second */
	CONNECTIONS_ENDING = 4, /* beside them: they have been ended, and are still there */
	CONNECTIONS_ALL = CONNECTIONS_MOST + CONNECTIONS_ENDING,
};

struct connection {
	const void *of; /* NULL: free */
	int fd;
	uint64_t since_ns; /* it began; of one that waits for a profile, the last look */
	uint64_t asked_ns; /* its request was whole; 0: it is not yet */
	bool waits;	   /* for a profile, which takes as long as it says */
	bool has_ended;	   /* by us: the library finds that out */
};

struct connections {
	struct connection all[CONNECTIONS_ALL];
};

/* A new one, for which another one may have to go. */
void connections_add(struct connections *c, const void *of, int fd, uint64_t now_ns);
void connections_remove(struct connections *c, const void *of);
/* Its request is whole. */
void connections_asked(struct connections *c, const void *of, uint64_t now_ns);
void connections_wait(struct connections *c, const void *of, bool waits);
/* Has the client gone? One that says it will send no more counts as gone. */
bool connections_has_left(struct connections *c, const void *of);
/* About once a second: ends those that go on for too long, and slow ones beyond their share. */
void connections_tick(struct connections *c, uint64_t now_ns);

#endif
