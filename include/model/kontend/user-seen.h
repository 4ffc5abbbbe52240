/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USER_SEEN_H
#define KONTEND_USER_SEEN_H

#include "kontend/usersnap.h"

#include <stdbool.h>

/* How complete the sleeps in futex(2) are: what the programs that measure them have counted. */
struct user_counts {
	uint64_t sleeps, unproven, unproven_ns, unknown, foreign, dropped, missed, off_ns;
};

enum { USER_REASON = 256 };

struct user_seen {
	struct user_counts now; /* of the latest snapshot, since that measurement began */
	struct user_counts before;
	uint64_t from_ns, seen_ns; /* seen_ns: 0: there was no snapshot */
	uint32_t level;		   /* enum usersnap_level */
	char reason[USER_REASON];  /* why they are not measured; "": they are */
};

void user_seen_take(struct user_seen *u, const struct usersnap *s);
void user_seen_zero(struct user_seen *u);
/* Since the sums begin. False: they are not measured. */
bool user_seen_counts(const struct user_seen *u, struct user_counts *ret);

#endif
