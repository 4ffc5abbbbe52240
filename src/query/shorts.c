// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that have no record of their own because records would have cost too much: which ones, how
 * many they were, and since when.
 */
#include "kontend/shorts.h"
#include "internal.h"
#include "kontend/query-shorts.h"
#include "kontend/shortsnap.h"
#include "kontend/units.h"

#include <stdio.h>
#include <string.h>

const struct figure query_shorts_figures[] = {
	{FIGURE("level", TEXT, struct query_shorts, level)},
	{FIGURE("threshold_ns", NS, struct query_shorts, threshold_ns)},
	{FIGURE("most_threshold_ns", NS, struct query_shorts, most_ns)},
	{FIGURE("waits", COUNT, struct query_shorts, n)},
	{FIGURE("total_ns", NS, struct query_shorts, total_ns)},
	{FIGURE("counted_only", COUNT, struct query_shorts, counted)},
	{FIGURE("all_ns", NS, struct query_shorts, all_ns)},
	{FIGURE("summed_ns", NS, struct query_shorts, summed_ns)},
	{FIGURE("counted_ns", NS, struct query_shorts, counted_ns)},
	{FIGURE("estimated_ns", NS, struct query_shorts, estimated_ns)},
	{FIGURE("level_changes", COUNT, struct query_shorts, n_changes)},
	{FIGURE_IF("max_overhead_pct", PCT, struct query_shorts, max_pct, governed)},
	{FIGURE_IF("overhead_pct", PCT, struct query_shorts, now_pct, governed)},
	{FIGURE_IF("event_cost_ns", NS, struct query_shorts, event_ns, timed)},
	FIGURE_END,
};

enum { PPM_OF_PERCENT = 10000 };

struct query_shorts query_shorts(const struct query *q)
{
	const struct shorts_state *m = q->model->shorts;
	const struct shortsnap_head *h = &m->head;
	struct query_shorts s = {
		.known = m->known,
		.level = shortsnap_level_name(h->level),
		.threshold_ns = h->threshold_ns,
		.most_ns = h->most_ns,
		.all_ns = m->spent_ns[SHORTSNAP_ALL],
		.summed_ns = m->spent_ns[SHORTSNAP_THRESHOLD],
		.counted_ns = m->spent_ns[SHORTSNAP_COUNTS],
		.estimated_ns = m->estimated_ns,
		.n_changes = m->n_changes,
		.governed = h->target_ppm != 0,
		.max_pct = (double)h->target_ppm / PPM_OF_PERCENT,
		.now_pct = (double)h->cost_ppm / PPM_OF_PERCENT,
		.event_ns = h->event_ps / 1000,
		.timed = h->event_ps != 0,
	};

	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		s.n += m->types[i].n;
		s.total_ns += m->types[i].ns;
		s.counted += m->types[i].counted;
	}
	return s;
}

static size_t put_governor(const struct query_shorts *s, char *buf, size_t size)
{
	char max[UNITS_BUF], now[UNITS_BUF], all[UNITS_BUF], summed[UNITS_BUF], counts[UNITS_BUF];

	if (!s->governed)
		return 0;
	return (size_t)snprintf(buf, size,
				"at most %s%% of all CPUs: %s%% now, level %s; all waits for %s, "
				"over a threshold for %s, counts for %s; ",
				units_pct(max, s->max_pct), units_pct(now, s->now_pct), s->level,
				units_ns(all, s->all_ns), units_ns(summed, s->summed_ns),
				units_ns(counts, s->counted_ns));
}

const char *query_shorts_text(const struct query_shorts *s, char *buf, size_t size)
{
	char most[UNITS_BUF], n[UNITS_BUF], ns[UNITS_BUF], counted[UNITS_BUF];
	size_t len = put_governor(s, buf, size);

	if (len >= size)
		return buf;
	if (s->most_ns)
		len += (size_t)snprintf(
			buf + len, size - len,
			"waits shorter than %s are in sums by type and caller alone: %s of %s",
			units_ns(most, s->most_ns), units_count(n, s->n),
			units_ns(ns, s->total_ns));
	else
		len += (size_t)snprintf(buf + len, size - len, "every wait was recorded");
	if (s->estimated_ns && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", those of %s estimated",
					units_ns(ns, s->estimated_ns));
	if (s->counted && len < size)
		snprintf(buf + len, size - len, "; %s were only counted and are in no sum of time",
			 units_count(counted, s->counted));
	return buf;
}

const char *query_shorts_mark(const struct query_shorts *s, char *buf, size_t size)
{
	char ns[UNITS_BUF];

	*buf = 0;
	if (!s->known || !strcmp(s->level, shortsnap_level_name(SHORTSNAP_ALL)))
		return buf;
	if (!strcmp(s->level, shortsnap_level_name(SHORTSNAP_COUNTS)))
		snprintf(buf, size, "counts only");
	else
		snprintf(buf, size, "<%s summed", units_ns(ns, s->threshold_ns));
	return buf;
}
