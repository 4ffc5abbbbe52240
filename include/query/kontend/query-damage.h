/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_DAMAGE_H
#define KONTEND_QUERY_DAMAGE_H

#include "kontend/damage.h"
#include "kontend/figure.h"

/*
 * The members of struct model_damage as figures, for every place that shows them; each has a help.
 * Indices of those that are shown in a way of their own: lost records always, unmatched ones as a
 * share, failed snapshots next to the number of all.
 */
enum query_damage {
	DAMAGE_LOST = 0,
	DAMAGE_UNMATCHED = 3,
	DAMAGE_UNMATCHED_END = 5,
	DAMAGE_NO_STACK = 10, /* of less weight from here on */
	DAMAGE_DEEP = 11,
	DAMAGE_SNAPSHOTS = 12,
};
extern const struct figure query_damage_figures[];

struct model;

/*
 * How far figures can be off: losses only take away from them. So there was as much as they say, or
 * more; by how much is bounded for numbers of waits, not for times.
 */
struct query_loss {
	bool at_least, counted; /* something is missing; and it is known how much at most */
	double lost_pct;	/* records, of all; as damage: not of the sums, but of the range */
	double waits_lost_pct;	/* the same without lost samples of profiles */
	bool no_locks;		/* there are no waits: samples may be missing, and no wait is */
	uint64_t missing_most;	/* waits that may have ended and are in no figure */
	double missing_pct;	/* of all that may have */
};

struct query_loss query_loss_of_sums(const struct model *m);
struct query_loss query_loss_of_bucket(const struct model *m); /* closed last: of rates */
extern const struct figure query_loss_figures[];

#endif
