// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots wait as events do: a snapshot may precede older events in the stream, so it is applied
 * when all events up to its time are applied. Its record is not given back until then, so the place
 * of a tick lies before it, and on the way back to that tick it is held again. The list is sorted
 * by time, and limited in number and bytes, since the times come from a file and may never be
 * reached.
 */
#include "engine-int.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include <errno.h>
#include <string.h>

enum { MOST_HELD = 256, MOST_BYTES = 32 << 20 };

static uint64_t time_of(const struct record *r)
{
	struct record_snapshot head;

	return snapshot_parse(r->data, r->len, &head) ? head.time_ns : 0;
}

static void take_out(struct engine_held *h, size_t i)
{
	h->bytes -= h->records[i].len;
	h->n--;
	memmove(h->records + i, h->records + i + 1, (h->n - i) * sizeof(*h->records));
}

static void set_next(struct engine_held *h)
{
	h->next_ns = h->n ? time_of(&h->records[0]) : UINT64_MAX;
}

/* Gives back the first snapshot. The model counts a failure to apply it. */
static void let_go(struct engine *e, bool act)
{
	struct engine_held *h = &e->held;
	struct record r = h->records[0];

	take_out(h, 0);
	if (act)
		model_snapshot(e->model, r.data, r.len);
	engine_release(e, &r);
}

void engine_snapshots_until(struct engine *e, uint64_t time_ns, bool act)
{
	struct engine_held *h = &e->held;

	while (h->n && time_of(&h->records[0]) <= time_ns)
		let_go(e, act);
	set_next(h);
}

void engine_snapshots_deinit(struct engine *e)
{
	while (e->held.n)
		let_go(e, false);
	mem_free(e->held.records);
	mem_free(e->sums.bytes);
	e->sums = (struct engine_sums){0};
	e->held = (struct engine_held){.next_ns = UINT64_MAX};
}

/* Drops the snapshots with the latest times if there are too many. */
static void bound(struct engine *e)
{
	struct engine_held *h = &e->held;

	while (h->n > MOST_HELD || (h->n > 1 && h->bytes > MOST_BYTES)) {
		struct record last = h->records[h->n - 1];

		take_out(h, h->n - 1);
		engine_release(e, &last);
		if (!e->rewinding)
			e->model->damage->snapshot_lost++;
	}
}

/*
 * The latest sums that were read, rather than estimated here. 0 or -ENOMEM. Without bytes: there
 * were none.
 */
static int read_last(struct engine *e, const struct engine_sums **ret)
{
	const struct snapshot *last = snapshot_set_get(e->model->snapshots, SNAPSHOT_SHORT);
	struct engine_sums *s = &e->sums;

	*ret = s;
	if (s->bytes && last && last->head.time_ns == s->estimated_ns)
		return 0;
	mem_free(s->bytes);
	*s = (struct engine_sums){0};
	if (!last)
		return 0;
	s->bytes = mem_dup(last->bytes, last->len, 1);
	s->len = s->bytes ? last->len : 0;
	s->time_ns = last->head.time_ns;
	return s->bytes ? 0 : -ENOMEM;
}

void engine_sums_at(struct engine *e, uint64_t time_ns)
{
	const struct engine_held *h = &e->held;
	const struct engine_sums *before;
	struct record at;
	uint64_t ns;
	size_t i = 0;

	while (i < h->n && !(snapshot_is_shorts(&h->records[i], &ns) && ns > time_ns))
		i++;
	if (i == h->n)
		return;
	int r = read_last(e, &before);
	if (r == 0 && before->bytes)
		r = snapshot_shorts_between(before->bytes, before->len, before->time_ns,
					    &h->records[i], time_ns, &at);
	if (r < 0)
		e->model->damage->snapshot_lost++;
	if (r != 1)
		return;
	model_snapshot(e->model, at.data, at.len); /* the model counts a failure */
	mem_free((void *)(uintptr_t)at.data);
	e->sums.estimated_ns = time_ns;
}

int engine_hold_snapshot(struct engine *e, const struct record *r)
{
	struct engine_held *h = &e->held;
	uint64_t time = time_of(r);
	size_t i = h->n;

	if (mem_grow(&h->records, &h->cap, h->n, sizeof(*h->records)))
		return -ENOMEM;
	while (i && time_of(&h->records[i - 1]) > time)
		i--;
	memmove(h->records + i + 1, h->records + i, (h->n - i) * sizeof(*h->records));
	h->records[i] = *r;
	h->n++;
	h->bytes += r->len;
	bound(e);
	set_next(h);
	return 0;
}
