// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots wait as events do: one may precede older events in the stream, so it is applied when
 * all up to its time has been applied. Their records are not given back until then, so the place of
 * a tick lies before them, and on the way back to it they are held again. They are few; a list by
 * time, bounded in number and bytes, since times come from a file and may never be reached.
 */
#include "engine-int.h"
#include "kontend/mem.h"
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

/* Gives back the first one; a failure to apply it is counted by the model. */
static void let_go(struct engine *e, bool act)
{
	struct engine_held *h = &e->held;
	struct record r = h->records[0];

	take_out(h, 0);
	if (act)
		model_snapshot(&e->model, r.data, r.len);
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
	e->held = (struct engine_held){.next_ns = UINT64_MAX};
}

/* The one that acts last gives way. */
static void bound(struct engine *e)
{
	struct engine_held *h = &e->held;

	while (h->n > MOST_HELD || (h->n > 1 && h->bytes > MOST_BYTES)) {
		struct record last = h->records[h->n - 1];

		take_out(h, h->n - 1);
		engine_release(e, &last);
		if (!e->rewinding)
			e->model.damage.snapshot_lost++;
	}
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
