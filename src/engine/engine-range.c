// SPDX-License-Identifier: GPL-2.0-only
/*
 * A range of a stream in one pass. Its ends need not be ticks: a tick is made at each, so that the
 * bucket there is the range's own, and the sums are forgotten at the first. Where an end is a tick
 * of the stream nothing is added, and all is as a timeline has it that was sent to the same ticks
 * (timeline_range()). The end of a range is noticed by the first event or time behind it.
 */
#include "engine-range.h"

static int find(struct engine *e, uint64_t time, struct error *err)
{
	struct engine_range *r = e->range;
	uint64_t begin = e->model.start_ns ? e->model.start_ns : time;

	/* The names that stand before the stream have no time. */
	if (r->state != ENGINE_RANGE_UNKNOWN || !begin)
		return 0;
	int failed = r->find(r, begin, err);
	if (!failed)
		r->state = r->from_ns <= begin ? ENGINE_RANGE_WITHIN : ENGINE_RANGE_BEFORE;
	return failed;
}

static void close_bucket(struct model *m, uint64_t time)
{
	if (m->bucket_ns < time)
		model_tick(m, time);
}

static void enter(struct engine *e)
{
	struct model *m = &e->model;

	close_bucket(m, e->range->from_ns);
	m->damage.late = e->merged.n_late;
	m->damage.bad = e->merged.n_bad;
	model_range(m);
	e->range->state = ENGINE_RANGE_WITHIN;
}

static void leave(struct engine *e)
{
	close_bucket(&e->model, e->range->to_ns);
	e->range->state = ENGINE_RANGE_BEHIND;
}

int engine_range_pass(struct engine *e, uint64_t time, struct error *err)
{
	struct engine_range *r = e->range;
	int failed = find(e, time, err);

	if (failed)
		return failed;
	if (r->state == ENGINE_RANGE_BEFORE && time > r->from_ns)
		enter(e);
	if (r->state == ENGINE_RANGE_WITHIN && time > r->to_ns)
		leave(e);
	return 0;
}

void engine_range_tick(struct engine *e, uint64_t time)
{
	const struct engine_range *r = e->range;

	if (r->state == ENGINE_RANGE_BEFORE && time == r->from_ns)
		enter(e);
	else if (r->state == ENGINE_RANGE_WITHIN && time == r->to_ns)
		leave(e);
}
