/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_HOLDER_H
#define KONTEND_TESTS_HOLDER_H

#include "kontend/perfsnap.h"
#include "workloads/bp-holder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* bp-holder running beside a test, and the events that it reported. */
struct holder {
	pid_t pid;
	FILE *to, *from;
	struct bp_made made[64];
	size_t n;
};

/*
 * @kinds ends with NULL. 0 when everything was made, which is tried for ten seconds, as others may
 * have slots meanwhile; otherwise the program has printed the reason.
 */
int holder_start(struct holder *h, const char *path, const char *const *kinds);
/* Sends "WHAT N" and waits for the answer "ANSWER N": the number after it, 0: none, -1: it died. */
int64_t holder_since(struct holder *h, const char *what, const char *answer, int n);
void holder_stop(struct holder *h);

/* The other one of an event and its copy that a child or thread inherited; NULL: there is none. */
const struct bp_made *holder_partner(const struct holder *h, const struct bp_made *m);
/* Is @e the event @m: by its number, by that of the event it was copied from, or by its address? */
bool holder_is(const struct holder *h, const struct bp_made *m, const struct snap_event *e);
/* Is it any of those? */
bool holder_made(const struct holder *h, const struct snap_event *e);

#endif
