/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_PROFILES_H
#define KONTEND_METRICS_PROFILES_H

#include "asked.h"
#include "kontend/pprof.h"

struct metrics_server;

/* Profiles in progress for clients, each since the tick after its request. */
struct metrics_profiles {
	const char *version; /* of the program; borrowed */
	struct metrics_profile {
		struct pprof *p; /* NULL: free */
		struct asked asked;
		uint64_t begin_ns; /* session clock */
	} of[ASKED_MOST];
};

/*
 * Call at a tick, before the model starts from zero: adds to profiles in progress, answers complete
 * ones, starts new ones.
 */
void metrics_profiles_tick(struct metrics_profiles *all, struct metrics_server *s, struct query *q);
void metrics_profiles_deinit(struct metrics_profiles *all);

#endif
