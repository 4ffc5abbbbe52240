// SPDX-License-Identifier: GPL-2.0-only
/*
 * A range of a stream, in one pass. Its ends need not be ticks of the stream: the engine makes a
 * tick at each end, so that the bucket there belongs to the range alone, and clears the sums at the
 * first one. If an end is a tick of the stream, nothing is added. A timeline shows ranges in the
 * same way (timeline_range()). The first event or time after an end makes the engine act on it. The
 * same holds for slices, each of which is a range that begins where the one before it ends.
 *
 * Waits that the kernel only sums up come as snapshots of sums. The first snapshot after the end of
 * the range says how much of them the range has, so the engine reads on to it.
 */
#include "engine-int.h"
#include "kontend/damage.h"
#include "kontend/shorts.h"
#include "kontend/snapshot.h"

static int find_time(struct engine *e, uint64_t time, struct error *err)
{
	struct engine_range *r = e->range;
	uint64_t begin = e->model->start_ns ? e->model->start_ns : time;

	/* Records of names before the stream have no time. */
	if (r->state != ENGINE_RANGE_UNKNOWN || !begin)
		return 0;
	int failed = r->find(r, begin, err);
	if (failed)
		return failed;
	r->state = r->from_ns <= begin ? ENGINE_RANGE_WITHIN : ENGINE_RANGE_BEFORE;
	if (r->state == ENGINE_RANGE_WITHIN)
		shorts_range(e->model, r->from_ns, r->to_ns);
	return 0;
}

static void close_bucket(struct model *m, uint64_t time)
{
	if (m->bucket_ns < time)
		model_tick(m, time);
}

/* Clears the sums until @time. */
static void begin_at(struct engine *e, uint64_t time)
{
	close_bucket(e->model, time);
	e->model->damage->late = e->merged.n_late;
	e->model->damage->bad = engine_bad(e);
	model_range(e->model);
}

static void enter_range(struct engine *e)
{
	engine_snapshots_until(e, e->range->from_ns, true);
	begin_at(e, e->range->from_ns);
	shorts_range(e->model, e->range->from_ns, e->range->to_ns);
	e->range->state = ENGINE_RANGE_WITHIN;
}

void engine_range_set(struct engine *e, struct engine_range *r, uint64_t at_ns)
{
	e->range = r;
	r->state = r->from_ns ? ENGINE_RANGE_BEFORE : ENGINE_RANGE_WITHIN;
	if (r->state == ENGINE_RANGE_WITHIN)
		shorts_range(e->model, 0, r->to_ns);
	else if (r->from_ns == at_ns)
		enter_range(e);
}

static void complete_range(struct engine *e)
{
	close_bucket(e->model, e->range->to_ns);
	e->range->state = ENGINE_RANGE_DONE;
}

/*
 * True if the stream has sums of short waits, and those of the end of the range are not read yet.
 */
static bool lacks_shorts(const struct engine *e)
{
	const struct snapshot *s = snapshot_set_get(e->model->snapshots, SNAPSHOT_SHORT);

	return s && s->head.time_ns < e->range->to_ns;
}

void engine_range_rest(struct engine *e, const struct record *r)
{
	struct record_snapshot head;

	if (e->range->state != ENGINE_RANGE_ENDING || !snapshot_parse(r->data, r->len, &head) ||
	    head.kind != SNAPSHOT_SHORT || head.flags & RECORD_SNAPSHOT_LOST)
		return;
	(void)model_snapshot(e->model, r->data, r->len); /* the model counts a failure */
	if (!lacks_shorts(e))
		complete_range(e);
}

void engine_range_end(struct engine *e)
{
	if (e->range && e->range->state == ENGINE_RANGE_ENDING)
		complete_range(e);
}

/* The range may be complete now: the snapshot may have come before the events of its time. */
static void leave_range(struct engine *e)
{
	e->range->state = ENGINE_RANGE_ENDING;
	engine_snapshots_until(e, e->range->to_ns, true);
	for (size_t i = 0; i < e->held.n; i++)
		engine_range_rest(e, &e->held.records[i]);
	if (!lacks_shorts(e))
		engine_range_end(e);
}

/* The owner of the range handles a slice that ends with the range. */
static int pass_slices(struct engine *e, uint64_t time, struct error *err)
{
	const struct engine_range *r = e->range;
	struct engine_slices *s = e->slices;
	struct model *m = e->model;
	int failed = 0;

	if (r && r->state != ENGINE_RANGE_WITHIN)
		return 0;
	if (r && time > r->to_ns)
		time = r->to_ns;
	/* Records of names before the stream have no time. */
	if (!s->next_ns && (m->start_ns || time))
		s->next_ns = s->first(s, m->zero_ns ? m->zero_ns : time);
	while (!failed && s->next_ns && time > s->next_ns) {
		uint64_t end = s->next_ns;

		engine_snapshots_until(e, end, true);
		engine_sums_at(e, end);
		close_bucket(m, end);
		failed = s->close(s, time, err);
		begin_at(e, end);
		shorts_range(m, m->shorts->from_ns, m->shorts->to_ns);
	}
	return failed;
}

int engine_range_pass(struct engine *e, uint64_t time, struct error *err)
{
	struct engine_range *r = e->range;
	int failed = r ? find_time(e, time, err) : 0;

	if (failed)
		return failed;
	if (r && r->state == ENGINE_RANGE_BEFORE && time > r->from_ns)
		enter_range(e);
	if (e->slices)
		failed = pass_slices(e, time, err);
	if (r && r->state == ENGINE_RANGE_WITHIN && time > r->to_ns)
		leave_range(e);
	return failed;
}

bool engine_range_ends(struct engine *e, uint64_t time)
{
	const struct engine_range *r = e->range;

	if (!r || r->state != ENGINE_RANGE_WITHIN || time != r->to_ns)
		return false;
	leave_range(e);
	return true;
}

void engine_range_tick(struct engine *e, uint64_t time)
{
	const struct engine_range *r = e->range;

	if (r->state == ENGINE_RANGE_BEFORE && time == r->from_ns)
		enter_range(e);
}
