/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTHETIC_MACHINE_H
#define KONTEND_TESTS_SYNTHETIC_MACHINE_H

#include "synth.h"

/* Which machine of a fleet a synthetic recording is of; number 0: of none. */
struct synthetic_machine {
	uint32_t number, day, kernel;
	uint32_t chains;	/* functions that wait, which have names then */
	uint32_t incident_lock; /* + 1; 0: no trigger has caught anything */
	uint32_t ahead_s;	/* by that the clock of its wall is ahead */
	bool nameless;		/* it has its host name, and neither machine nor boot id */
	bool foreign;		/* it has a snapshot of a later version */
	uint64_t from_ns;	/* session clock: when measuring begins */
};

/* Where the functions of chains are, 16 bytes each, and the one that calls them all. */
enum { SYNTHETIC_FUNCTION = 16 };
#define SYNTHETIC_CHAINS 0xffffffff81800000ull
#define SYNTHETIC_OUTER 0xffffffff81100000ull

/* Records that precede the events. */
void synthetic_machine_put(struct synth *s, const struct synthetic_machine *m);
/* Members of the truth, with a comma after each. */
void synthetic_machine_print(const struct synthetic_machine *m);

#endif
