// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cube of waits: cells keyed (lock, stack, task, cpu, owner) in a dense array, found through a
 * slot array that carries bits of the hash, so that a probe nearly never touches a cell that is not
 * the one.
 * When the array is full the colder half is folded into coarse cells, which keep the type and the
 * CPU and give up the rest; nothing that was waited is forgotten, only by whom and where.
 */
#include "cell-int.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include <errno.h>
#include <string.h>

/* The bits of a slot that are the index of a cell, + 1. */
#define INDEX ((1u << 27) - 1)

enum { FIRST_CELLS = 256 };

static uint32_t hash_key(const struct cell_key *k)
{
	uint64_t a = (k->lock | (uint64_t)k->stack << 32) * 0x9e3779b97f4a7c15ull;
	uint64_t b = (k->task ^ (uint64_t)k->owner << 20 ^ (uint64_t)k->cpu << 48) *
		     0xc4ceb9fe1a85ec53ull;

	a ^= b >> 31 ^ b;
	a *= 0xff51afd7ed558ccdull;
	return (uint32_t)(a >> 32);
}

int cell_table_init(struct cell_table *t, uint32_t max, uint32_t max_groups)
{
	*t = (struct cell_table){.max = max,
				 .cap = FIRST_CELLS,
				 .mask = 2 * FIRST_CELLS - 1,
				 .n_more = 1,
				 .cap_more = 1};
	t->cells = mem_calloc(t->cap, sizeof(*t->cells));
	t->more = mem_calloc(t->cap_more, sizeof(*t->more));
	t->slots = mem_calloc(t->mask + 1, sizeof(*t->slots));
	t->touched = mem_calloc(cell_words(t), sizeof(*t->touched));
	if (t->cells && t->more && t->slots && t->touched && !hist_pool_init(&t->hists, max_groups))
		return 0;
	cell_table_deinit(t);
	return -ENOMEM;
}

void cell_table_deinit(struct cell_table *t)
{
	mem_free(t->cells);
	mem_free(t->more);
	mem_free(t->slots);
	mem_free(t->touched);
	hist_pool_deinit(&t->hists);
	recent_deinit(&t->recent);
	heat_deinit(&t->heat);
	*t = (struct cell_table){0};
}

size_t cell_bytes(const struct cell_table *t)
{
	return t->cap * sizeof(*t->cells) + t->cap_more * sizeof(*t->more) +
	       (t->mask + 1) * sizeof(*t->slots) + cell_words(t) * sizeof(*t->touched) +
	       t->hists.cap_groups * sizeof(*t->hists.groups) + recent_bytes(&t->recent) +
	       heat_bytes(&t->heat);
}

static uint32_t slot_of(uint32_t hash, size_t index)
{
	return (hash & ~INDEX) | (uint32_t)(index + 1);
}

/* Does the slot's part of the hash match? Mostly it is the cell then. */
static inline bool may_be(uint32_t slot, uint32_t hash)
{
	return !((slot ^ hash) & ~INDEX);
}

static void put_slot(struct cell_table *t, uint32_t hash, size_t index)
{
	size_t i = hash & t->mask;

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = slot_of(hash, index);
}

void cell_index(struct cell_table *t)
{
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	for (size_t i = 0; i < t->n; i++) {
		const struct cell_key key = cell_key(&t->cells[i]);
		put_slot(t, hash_key(&key), i);
	}
}

static int grow(struct cell_table *t)
{
	size_t cap = t->cap * 2;
	uint32_t *slots = mem_calloc(cap * 2, sizeof(*slots));
	uint64_t *touched = mem_calloc((cap + 63) / 64, sizeof(*touched));
	struct cell *cells = slots && touched ? mem_resize(t->cells, cap, sizeof(*cells)) : NULL;

	if (!cells) {
		mem_free(slots);
		mem_free(touched);
		return -ENOMEM;
	}
	memcpy(touched, t->touched, cell_words(t) * sizeof(*touched));
	mem_free(t->touched);
	mem_free(t->slots);
	t->cells = cells;
	t->touched = touched;
	t->cap = cap;
	t->slots = slots;
	t->mask = cap * 2 - 1;
	cell_index(t);
	return 0;
}

struct cell *cell_get(struct cell_table *t, struct cell_key key)
{
	uint32_t hash = hash_key(&key);

	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		struct cell *known = &t->cells[(t->slots[i] & INDEX) - 1];
		if (may_be(t->slots[i], hash) && cell_is(known, &key))
			return known;
	}
	if (t->n >= t->max || (t->n == t->cap && grow(t)))
		return NULL;
	put_slot(t, hash, t->n);
	struct cell *c = &t->cells[t->n++];
	*c = (struct cell){.lock = key.lock,
			   .stack = key.stack,
			   .task = key.task,
			   .owner = key.owner,
			   .cpu = key.cpu};
	return c;
}

uint32_t cell_prefetch(const struct cell_table *t, struct cell_key key)
{
	uint32_t hash = hash_key(&key);

	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		if (!may_be(t->slots[i], hash))
			continue;
		uint32_t index = (t->slots[i] & INDEX) - 1;
		__builtin_prefetch(&t->cells[index], 1);
		return index;
	}
	return CELL_NONE;
}

void cell_expect(const struct cell_table *t, struct cell_key key)
{
	__builtin_prefetch(&t->slots[hash_key(&key) & t->mask]);
}

bool cell_close(struct cell_table *t, struct cell *c)
{
	struct cell_stats *m = c->more ? &t->more[c->more] : NULL;

	c->rate_wait_ns = c->cur_wait_ns;
	c->cur_wait_ns = 0;
	c->in_closed = c->in_open;
	c->in_open = 0;
	c->doubt_closed = c->doubt_open;
	c->doubt_open = 0;
	if (m) {
		m->rate_n = m->cur_n;
		m->cur_n = 0;
	}
	return c->rate_wait_ns || c->in_closed || c->doubt_closed || (m && m->rate_n);
}

void cell_tick(struct cell_table *t, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t w = 0; w < cell_words(t); w++) {
		for (uint64_t bits = t->touched[w]; bits; bits &= bits - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(bits);
			size_t i = w * 64 + bit;

			if (i >= t->n || !cell_close(t, &t->cells[i]))
				t->touched[w] &= ~(1ull << bit);
		}
	}
	recent_tick(&t->recent, begin_ns, end_ns);
}

void cell_touch_all(struct cell_table *t)
{
	memset(t->touched, 0xff, cell_words(t) * sizeof(*t->touched));
}

static bool is_coarse(const struct cell *c)
{
	return c->stack == STACK_OTHER && c->task == TASK_OTHER && c->owner == OWNER_NONE;
}

/* Time waited, halved for each second that has passed since; as an octave. */
static unsigned warmth(const struct cell *c, uint64_t now_ns)
{
	uint64_t age_s = now_ns > c->last_ns ? (now_ns - c->last_ns) / 1000000000 : 0;
	uint64_t v = (c->total_ns + c->cur_wait_ns) >> (age_s < 63 ? age_s : 63);

	return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* The octave below which at least half of the cells lie. */
static unsigned threshold(const struct cell_table *t, uint64_t now_ns)
{
	size_t count[65] = {0}, sum = 0;
	unsigned w = 0;

	for (size_t i = 0; i < t->n; i++)
		count[warmth(&t->cells[i], now_ns)]++;
	for (; w < 64; w++) {
		sum += count[w];
		if (sum * 2 >= t->n)
			break;
	}
	return w;
}

/* Returns the new index. */
static uint32_t put_back(struct cell_table *t, const struct cell *taken, struct cell_key key)
{
	size_t n = t->n;
	struct cell *into = cell_get(t, key);

	if (t->n == n) {
		cell_merge(t, into, taken);
		return (uint32_t)(into - t->cells);
	}
	*into = *taken;
	into->lock = key.lock;
	into->stack = key.stack;
	into->task = key.task;
	into->owner = key.owner;
	into->cpu = key.cpu;
	return (uint32_t)(into - t->cells);
}

/*
 * In place: cells are taken one after the other and put back, as they are or as part of another
 * one. At any moment no more cells are back than were taken, so the array always has room.
 */
uint64_t cell_rekey(struct cell_table *t,
		    bool (*give)(void *ctx, const struct cell *c, struct cell_key *ret), void *ctx)
{
	size_t n = t->n;
	uint64_t folded = 0;

	if (cell_reserve(t, n / 2))
		return 0;
	uint32_t *map = t->recent.n || t->heat.n ? mem_calloc(n, sizeof(*map)) : NULL;
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct cell taken = t->cells[i];
		struct cell_key key = cell_key(&taken);
		if (give(ctx, &taken, &key))
			folded += cell_n(t, &taken);
		uint32_t index = put_back(t, &taken, key);
		if (map)
			map[i] = index;
	}
	if (t->recent.n)
		recent_remap(&t->recent, map);
	if (t->heat.n)
		heat_remap(&t->heat, map);
	mem_free(map);
	cell_touch_all(t);
	return folded;
}

/* The cells to fold: a given number, the coldest ones. */
struct cold {
	uint64_t now_ns;
	unsigned limit;
	size_t budget;
	uint32_t (*coarse)(const void *ctx, uint32_t lock);
	const void *ctx;
};

static bool give_cold(void *ctx, const struct cell *c, struct cell_key *ret)
{
	struct cold *f = ctx;

	if (!f->budget || is_coarse(c) || warmth(c, f->now_ns) > f->limit)
		return false;
	f->budget--;
	*ret = (struct cell_key){.lock = f->coarse(f->ctx, c->lock), .cpu = c->cpu};
	return true;
}

uint64_t cell_fold(struct cell_table *t, uint64_t now_ns,
		   uint32_t (*coarse)(const void *ctx, uint32_t lock), const void *ctx)
{
	struct cold f = {now_ns, threshold(t, now_ns), t->n / 2 + 1, coarse, ctx};

	return cell_rekey(t, give_cold, &f);
}

void cell_table_clear(struct cell_table *t)
{
	t->n = 0;
	t->n_more = 1;
	t->free_more = 0;
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	hist_pool_clear(&t->hists);
	recent_clear(&t->recent);
	heat_clear(&t->heat);
}

struct cell *cell_parts_find(struct cell_parts *s, size_t index)
{
	const struct cell *of = &s->from->cells[index];

	if (s->at[index])
		return &s->to->cells[s->at[index] - 1];
	struct cell *c = cell_get(s->to, cell_key(of));
	if (!c)
		return NULL;
	c->last_ns = of->last_ns;
	c->unsplit = of->unsplit;
	c->unlost = of->unlost;
	c->unpar = 1; /* where it is known, parts have it */
	s->at[index] = (uint32_t)(c - s->to->cells) + 1;
	return c;
}
