// SPDX-License-Identifier: GPL-2.0-only
/*
 * libzstd for data that is kept in memory: whole frames, through contexts that are set up once, as
 * that costs as much as packing a small piece. Level 1: no user waits for it, but the thread that
 * also draws pays for all of it.
 *
 * Then packed copies of a model. Most of a large model are its cells and their histograms, counters
 * that are mostly small; so those arrays are packed, straight from the model. The rest is a copy,
 * made by model_copy() of the same model with an empty table of cells, whose large arrays are
 * packed one after the other: samples, call chains, tasks, holders. It is whole only while it is
 * copied. Several of these fit where one copy would.
 */
#include "kontend/engine-pack.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/hist.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/recent.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "timeline-int.h"
#include <errno.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 1, REST_LEAST = 4096 /* bytes: smaller arrays stay as they are */ };
enum { NESTED_MOST = 2 /* arrays of an element */ };

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

/* An array of the rest: @pointer is the member that points to it. */
struct place {
	void *pointer;
	size_t bytes;
};

static struct place of_map(struct map64 *m)
{
	return (struct place){&m->slots, m->slots ? (m->mask + 1) * sizeof(*m->slots) : 0};
}

static void of_stacks(struct stack_table *t, struct place ret[3])
{
	ret[0] = (struct place){&t->stacks, t->n * sizeof(*t->stacks)};
	ret[1] = (struct place){&t->frames, t->cap_frames * sizeof(*t->frames)};
	ret[2] = (struct place){&t->slots, (t->mask + 1) * sizeof(*t->slots)};
}

static void of_cells(struct cell_table *t, struct place ret[6])
{
	ret[0] = (struct place){&t->cells, t->cap * sizeof(*t->cells)};
	ret[1] = (struct place){&t->more, t->n_more * sizeof(*t->more)};
	ret[2] = (struct place){&t->slots, (t->mask + 1) * sizeof(*t->slots)};
	ret[3] = (struct place){&t->touched, cell_words(t) * sizeof(*t->touched)};
	ret[4] = (struct place){&t->hists.groups, t->hists.n_groups * sizeof(*t->hists.groups)};
	ret[5] = (struct place){&t->recent.words, t->recent.n * sizeof(*t->recent.words)};
}

static void of_blame(struct blame *b, struct place ret[7])
{
	ret[0] = (struct place){&b->cells, b->n * sizeof(*b->cells)};
	ret[1] = of_map(&b->index);
	ret[2] = (struct place){&b->recent.words, b->recent.n * sizeof(*b->recent.words)};
	ret[3] = (struct place){&b->nodes, b->n_nodes * sizeof(*b->nodes)};
	ret[4] = (struct place){&b->classes, b->n_classes * sizeof(*b->classes)};
	ret[5] = (struct place){&b->holds, b->n_holds * sizeof(*b->holds)};
	ret[6] = (struct place){&b->done, b->n_done * sizeof(*b->done)};
}

/* In a copy, which has no room beyond what is used. */
static void of_rest(const struct model *m, struct place ret[ENGINE_PACKED_REST])
{
	struct profile *p = m->profile;
	struct task_table *t = m->tasks;
	struct holds *h = m->holds;

	ret[0] = (struct place){&p->cells, p->n * sizeof(*p->cells)};
	ret[1] = of_map(&p->index);
	ret[2] = (struct place){&p->recent.words, p->recent.n * sizeof(*p->recent.words)};
	of_stacks(&p->stacks, ret + 3);
	of_stacks(m->stacks, ret + 6);
	ret[9] = (struct place){&t->tasks, t->n * sizeof(*t->tasks)};
	ret[10] = of_map(&t->by_tid);
	ret[11] = of_map(&t->exited);
	ret[12] = (struct place){&h->v, h->n * sizeof(*h->v)};
	ret[13] = (struct place){&h->done, h->n_done * sizeof(*h->done)};
	of_cells(m->held, ret + 14);
	of_cells(m->handed, ret + 20);
	of_blame(m->blame, ret + 26);
	ret[33] =
		(struct place){&m->queues->parts,
			       m->queues->parts ? LOCKQUEUE_PARTS * sizeof(*m->queues->parts) : 0};
	ret[34] = (struct place){&m->queues->hists.groups,
				 m->queues->hists.n_groups * sizeof(*m->queues->hists.groups)};
}

/* The pointers have different types: copied, not aliased. */
static void *array_at(const struct place *p)
{
	void *array;

	memcpy(&array, p->pointer, sizeof(array));
	return array;
}

static void put_array(const struct place *p, void *array)
{
	memcpy(p->pointer, &array, sizeof(array));
}

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
	ret->bytes = len;
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

static void free_rest(const struct place *p)
{
	mem_free(array_at(p));
	put_array(p, NULL);
}

static int pack_rest(struct engine_packed *to, struct engine_pack *p)
{
	struct place places[ENGINE_PACKED_REST];
	int r = 0;

	of_rest(&to->model, places);
	for (unsigned i = 0; i < ENGINE_PACKED_REST && !r; i++) {
		if (places[i].bytes < REST_LEAST)
			continue;
		r = pack_array(&to->rest[i], p, array_at(&places[i]), places[i].bytes);
		if (r)
			break;
		free_rest(&places[i]);
		to->bytes += to->rest[i].stored;
		to->bytes -= places[i].bytes;
	}
	return r;
}

/* A table whose elements point to arrays of their own, like a lock to its series. */
struct nested {
	uint8_t *v;
	size_t n, size;					      /* elements, and bytes of each */
	void (*of)(void *one, struct place ret[NESTED_MOST]); /* its arrays; the rest is zeroed */
};

static struct place of_series(struct series *s)
{
	return (struct place){&s->v, s->v ? SERIES_LEN * sizeof(*s->v) : 0};
}

static void of_lock(void *one, struct place ret[NESTED_MOST])
{
	struct lock *l = one;

	ret[0] = of_series(&l->wait_series);
}

static void of_queue(void *one, struct place ret[NESTED_MOST])
{
	struct lockqueue *q = one;

	ret[0] = of_series(&q->series);
	ret[1] = (struct place){&q->places, q->places ? q->cap * sizeof(*q->places) : 0};
}

static struct nested of_locks(struct lock_table *t, size_t n)
{
	return (struct nested){(uint8_t *)t->locks, n, sizeof(*t->locks), of_lock};
}

static struct nested of_queues(struct lockqueues *s, size_t n)
{
	return (struct nested){(uint8_t *)s->v, n, sizeof(*s->v), of_queue};
}

/* The arrays of all elements, one after the other, into @ret if not NULL; returns the size. */
static size_t take_nested(const struct nested *t, uint8_t *ret)
{
	size_t bytes = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct place places[NESTED_MOST] = {0};
		t->of(t->v + i * t->size, places);
		for (unsigned k = 0; k < NESTED_MOST; k++) {
			if (ret && places[k].bytes)
				memcpy(ret + bytes, array_at(&places[k]), places[k].bytes);
			bytes += places[k].bytes;
		}
	}
	return bytes;
}

/* From @all, or NULL. Whatever fails, no element has a pointer to what is not there. */
static int give_nested(const struct nested *t, const uint8_t *all)
{
	int r = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct place places[NESTED_MOST] = {0};
		t->of(t->v + i * t->size, places);
		for (unsigned k = 0; k < NESTED_MOST; k++) {
			if (!places[k].bytes)
				continue;
			void *array = all ? mem_dup(all, places[k].bytes, 1) : NULL;
			put_array(&places[k], array);
			r = array ? r : -ENOMEM;
			all = all ? all + places[k].bytes : NULL;
		}
	}
	return r;
}

/* In packed elements a pointer says no more than that there is an array. */
static int pack_nested(struct engine_packed *to, struct engine_packed_nested *ret,
		       struct engine_pack *p, const struct nested *t)
{
	size_t of_arrays = take_nested(t, NULL), bytes = t->n * t->size;
	uint8_t *all = of_arrays ? mem_calloc(of_arrays, 1) : NULL;

	if (!of_arrays)
		return 0;
	if (!all)
		return -ENOMEM;
	take_nested(t, all);
	int r = pack_array(&ret->arrays, p, all, of_arrays);
	mem_free(all);
	r = r ? r : pack_array(&ret->elements, p, t->v, bytes);
	if (r)
		return r;
	ret->n = t->n;
	to->bytes += ret->arrays.stored + ret->elements.stored;
	to->bytes -= of_arrays + bytes;
	return 0;
}

/* @t->v is new, or NULL if there is no memory for it. */
static int unpack_nested(const struct engine_packed_nested *from, struct engine_pack *p,
			 struct nested *t)
{
	uint8_t *all = mem_calloc(from->arrays.bytes, 1);
	int r = all ? 0 : -ENOMEM;

	t->v = mem_calloc(from->n, t->size);
	if (!t->v)
		r = -ENOMEM;
	if (!r)
		r = engine_pack_restore(p, from->elements.data, from->elements.stored, t->v,
					from->elements.bytes);
	if (!r) {
		r = engine_pack_restore(p, from->arrays.data, from->arrays.stored, all,
					from->arrays.bytes);
		int given = give_nested(t, r ? NULL : all);
		r = r ? r : given;
	} else {
		mem_free(t->v);
		t->v = NULL;
	}
	mem_free(all);
	return r;
}

static void free_locks(struct lock_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		series_deinit(&t->locks[i].wait_series);
	mem_free(t->locks);
	t->locks = NULL;
	t->n = t->cap = 0;
}

static int pack_locks(struct engine_packed *to, struct engine_pack *p)
{
	struct lock_table *t = to->model.locks;
	const struct nested locks = of_locks(t, t->n);
	int r = pack_nested(to, &to->locks, p, &locks);

	if (to->locks.n)
		free_locks(t);
	return r;
}

static int unpack_locks(const struct engine_packed *from, struct engine_pack *p)
{
	struct lock_table *t = from->model.locks;
	struct nested locks = of_locks(t, from->locks.n);
	int r = from->locks.n ? unpack_nested(&from->locks, p, &locks) : 0;

	if (from->locks.n && locks.v) {
		t->locks = (struct lock *)(void *)locks.v;
		t->n = t->cap = from->locks.n;
	}
	return r;
}

static int pack_queues(struct engine_packed *to, struct engine_pack *p)
{
	struct lockqueues *s = to->model.queues;
	const struct nested queues = of_queues(s, s->n);
	int r = pack_nested(to, &to->queues, p, &queues);

	if (to->queues.n)
		lockqueues_clear(s);
	return r;
}

static int unpack_queues(const struct engine_packed *from, struct engine_pack *p)
{
	struct lockqueues *s = from->model.queues;
	struct nested queues = of_queues(s, from->queues.n);
	int r = from->queues.n ? unpack_nested(&from->queues, p, &queues) : 0;

	if (from->queues.n && queues.v) {
		s->v = (struct lockqueue *)(void *)queues.v;
		s->n = (uint32_t)from->queues.n;
		s->cap = from->queues.n;
	}
	return r;
}

/* The rest is whole until free_all_rest(). */
static int unpack_rest(const struct engine_packed *from, struct engine_pack *p)
{
	struct place places[ENGINE_PACKED_REST];
	int r = 0;

	of_rest(&from->model, places);
	for (unsigned i = 0; i < ENGINE_PACKED_REST && !r; i++) {
		const struct engine_packed_array *a = &from->rest[i];
		void *array = a->data ? mem_calloc(a->bytes, 1) : NULL;
		if (!a->data)
			continue;
		put_array(&places[i], array);
		r = array ? engine_pack_restore(p, a->data, a->stored, array, a->bytes) : -ENOMEM;
	}
	r = r ? r : unpack_locks(from, p);
	return r ? r : unpack_queues(from, p);
}

static void free_all_rest(const struct engine_packed *from)
{
	struct place places[ENGINE_PACKED_REST];

	of_rest(&from->model, places);
	for (unsigned i = 0; i < ENGINE_PACKED_REST; i++)
		if (from->rest[i].data)
			free_rest(&places[i]);
	if (from->locks.n)
		free_locks(from->model.locks);
	if (from->queues.n)
		lockqueues_clear(from->model.queues);
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
	r = pack_rest(ret, p);
	r = r ? r : pack_locks(ret, p);
	r = r ? r : pack_queues(ret, p);
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
	int r = unpack_rest(from, p);

	r = r ? r : model_copy(dst, &from->model);
	free_all_rest(from);
	if (r)
		return r;
	r = unpack_cells(dst->cells, from, p);
	if (r)
		model_deinit(dst);
	return r;
}

static void free_nested(struct engine_packed_nested *n)
{
	mem_free(n->elements.data);
	mem_free(n->arrays.data);
}

void engine_packed_deinit(struct engine_packed *m)
{
	model_deinit(&m->model);
	for (unsigned i = 0; i < ARRAYS; i++)
		mem_free(m->arrays[i].data);
	for (unsigned i = 0; i < ENGINE_PACKED_REST; i++)
		mem_free(m->rest[i].data);
	free_nested(&m->locks);
	free_nested(&m->queues);
	*m = (struct engine_packed){0};
}
