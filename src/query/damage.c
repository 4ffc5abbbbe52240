// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters that say how far to trust everything else, as data: the header line, its help, text,
 * CSV, JSON and metrics all go through this one list.
 */
#include "internal.h"
#include "kontend/loss.h"
#include "kontend/model.h"
#include "kontend/query-damage.h"
#include "kontend/units.h"

const struct figure query_damage_figures[] = {
	[DAMAGE_LOST] =
		{FIGURE("lost", COUNT, struct model_damage, lost), .title = "lost",
		 .help = "records that the kernel dropped since its buffers were full: the "
			 "figures are lower bounds. Fewer targets (-p, -C, -G) help, and larger "
			 "buffers (-m)"},
	{FIGURE("dropped", COUNT, struct model_damage, dropped), .title = "dropped",
	 .help = "records that kontend dropped since it could not keep up"},
	{FIGURE("throttled", COUNT, struct model_damage, throttled), .title = "throttled",
	 .words = "throttled",
	 .help = "how often the kernel held events back since there were too many"},
	[DAMAGE_UNMATCHED] = {FIGURE("unmatched", COUNT, struct model_damage, unmatched),
			      .title = "unmatched",
			      .help = "share of waits of which only the begin or the end was seen: "
				      "they are counted here and not in the figures"},
	{FIGURE("unmatched_begin", COUNT, struct model_damage, unmatched_begin),
	 .flags = FIGURE_JSON},
	[DAMAGE_UNMATCHED_END] = {FIGURE("unmatched_end", COUNT, struct model_damage,
					 unmatched_end),
				  .flags = FIGURE_JSON},
	{FIGURE("doubtful", COUNT, struct model_damage, doubtful), .title = "doubtful",
	 .words = "doubtful",
	 .help = "waits during which records were lost: their end may be that of another wait, so "
		 "they are left out; ~ before a duration marks one that still lasts"},
	{FIGURE("late", COUNT, struct model_damage, late), .title = "late", .words = "late",
	 .help = "records out of order"},
	{FIGURE("bad", COUNT, struct model_damage, bad), .title = "bad", .words = "not readable",
	 .help = "records that could not be read"},
	{FIGURE("folded", COUNT, struct model_damage, folded), .title = "folded",
	 .words = "folded into other",
	 .help = "waits of locks, tasks and stacks that became too many to keep apart: \"other\""},
	[DAMAGE_NO_STACK] = {FIGURE("no_stack", COUNT, struct model_damage, no_stack),
			     .title = "no stack", .words = "without call chain",
			     .help = "waits that came without a call chain"},
	[DAMAGE_DEEP] = {FIGURE("deep", COUNT, struct model_damage, deep), .title = "deep",
			 .words = "nested too deep",
			 .help = "waits within more waits of one task or CPU than kontend keeps"},
	[DAMAGE_SNAPSHOTS] =
		{FIGURE("snapshots_lost", COUNT, struct model_damage, snapshot_lost),
		 .title = "snapshots lost", .words = "snapshots lost",
		 .help = "looks at slots, events, locks or uprobes that did not arrive"},
	{FIGURE("snapshots_unknown", COUNT, struct model_damage, snapshot_unknown),
	 .title = "snapshots unknown", .words = "snapshots not understood",
	 .help = "those that another version of kontend took: this one cannot read them"},
	FIGURE_END,
};

const struct figure query_loss_figures[] = {
	{FIGURE("lost_pct", PCT, struct query_loss, lost_pct)},
	{FIGURE("at_least", BOOL, struct query_loss, at_least)},
	{FIGURE_IF("missing_most", COUNT, struct query_loss, missing_most, counted)},
	FIGURE_END,
};

static struct query_loss loss_of(const struct model *m, const struct loss *l, uint64_t waits)
{
	struct query_loss ret = {.at_least = loss_any(l),
				 .lost_pct = loss_pct(l),
				 .waits_lost_pct = loss_waits_pct(l)};

	/* In recordings without ends no wait has ended. */
	ret.no_locks = m->no_locks;
	ret.counted = loss_waits(l, &ret.missing_most) && !m->no_ends && !m->no_locks;
	waits += ret.missing_most;
	ret.missing_pct = units_percent(ret.missing_most, waits);
	return ret;
}

struct query_loss query_loss_of_sums(const struct model *m)
{
	const struct loss l = loss_of_sums(m), range = loss_of_range(m);
	struct query_loss ret = loss_of(m, &l, m->n_failed + query_waits_of(m));

	ret.lost_pct = loss_pct(&range);
	ret.waits_lost_pct = loss_waits_pct(&range);
	return ret;
}

struct query_loss query_loss_of_bucket(const struct model *m)
{
	return loss_of(m, &m->loss->closed, m->rate_n);
}
