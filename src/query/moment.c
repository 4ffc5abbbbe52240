// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marked moments. A query reads one engine: of a moment it gets one that never runs, with a copy of
 * the model and what names are made of.
 */
#include "internal.h"
#include "kontend/mem.h"
#include "kontend/query-moment.h"

#include <errno.h>

int query_moment_init(struct query_moment *m, const struct engine *e)
{
	struct model *copy = mem_calloc(1, sizeof(*copy));

	*m = (struct query_moment){.engine = mem_calloc(1, sizeof(*m->engine))};
	if (!m->engine || !copy)
		goto failed;
	m->engine->model = copy;
	m->engine->groups = e->groups;
	m->engine->lines = e->lines;
	m->engine->keep_symbols = e->keep_symbols;
	if (model_copy(copy, e->model) == 0) {
		if (query_init(&m->query, m->engine) == 0) {
			m->query.sym = &e->sym;
			return 0;
		}
		model_deinit(copy);
	}
failed:
	mem_free(copy);
	mem_free(m->engine);
	*m = (struct query_moment){0};
	return -ENOMEM;
}

void query_moment_deinit(struct query_moment *m)
{
	if (!m->engine)
		return;
	query_deinit(&m->query);
	model_deinit(m->engine->model);
	mem_free(m->engine->model);
	mem_free(m->engine);
	*m = (struct query_moment){0};
}
