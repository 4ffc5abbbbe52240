// SPDX-License-Identifier: GPL-2.0-only
/*
 * libzstd for data that is kept in memory: whole frames, through contexts that are set up once, as
 * that costs as much as packing a small piece. Level 1: no user waits for it, but the thread that
 * also draws pays for all of it.
 *
 * Then packed copies of a model. Nearly all of a large model are its cells and their histograms,
 * counters that are mostly small; so those arrays are packed, straight from the model, and the rest
 * is a plain copy, made by model_copy() of the same model with an empty table of cells. Several of
 * these fit where one copy would.
 */
#include "kontend/engine-pack.h"
#include "kontend/cell.h"
#include "kontend/hist.h"
#include "kontend/mem.h"
#include "kontend/recent.h"
#include "timeline-int.h"
#include <errno.h>
#include <zstd.h>

enum { LEVEL = 1 };

int engine_pack_init(struct engine_pack *p)
{
	*p = (struct engine_pack){ZSTD_createCCtx(), ZSTD_createDCtx()};
	if (p->pack && p->unpack)
		return 0;
	engine_pack_deinit(p);
	return -ENOMEM;
}

void engine_pack_deinit(struct engine_pack *p)
{
	ZSTD_freeCCtx(p->pack);
	ZSTD_freeDCtx(p->unpack);
	*p = (struct engine_pack){0};
}

size_t engine_pack_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

size_t engine_pack(struct engine_pack *p, const void *data, size_t len, void *buf, size_t room)
{
	size_t n = ZSTD_compressCCtx(p->pack, buf, room, data, len, LEVEL);

	return ZSTD_isError(n) ? 0 : n;
}

int engine_pack_restore(struct engine_pack *p, const void *data, size_t stored, void *buf,
			size_t len)
{
	return ZSTD_decompressDCtx(p->unpack, buf, len, data, stored) == len ? 0 : -EBADMSG;
}

enum { CELLS, MORE, GROUPS, RECENT, HEAT, ARRAYS };

static void sizes_of(const struct cell_table *t, size_t ret[ARRAYS])
{
	ret[CELLS] = t->n * sizeof(*t->cells);
	ret[MORE] = t->n_more * sizeof(*t->more);
	ret[GROUPS] = t->hists.n_groups * sizeof(*t->hists.groups);
	ret[RECENT] = t->recent.n * sizeof(*t->recent.words);
	ret[HEAT] = t->heat.n * sizeof(*t->heat.entries);
}

static int pack_array(struct engine_packed_array *ret, struct engine_pack *p, const void *data,
		      size_t len)
{
	size_t room = engine_pack_bound(len);
	void *buf = mem_calloc(room, 1);
	size_t n = buf ? engine_pack(p, data, len, buf, room) : 0;

	ret->data = n ? mem_dup(buf, n, 1) : NULL;
	ret->stored = n;
	mem_free(buf);
	return ret->data ? 0 : -ENOMEM;
}

/* Copies all but the cells. */
static int copy_rest(struct model *dst, const struct model *m)
{
	struct cell cell = {0};
	struct cell_stats more = {0};
	uint32_t slot = 0;
	uint64_t touched = 0;
	uint32_t group[1][HIST_GROUP] = {0};
	struct cell_table cells = *m->cells;
	struct model rest = *m;

	cells.cells = &cell;
	cells.n = 0;
	cells.cap = 1;
	cells.more = &more;
	cells.n_more = cells.cap_more = 1;
	cells.slots = &slot;
	cells.touched = &touched;
	cells.mask = 0;
	cells.hists.groups = group;
	cells.hists.n_groups = 1;
	cells.recent.n = 0;
	cells.heat.n = 0;
	rest.cells = &cells;
	return model_copy(dst, &rest);
}

int engine_packed_make(struct engine_packed *ret, const struct model *m, struct engine_pack *p)
{
	const struct cell_table *t = m->cells;
	const void *data[ARRAYS] = {t->cells, t->more, t->hists.groups, t->recent.words,
				    t->heat.entries};
	size_t sizes[ARRAYS];
	int r;

	*ret = (struct engine_packed){.cells = *t};
	r = copy_rest(&ret->model, m);
	if (r)
		return r;
	ret->bytes = model_bytes(&ret->model);
	sizes_of(t, sizes);
	for (unsigned i = 0; i < ARRAYS && !r; i++) {
		r = pack_array(&ret->arrays[i], p, data[i], sizes[i]);
		ret->bytes += ret->arrays[i].stored;
	}
	if (r)
		engine_packed_deinit(ret);
	return r;
}

/* Unpacks the arrays into @t, which is otherwise a copy already. */
static int unpack_cells(struct cell_table *t, const struct engine_packed *from,
			struct engine_pack *p)
{
	struct recent recent = t->recent;
	struct heat heat = t->heat;
	size_t sizes[ARRAYS];
	int r = 0;

	t->recent = (struct recent){0};
	t->heat = (struct heat){0};
	cell_table_deinit(t);
	*t = from->cells;
	t->recent = recent;
	t->recent.n = from->cells.recent.n;
	t->recent.cap = t->recent.n + 1;
	t->recent.words = mem_calloc(t->recent.cap, sizeof(*t->recent.words));
	t->heat = heat;
	t->heat.n = t->heat.base = from->cells.heat.n;
	t->heat.cap = t->heat.n + 1;
	t->heat.entries = mem_calloc(t->heat.cap, sizeof(*t->heat.entries));
	t->hists.cap_groups = t->hists.n_groups;
	t->cap_more = t->n_more;
	t->more = mem_calloc(t->n_more, sizeof(*t->more));
	t->cells = mem_calloc(t->cap, sizeof(*t->cells));
	t->slots = mem_calloc(t->mask + 1, sizeof(*t->slots));
	t->touched = mem_calloc(cell_words(t), sizeof(*t->touched));
	t->hists.groups = mem_calloc(t->hists.n_groups, sizeof(*t->hists.groups));
	if (!t->cells || !t->more || !t->slots || !t->touched || !t->hists.groups ||
	    !t->recent.words || !t->heat.entries)
		return -ENOMEM;
	sizes_of(t, sizes);
	void *data[ARRAYS] = {t->cells, t->more, t->hists.groups, t->recent.words, t->heat.entries};
	for (unsigned i = 0; i < ARRAYS && !r; i++)
		r = engine_pack_restore(p, from->arrays[i].data, from->arrays[i].stored, data[i],
					sizes[i]);
	if (r)
		return r;
	cell_touch_all(t);
	cell_index(t);
	return 0;
}

int engine_packed_copy(struct model *dst, const struct engine_packed *from, struct engine_pack *p)
{
	int r = model_copy(dst, &from->model);

	if (r)
		return r;
	r = unpack_cells(dst->cells, from, p);
	if (r)
		model_deinit(dst);
	return r;
}

void engine_packed_deinit(struct engine_packed *m)
{
	model_deinit(&m->model);
	for (unsigned i = 0; i < ARRAYS; i++)
		mem_free(m->arrays[i].data);
	*m = (struct engine_packed){0};
}
