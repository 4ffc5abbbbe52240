// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which waits a trigger means. To ask a filter costs names; so what it says of one place (lock,
 * call chain, task, CPU, owner) is kept, in a table where a place has one entry and the later one
 * stays. It is forgotten after a quarter of a second, and when numbers are given anew.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

int meant_init(struct meant *m, const struct engine *e, const char *filter, struct error *err)
{
	*m = (struct meant){0};
	if (!filter)
		return 0;
	m->kept = mem_calloc(MEANT_KEPT, sizeof(*m->kept));
	if (!m->kept)
		return error_set(err, -ENOMEM, "No memory for a trigger");
	return query_gate_new(&m->gate, e, filter, err);
}

void meant_deinit(struct meant *m)
{
	query_gate_free(m->gate);
	mem_free(m->kept);
	*m = (struct meant){0};
}

static size_t place_of(const struct wait *w)
{
	uint64_t h = ((uint64_t)w->lock << 32 | w->stack) * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)w->task << 32 | w->owner) * 0xc2b2ae3d27d4eb4full;
	h ^= (uint64_t)w->cpu * 0x165667b19e3779f9ull;
	return (h ^ h >> 32) % MEANT_KEPT;
}

static bool is_kept(const struct meant_kept *k, const struct wait *w, uint64_t epoch)
{
	return k->epoch == epoch && k->lock == w->lock && k->stack == w->stack &&
	       k->task == w->task && k->owner == w->owner && k->cpu == w->cpu;
}

bool meant_has(struct meant *m, const struct model *model, const struct wait *w)
{
	uint64_t epoch = model->now_ns / MEANT_NS + 1;

	if (!m->gate)
		return true;
	if (m->generation != model->generation) {
		memset(m->kept, 0, MEANT_KEPT * sizeof(*m->kept));
		m->generation = model->generation;
	}
	struct meant_kept *k = &m->kept[place_of(w)];
	if (!is_kept(k, w, epoch))
		*k = (struct meant_kept){w->lock,  w->stack, w->task,
					 w->owner, w->cpu,   query_gate_passes(m->gate, w),
					 epoch};
	return k->yes;
}
