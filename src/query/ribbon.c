// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes that the first pass over a stream makes of each moment for the ribbon. Snapshots are
 * decoded once each, and the sums are those of the overview, so that a row of the ribbon and the
 * figure on the screen below agree.
 */
#include "internal.h"
#include "kontend/query-perf.h"
#include "kontend/query-ribbon.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"

#include <errno.h>

static void note_of(struct query_ribbon *r, enum timeline_figure f, uint64_t of)
{
	r->of[f] = of > r->of[f] ? of : r->of[f];
}

static int note_perf(struct query_ribbon *r, uint64_t *figures)
{
	struct query_perf_sum s;

	if (query_perf_sum(&r->query, &s))
		return -ENOMEM;
	if (s.slots_known) {
		figures[TIMELINE_SLOTS] = s.used;
		note_of(r, TIMELINE_SLOTS, s.slots);
	}
	figures[TIMELINE_SHORT] = s.starved;
	return 0;
}

static int note_rotation(struct query_ribbon *r, uint64_t *figures)
{
	struct query_rotation_sum s;

	if (query_rotation_sum(&r->query, false, &s))
		return -ENOMEM;
	figures[TIMELINE_ROTATION] = (uint64_t)s.ns_per_s;
	return 0;
}

static int note_uprobes(struct query_ribbon *r, uint64_t *figures)
{
	struct query_uprobe_sum s;

	if (query_uprobe_sum(&r->query, false, &s))
		return -ENOMEM;
	if (!s.known || s.worst_used < 0)
		return 0;
	figures[TIMELINE_XOL] = (uint64_t)s.worst_used;
	note_of(r, TIMELINE_XOL, (uint64_t)(s.worst_slots > 0 ? s.worst_slots : 0));
	return 0;
}

static int note_tick(struct timeline_watch *w, const struct engine *e, uint64_t *figures)
{
	struct query_ribbon *r = (struct query_ribbon *)w;
	int err = r->query.cache ? 0 : query_init(&r->query, e);

	if (err)
		return err;
	query_begin(&r->query);
	err = note_perf(r, figures);
	if (!err)
		err = note_rotation(r, figures);
	return err ? err : note_uprobes(r, figures);
}

void query_ribbon_init(struct query_ribbon *r)
{
	*r = (struct query_ribbon){.watch.note = note_tick};
}

void query_ribbon_deinit(struct query_ribbon *r)
{
	if (r->query.cache)
		query_deinit(&r->query);
}
