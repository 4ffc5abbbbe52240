/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_CONNECTIONS_H
#define KONTEND_METRICS_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Connections of the server, and the choice of those that must end so that another client gets an
 * answer. The caller provides times and locking.
 */
enum {
	CONNECTIONS_MOST = 16,	/* at once */
	CONNECTIONS_FRESH = 2,	/* reserved for clients that send a request within a second */
	CONNECTIONS_ENDING = 4, /* in addition: ended, but still open */
	CONNECTIONS_ALL = CONNECTIONS_MOST + CONNECTIONS_ENDING,
};

struct connection {
	const void *of; /* NULL: free */
	int fd;
	uint64_t since_ns; /* start; of one that waits for a profile, the last check */
	uint64_t asked_ns; /* time of its complete request; 0: not complete */
	bool waits;	   /* for a profile, for the requested time */
	bool has_ended;	   /* shut down here: the library will notice */
};

struct connections {
	struct connection all[CONNECTIONS_ALL];
};

/* Adds a connection; another one may have to end. */
void connections_add(struct connections *c, const void *of, int fd, uint64_t now_ns);
void connections_remove(struct connections *c, const void *of);
/* Its request is complete. */
void connections_asked(struct connections *c, const void *of, uint64_t now_ns);
void connections_wait(struct connections *c, const void *of, bool waits);
/* True if the client has gone. A client that shuts down its sending side counts as gone. */
bool connections_has_left(struct connections *c, const void *of);
/* About once a second: ends connections over the time limit, and slow ones over their share. */
void connections_tick(struct connections *c, uint64_t now_ns);

#endif
