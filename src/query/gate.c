// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter of waits on their way. Names may become known, and tasks be renamed, while it is asked:
 * so what a term says is kept of call chains alone, and only until their numbers are given anew.
 */
#include "kontend/mem.h"
#include "kontend/query-gate.h"
#include "only.h"

#include <errno.h>
#include <string.h>

struct query_gate {
	struct query q;
	struct only only;
	struct arena arena;
	char *filter;
	uint64_t generation;
	unsigned n; /* waits since names were last given back */
};

enum { GATE_FRAME = 4096 };

int query_gate_new(struct query_gate **ret, const struct engine *e, const char *filter,
		   struct error *err)
{
	struct query_gate *g = mem_calloc(1, sizeof(*g));
	int r = g ? query_init(&g->q, e) : -ENOMEM;

	if (r == 0) {
		g->filter = mem_dup(filter, strlen(filter) + 1, 1);
		r = g->filter ? only_init(&g->only, &g->q, &g->arena, filter, err) : -ENOMEM;
		g->only.streams = true;
	}
	if (r == 0) {
		*ret = g;
		return 0;
	}
	query_gate_free(g);
	return r == -ENOMEM ? query_enomem(err, "filter") : r;
}

void query_gate_free(struct query_gate *g)
{
	if (!g)
		return;
	only_deinit(&g->only);
	arena_deinit(&g->arena);
	mem_free(g->filter);
	if (g->q.cache)
		query_deinit(&g->q);
	mem_free(g);
}

/* Numbers of chains are given anew, or there is much that was only needed for the moment. */
static void gate_renew(struct query_gate *g)
{
	query_begin(&g->q);
	g->n = 0;
	if (g->generation == g->q.model->generation)
		return;
	g->generation = g->q.model->generation;
	only_deinit(&g->only);
	arena_reset(&g->arena);
	if (only_init(&g->only, &g->q, &g->arena, g->filter, NULL) < 0)
		g->only.f = (struct filter){0};
	g->only.streams = true;
}

unsigned query_gate_asks(const struct query_gate *g)
{
	return only_asks(&g->only);
}

bool query_gate_passes(struct query_gate *g, const struct wait *w)
{
	const struct query_where where = query_wait_where(w);

	if (g->n++ == GATE_FRAME || g->generation != g->q.model->generation)
		gate_renew(g);
	if (query_sync(&g->q) < 0 || !only_knows(g->q.model, &where))
		return false;
	return only_has_wait(&g->only, &where);
}
