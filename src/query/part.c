// SPDX-License-Identifier: GPL-2.0-only
/*
 * A part of the waits, by when they ended and how long they were, as a user selects it in a heat
 * map: the cells that are left of the model. They are summed up again when the model has changed,
 * not in each frame.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/hash.h"
#include "kontend/heat-cells.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

struct stamp {
	struct heat_part part;
	uint64_t only, changes, generation, n_events, now_ns;
};

struct query_part {
	struct stamp of; /* all 0: not made yet */
	struct cell_table cells;
};

uint64_t query_part_hash(const struct heat_part *p)
{
	return heat_part_any(p) ? hash_bytes(HASH_START, p, sizeof(*p)) : 0;
}

static struct query_part *part_of(struct query *q, const struct cell_table *all)
{
	struct query_part *p = q->parts ? q->parts : mem_calloc(1, sizeof(*p));

	if (p && !p->cells.max && cell_table_init(&p->cells, all->max, all->hists.max_groups)) {
		mem_free(p);
		p = NULL;
	}
	return q->parts = p;
}

int query_part_cells(struct query *q, const uint8_t *kept, struct cell_table *ret)
{
	const struct model *m = q->engine->model;
	const struct stamp now = {q->part,	 q->only,     q->engine->changes,
				  m->generation, m->n_events, m->now_ns};
	struct query_part *p = part_of(q, m->cells);

	if (!p)
		return -ENOMEM;
	if (memcmp(&p->of, &now, sizeof(now)) != 0) {
		p->of = (struct stamp){0};
		if (heat_cells(m->cells, &q->part, kept, &p->cells) < 0)
			return -ENOMEM;
		p->of = now;
	}
	*ret = p->cells;
	return 0;
}

void query_part_deinit(struct query *q)
{
	if (q->parts)
		cell_table_deinit(&q->parts->cells);
	mem_free(q->parts);
	q->parts = NULL;
}
