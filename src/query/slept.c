// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps in state D, as the model has them: of all the time, or of a window. A window
 * begins with the snapshot of sleeps that is the first within it, so its sums are exact for the
 * time that they are said to be of.
 */
#include "slept.h"
#include "kontend/model.h"

#include <errno.h>

static int take_all(struct query *q, struct query_slept *ret)
{
	const struct sleeps *s = ret->of;

	ret->rows = arena_alloc(&q->arena, (s->n_cells + 1) * sizeof(*ret->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_cells; i++) {
		const struct sleeps_cell *c = &s->cells[i];
		if (c->sleeps)
			ret->rows[ret->n++] =
				(struct query_slept_row){i, c->sleeps, c->total_ns, c->max_ns};
	}
	ret->span_ns = s->covered_ns;
	return 0;
}

static void add_part(struct query_slept_row *of_cells, const struct sleeps_part *p)
{
	struct query_slept_row *r = &of_cells[p->cell];

	r->cell = p->cell;
	r->sleeps += p->sleeps;
	r->total_ns += p->total_ns;
	r->max_ns = p->max_ns > r->max_ns ? p->max_ns : r->max_ns;
}

/* @begin_ns: of the window. */
static int take_window(struct query *q, uint64_t begin_ns, struct query_slept *ret)
{
	const struct sleeps *s = ret->of;
	struct query_slept_row *rows =
		arena_alloc(&q->arena, (s->n_cells + 1) * sizeof(*ret->rows));
	uint64_t from_ns = begin_ns;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sleeps_part *p = &s->parts[i];
		if (p->end_ns <= begin_ns)
			continue;
		add_part(rows, p);
		from_ns = p->begin_ns < from_ns ? p->begin_ns : from_ns;
	}
	ret->rows = rows;
	for (uint32_t i = 0; i < s->n_cells; i++)
		if (rows[i].sleeps)
			rows[ret->n++] = rows[i];
	ret->span_ns = s->seen_ns > from_ns ? s->seen_ns - from_ns : 0;
	ret->span_ns = ret->span_ns < s->covered_ns ? ret->span_ns : s->covered_ns;
	ret->is_short = s->dropped_ns > begin_ns;
	return 0;
}

int query_slept(struct query *q, struct query_slept *ret)
{
	const struct sleeps *s = q->engine->model->sleeps;

	*ret = (struct query_slept){
		.known = s->seen_ns && !*s->reason, .reason = s->reason, .of = s};
	if (!ret->known)
		return 0;
	ret->dropped = s->dropped - s->dropped_before;
	ret->missed = s->missed - s->missed_before;
	ret->off_ns = s->off_ns - s->off_before_ns;
	return query_has_window(q) ? take_window(q, query_window_begin(q), ret) : take_all(q, ret);
}
