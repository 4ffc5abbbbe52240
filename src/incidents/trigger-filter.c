// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits that a trigger's filter selects. Evaluating a filter needs names, so its result for a
 * place (lock, call chain, task, CPU, owner, as far as its terms use them) is cached. The table has
 * one entry for each slot, and the later place replaces the earlier. The cache is cleared every
 * quarter of a second, and when the model reuses numbers.
 */
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/wait.h"
#include "trigger-int.h"

#include <errno.h>
#include <string.h>

int filter_cache_init(struct filter_cache *m, const struct engine *e, const char *filter,
		      struct error *err)
{
	*m = (struct filter_cache){0};
	if (!filter)
		return 0;
	m->kept = mem_calloc(MEANT_KEPT, sizeof(*m->kept));
	if (!m->kept)
		return error_enomem(err, "a trigger");
	int r = event_filter_new(&m->gate, e, NULL, filter, err);
	m->asks = r == 0 ? event_filter_asks(m->gate) : 0;
	return r;
}

void filter_cache_deinit(struct filter_cache *m)
{
	event_filter_free(m->gate);
	mem_free(m->kept);
	*m = (struct filter_cache){0};
}

/* Members that no term uses are 0. */
static struct filter_cache_place place_of(unsigned asks, const struct wait *w)
{
	return (struct filter_cache_place){
		.lock = asks & QUERY_GATE_LOCK ? w->lock : 0,
		.stack = asks & QUERY_GATE_CHAIN ? w->stack : 0,
		.task = asks & QUERY_GATE_TASK ? w->task : 0,
		.owner = asks & QUERY_GATE_OWNER ? w->owner : 0,
		.cpu = asks & QUERY_GATE_CPU ? w->cpu : 0,
	};
}

static size_t place_slot(const struct filter_cache_place *p)
{
	uint64_t h = hash_u64((uint64_t)p->lock << 32 | p->stack);

	h = hash_add(h, (uint64_t)p->task << 32 | p->owner);
	return hash_add(h, p->cpu) % MEANT_KEPT;
}

static bool is_same(const struct filter_cache_place *a, const struct filter_cache_place *b)
{
	return a->lock == b->lock && a->stack == b->stack && a->task == b->task &&
	       a->owner == b->owner && a->cpu == b->cpu;
}

bool filter_cache_has(struct filter_cache *m, const struct model *model, const struct wait *w)
{
	uint64_t epoch = model->now_ns / MEANT_NS + 1;

	if (!m->gate)
		return true;
	if (m->generation != model->generation) {
		memset(m->kept, 0, MEANT_KEPT * sizeof(*m->kept));
		m->generation = model->generation;
	}
	const struct filter_cache_place place = place_of(m->asks, w);
	struct filter_cache_kept *k = &m->kept[place_slot(&place)];
	if (k->epoch != epoch || !is_same(&k->place, &place))
		*k = (struct filter_cache_kept){place, event_filter_passes(m->gate, w), epoch};
	return k->yes;
}
