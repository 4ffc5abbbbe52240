// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cube of waits: cells keyed (lock, stack, task, cpu, owner) in a dense array, found through a
 * slot array that carries half of the hash, so that a probe touches a cell only when it is the one.
 * When the array is full the colder half is folded into coarse cells, which keep the type and the
 * CPU and give up the rest; nothing that was waited is forgotten, only by whom and where.
 */
#include "kontend/cell.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include <errno.h>
#include <string.h>

enum { FIRST_CELLS = 256 };

static uint32_t hash_key(const struct cell_key *k)
{
	uint64_t a = (k->lock | (uint64_t)k->stack << 32) * 0x9e3779b97f4a7c15ull;
	uint64_t b = (k->task | (uint64_t)k->cpu << 32 | (uint64_t)k->owner << 48) *
		     0xc4ceb9fe1a85ec53ull;

	a ^= b >> 31 ^ b;
	a *= 0xff51afd7ed558ccdull;
	return (uint32_t)(a >> 32);
}

int cell_table_init(struct cell_table *t, uint32_t max, uint32_t max_groups)
{
	*t = (struct cell_table){.max = max, .cap = FIRST_CELLS, .mask = 2 * FIRST_CELLS - 1};
	t->cells = mem_calloc(t->cap, sizeof(*t->cells));
	t->slots = mem_calloc(t->mask + 1, sizeof(*t->slots));
	t->touched = mem_calloc(cell_words(t), sizeof(*t->touched));
	if (t->cells && t->slots && t->touched && !hist_pool_init(&t->hists, max_groups))
		return 0;
	cell_table_deinit(t);
	return -ENOMEM;
}

void cell_table_deinit(struct cell_table *t)
{
	mem_free(t->cells);
	mem_free(t->slots);
	mem_free(t->touched);
	hist_pool_deinit(&t->hists);
	*t = (struct cell_table){0};
}

static void put_slot(struct cell_table *t, uint32_t hash, size_t index)
{
	size_t i = hash & t->mask;

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = (uint64_t)hash << 32 | (uint32_t)(index + 1);
}

static void rebuild_slots(struct cell_table *t)
{
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	for (size_t i = 0; i < t->n; i++)
		put_slot(t, t->cells[i].hash, i);
}

static int grow(struct cell_table *t)
{
	size_t cap = t->cap * 2;
	uint64_t *slots = mem_calloc(cap * 2, sizeof(*slots));
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
	rebuild_slots(t);
	return 0;
}

static struct cell *find(struct cell_table *t, uint32_t hash, const struct cell_key *key)
{
	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		if (t->slots[i] >> 32 != hash)
			continue;
		struct cell *c = &t->cells[(uint32_t)t->slots[i] - 1];
		if (cell_key_equal(&c->key, key))
			return c;
	}
	return NULL;
}

struct cell *cell_get(struct cell_table *t, struct cell_key key)
{
	uint32_t hash = hash_key(&key);
	struct cell *c = find(t, hash, &key);

	if (c)
		return c;
	if (t->n >= t->max || (t->n == t->cap && grow(t)))
		return NULL;
	put_slot(t, hash, t->n);
	c = &t->cells[t->n++];
	*c = (struct cell){.key = key, .hash = hash, .min_ns = UINT64_MAX};
	return c;
}

uint32_t cell_prefetch(const struct cell_table *t, struct cell_key key)
{
	uint32_t hash = hash_key(&key);

	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		if (t->slots[i] >> 32 != hash)
			continue;
		uint32_t index = (uint32_t)t->slots[i] - 1;
		__builtin_prefetch(&t->cells[index], 1);
		__builtin_prefetch((const char *)&t->cells[index] + 64, 1);
		return index;
	}
	return CELL_NONE;
}

static void close_bucket(struct cell *c)
{
	c->rate_n = c->cur_n;
	c->rate_wait_ns = c->cur_wait_ns;
	c->cur_n = 0;
	c->cur_wait_ns = 0;
}

void cell_tick(struct cell_table *t)
{
	for (size_t w = 0; w < cell_words(t); w++) {
		for (uint64_t bits = t->touched[w]; bits; bits &= bits - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(bits);
			size_t i = w * 64 + bit;

			if (i < t->n)
				close_bucket(&t->cells[i]);
			if (i >= t->n || (!t->cells[i].rate_n && !t->cells[i].rate_wait_ns))
				t->touched[w] &= ~(1ull << bit);
		}
	}
}

void cell_touch_all(struct cell_table *t)
{
	memset(t->touched, 0xff, cell_words(t) * sizeof(*t->touched));
}

static bool is_coarse(const struct cell *c)
{
	return c->key.stack == STACK_OTHER && c->key.task == TASK_OTHER &&
	       c->key.owner == OWNER_NONE;
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

static void merge(struct cell_table *t, struct cell *into, struct cell *from)
{
	into->n += from->n;
	into->total_ns += from->total_ns;
	into->waited_ns += from->waited_ns;
	into->cur_wait_ns += from->cur_wait_ns;
	into->rate_wait_ns += from->rate_wait_ns;
	into->cur_n += from->cur_n;
	into->rate_n += from->rate_n;
	into->failed += from->failed;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	hist_pool_move(&t->hists, into->hist, from->hist);
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

	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct cell taken = t->cells[i];
		struct cell_key key = taken.key;
		if (give(ctx, &taken, &key))
			folded += taken.n;
		struct cell *into = cell_get(t, key);
		merge(t, into, &taken);
	}
	cell_touch_all(t);
	return folded;
}

/* Which cells are folded: so many, of those that are no warmer. */
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
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	hist_pool_clear(&t->hists);
}
