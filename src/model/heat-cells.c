// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells of a part of the waits, summed up from the log of waits by time and length. They have the
 * keys of the cells that they are of, so whatever sums up cells can sum up these.
 */
#include "kontend/heat-cells.h"
#include "cell-int.h"
#include "kontend/cell-batch.h"
#include "kontend/hist.h"
#include "kontend/mem.h"
#include <errno.h>

static int add(struct cell_parts *s, const struct heat_entry *e)
{
	if (e->cell >= s->from->n || (s->keep && !s->keep[e->cell]))
		return 0;
	struct cell *c = cell_parts_find(s, e->cell);
	if (!c)
		return -ENOMEM;
	/* Which parts of these waits were spinning, or lost, is kept of all alone. */
	c->unsplit = c->unlost = 1;
	c->cur_wait_ns += e->ns;
	return cell_batch_add(s->to, c, e->n, e->ns, s->from->cells[e->cell].last_ns);
}

int heat_cells(const struct cell_table *t, const struct heat_part *p, const uint8_t *keep,
	       struct cell_table *ret)
{
	struct cell_parts s = {t, ret, keep, mem_calloc(t->n + 1, sizeof(*s.at))};
	const struct heat *h = &t->heat;
	int r = s.at ? 0 : -ENOMEM;

	cell_table_clear(ret);
	for (size_t i = 0; r == 0 && i < h->n_columns; i++) {
		if (!heat_cells_has_column(p, &h->columns[i]))
			continue;
		for (size_t k = h->columns[i].first; r == 0 && k < heat_end(h, i); k++)
			if (heat_cells_has_bucket(p, h->entries[k].bucket))
				r = add(&s, &h->entries[k]);
	}
	for (size_t i = 0; i < ret->n; i++)
		cell_close(ret, &ret->cells[i]);
	mem_free(s.at);
	return r;
}
