// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of waits by time and length. All entries are in one array, column after column. Those of
 * the open column are found by a small hash table; where that is full it is begun again, so that a
 * cell and bucket may have two entries. Joining goes over all columns once, in place: what comes
 * out is never longer than what went in. It happens when there are twice as many columns of
 * a length as are to stay, which is once in two seconds at most, so that a wait costs a look into
 * the table and two additions, and as much again for each doubling of its age.
 */
#include "kontend/heat.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { SLOTS = 2048, SLOTS_USED = 1536, FIRST_ENTRIES = 1024 };

void heat_deinit(struct heat *h)
{
	mem_free(h->entries);
	mem_free(h->columns);
	mem_free(h->slots);
	*h = (struct heat){0};
}

/* The table of the open column is made when it is needed next: earlier entries are not found in it.
 */
int heat_copy(struct heat *dst, const struct heat *src)
{
	*dst = *src;
	dst->slots = NULL;
	dst->base = dst->cap = src->n;
	dst->cap_columns = src->n_columns;
	dst->entries = src->n ? mem_dup(src->entries, src->n, sizeof(*src->entries)) : NULL;
	dst->columns = src->n_columns ? mem_dup(src->columns, src->n_columns, sizeof(*src->columns))
				      : NULL;
	if ((!src->n || dst->entries) && (!src->n_columns || dst->columns))
		return 0;
	heat_deinit(dst);
	return -ENOMEM;
}

/* The entries from @base on are found by the table. */
static void begin_slots(struct heat *h, size_t base)
{
	if (!++h->stamp && h->slots) {
		memset(h->slots, 0, SLOTS * sizeof(*h->slots));
		h->stamp = 1;
	}
	h->base = base;
}

void heat_clear(struct heat *h)
{
	h->n = h->n_columns = 0;
	h->n_newest = 0;
	h->each = HEAT_EACH;
	h->end_ns = h->dropped_ns = h->n_lost = 0;
	begin_slots(h, 0);
}

size_t heat_bytes(const struct heat *h)
{
	return h->cap * sizeof(*h->entries) + h->cap_columns * sizeof(*h->columns) +
	       (h->slots ? SLOTS * sizeof(*h->slots) : 0);
}

/* The slot of the entry of that cell and bucket; one of before where there is none. */
static struct heat_slot *find_slot(const struct heat *h, const struct heat_entry *e)
{
	size_t k = hash_u64((uint64_t)e->cell << 8 | e->bucket) % SLOTS;

	for (; h->slots[k].stamp == h->stamp; k = (k + 1) % SLOTS) {
		const struct heat_entry *known = &h->entries[h->slots[k].at];
		if (known->cell == e->cell && known->bucket == e->bucket)
			break;
	}
	return &h->slots[k];
}

/* Adds @e to those from base on; @n: where they end. */
static size_t join_entry(struct heat *h, const struct heat_entry *e, size_t n)
{
	if (n - h->base >= SLOTS_USED)
		begin_slots(h, n);
	struct heat_slot *slot = find_slot(h, e);
	if (slot->stamp == h->stamp) {
		h->entries[slot->at].n += e->n;
		h->entries[slot->at].ns += e->ns;
		return n;
	}
	h->entries[n] = *e;
	*slot = (struct heat_slot){h->stamp, (uint32_t)n};
	return n + 1;
}

struct joining {
	struct heat *h;
	size_t excess[HEAT_LEVELS]; /* columns of a level that become longer, the oldest first */
	size_t n, n_columns;	    /* what came out */
	bool indexed;		    /* the entries of the last one are in the table */
};

static void count_excess(struct joining *j)
{
	const struct heat *h = j->h;

	for (size_t i = 0; i < h->n_columns; i++)
		j->excess[h->columns[i].level]++;
	for (unsigned level = 0; level < HEAT_LEVELS; level++)
		j->excess[level] = j->excess[level] >= 2 * h->each && level + 1 < HEAT_LEVELS
					   ? j->excess[level] - h->each
					   : 0;
}

static void index_last(struct joining *j)
{
	const size_t first = j->h->columns[j->n_columns - 1].first, end = j->n;

	if (j->indexed)
		return;
	begin_slots(j->h, first);
	for (size_t i = j->n = first; i < end; i++) {
		const struct heat_entry e = j->h->entries[i];
		j->n = join_entry(j->h, &e, j->n);
	}
	j->indexed = true;
}

static void take_column(struct joining *j, struct heat_column c, size_t end)
{
	struct heat *h = j->h;
	struct heat_column *last = j->n_columns ? &h->columns[j->n_columns - 1] : NULL;
	const size_t first = c.first;

	if (j->excess[c.level]) {
		j->excess[c.level]--;
		c.level++;
		c.at >>= 1;
	}
	if (last && last->level == c.level && last->at == c.at) {
		index_last(j);
		for (size_t i = first; i < end; i++) {
			const struct heat_entry e = h->entries[i];
			j->n = join_entry(h, &e, j->n);
		}
		return;
	}
	j->indexed = false;
	c.first = j->n;
	h->columns[j->n_columns++] = c;
	if (j->n != first)
		memmove(h->entries + j->n, h->entries + first, (end - first) * sizeof(*h->entries));
	j->n += end - first;
}

/* Of each level that has twice as many, `each` columns stay as they are. */
static void join_columns(struct heat *h)
{
	struct joining j = {.h = h};

	count_excess(&j);
	for (size_t i = 0; i < h->n_columns; i++)
		take_column(&j, h->columns[i], heat_end(h, i));
	h->n = j.n;
	h->n_columns = j.n_columns;
	h->n_newest = 0;
	for (size_t i = h->n_columns; i-- > 0 && !h->columns[i].level;)
		h->n_newest++;
	begin_slots(h, h->n);
}

/* The older half of the columns goes; the open one stays. */
static void drop_oldest(struct heat *h)
{
	size_t n = h->n_columns / 2;

	if (!n)
		return;
	const struct heat_column *last = &h->columns[n - 1];
	h->dropped_ns = (last->at + 1) << (HEAT_BASE + last->level);
	size_t first = h->columns[n].first;
	memmove(h->entries, h->entries + first, (h->n - first) * sizeof(*h->entries));
	memmove(h->columns, h->columns + n, (h->n_columns - n) * sizeof(*h->columns));
	h->n -= first;
	h->n_columns -= n;
	h->n_newest = 0;
	for (size_t i = 0; i < h->n_columns; i++) {
		h->columns[i].first -= first;
		h->n_newest += !h->columns[i].level;
	}
	begin_slots(h, h->n);
}

static bool grow(struct heat *h)
{
	size_t cap = h->cap ? h->cap * 2 : FIRST_ENTRIES;

	cap = cap < h->max ? cap : h->max;
	if (h->cap >= cap)
		return false;
	struct heat_entry *entries = mem_resize(h->entries, cap, sizeof(*entries));
	if (!entries)
		return false;
	h->entries = entries;
	h->cap = cap;
	return true;
}

/* For one more entry; joins columns until a quarter of the room is free, so that it is seldom. */
static bool make_room(struct heat *h)
{
	if (h->n < h->cap || grow(h))
		return true;
	while (h->n > h->cap / 4 * 3 && h->each > HEAT_EACH_LEAST) {
		h->each /= 2;
		join_columns(h);
	}
	while (h->n > h->cap / 4 * 3 && h->n_columns > 1)
		drop_oldest(h);
	return h->n < h->cap;
}

static bool open_column(struct heat *h, uint64_t time_ns)
{
	const uint64_t at = time_ns >> HEAT_BASE;

	if (h->n_columns && h->columns[h->n_columns - 1].at >= at)
		return true;
	if (h->n_newest >= 2 * h->each) {
		join_columns(h);
		/* Memory was short once, and is not any more. */
		if (h->each < HEAT_EACH && h->n < h->max / 4)
			h->each *= 2;
	}
	if (mem_grow(&h->columns, &h->cap_columns, h->n_columns, sizeof(*h->columns)))
		return false;
	h->columns[h->n_columns++] = (struct heat_column){.at = at, .first = h->n};
	h->n_newest++;
	h->end_ns = at + 1 < 1ull << (64 - HEAT_BASE) ? (at + 1) << HEAT_BASE : UINT64_MAX;
	begin_slots(h, h->n);
	return true;
}

/* A copy has no table at first. */
static bool has_slots(struct heat *h)
{
	if (h->slots)
		return true;
	h->slots = mem_calloc(SLOTS, sizeof(*h->slots));
	h->stamp = 1;
	return h->slots;
}

void heat_count(struct heat *h, size_t cell, unsigned bucket, uint64_t n, uint64_t ns,
		uint64_t end_ns)
{
	const struct heat_entry e = {(uint32_t)cell, bucket, n, ns};

	if (!has_slots(h) || ((!h->n_columns || end_ns >= h->end_ns) && !open_column(h, end_ns)) ||
	    !make_room(h))
		h->n_lost += n;
	else
		h->n = join_entry(h, &e, h->n);
}

void heat_remap(struct heat *h, const uint32_t *map)
{
	if (!map) {
		const uint64_t end_ns = h->end_ns;
		heat_clear(h);
		h->dropped_ns = end_ns;
		return;
	}
	for (size_t i = 0; i < h->n; i++)
		h->entries[i].cell = map[h->entries[i].cell];
	begin_slots(h, h->n);
}
