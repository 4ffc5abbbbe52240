// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of many recordings, by their names. A row's key is its texts in one, interned, so that its
 * address finds it. The part of a group in a row is a number in a list of its own, found by both:
 * most rows are of few groups. All of it is bounded: rows, groups and parts that come when there is
 * no more room are in "(other)", and counted; sums stay exact.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

static const char other[] = "(other)";

static void free_rows(struct fleet_rows *t)
{
	mem_free(t->rows);
	mem_free(t->parts);
	map64_deinit(&t->index);
	map64_deinit(&t->part_at);
}

void fleet_free(struct fleet *m)
{
	if (!m)
		return;
	for (int at = 0; at <= FLEET_TABLES; at++)
		free_rows(&m->of[at]);
	map64_deinit(&m->machines);
	map64_deinit(&m->kernels);
	strpool_deinit(&m->names);
	arena_deinit(&m->arena);
	mem_free(m);
}

const struct fleet_sum *fleet_sum(const struct fleet *m)
{
	return &m->sum;
}

/* "(other)" is always there, and has something only where others have had no room. */
bool fleet_has_rows(const struct fleet *m)
{
	for (int at = 0; at < FLEET_TABLES; at++)
		if (m->of[at].n > FLEET_OTHER + 1)
			return true;
	return false;
}

/* With no more room for names only those that are there already are found: NULL. */
static const char *intern(struct fleet *m, const char *s, size_t len)
{
	const char *known = strpool_find(&m->names, s, len);

	if (known || m->names.count >= FLEET_NAMES)
		return known;
	known = strpool_intern_n(&m->names, s, len);
	m->failed |= !known;
	return known;
}

const char *fleet_key(struct fleet *m, const char *const texts[FLEET_KEYS])
{
	char buf[FLEET_KEY];
	size_t at = 0;

	for (int i = 0; i < FLEET_KEYS; i++) {
		const char *s = texts[i] ? texts[i] : "";
		size_t len = strnlen(s, sizeof(buf) / FLEET_KEYS - 1);

		memcpy(buf + at, s, len);
		at += len;
		buf[at++] = FLEET_SPLIT;
	}
	return intern(m, buf, at - 1);
}

/* The first row of a table takes all that has no room. */
static const char *other_key(struct fleet *m, const struct fleet_def *d)
{
	const char *texts[FLEET_KEYS] = {NULL};

	for (int i = 0; i < FLEET_KEYS && d->keys[i].key; i++)
		texts[i] = d->keys[i].flags & COLUMN_WIDE ? other : NULL;
	return fleet_key(m, texts);
}

static uint32_t new_row(struct fleet *m, struct fleet_rows *t, const char *key)
{
	uint32_t row = (uint32_t)t->n;

	if (!key || mem_grow(&t->rows, &t->cap, t->n, sizeof(*t->rows)) < 0 ||
	    map64_put(&t->index, (uint64_t)(uintptr_t)key, row) < 0) {
		m->failed = true;
		return FLEET_OTHER;
	}
	t->rows[t->n++] = (struct fleet_row){.key = key};
	return row;
}

struct fleet *fleet_new(enum fleet_by by, unsigned tables)
{
	struct fleet *m = mem_calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->by = by;
	m->tables = tables ? tables : (1u << FLEET_TABLES) - 1;
	for (int at = 0; at <= FLEET_TABLES; at++)
		new_row(m, &m->of[at], other_key(m, &fleet_defs[at]));
	if (m->failed) {
		fleet_free(m);
		return NULL;
	}
	return m;
}

uint32_t fleet_row(struct fleet *m, enum fleet_at at, const char *key)
{
	struct fleet_rows *t = &m->of[at];
	const uint32_t *known = key ? map64_get(&t->index, (uint64_t)(uintptr_t)key) : NULL;

	if (known)
		return *known;
	if (key && t->n < (at == FLEET_GROUPS ? FLEET_GROUPS_MOST : FLEET_ROWS))
		return new_row(m, t, key);
	*(at == FLEET_GROUPS ? &m->sum.groups_folded : &m->sum.rows_folded) += 1;
	return FLEET_OTHER;
}

static void add_value(struct fleet_values *sum, unsigned i, enum fleet_fold fold, uint64_t v)
{
	bool is_first = !(sum->known & 1u << i);

	switch (fold) {
	case FOLD_SUM:
	case FOLD_ROWS:
		sum->v[i] += v;
		break;
	case FOLD_MAX:
		sum->v[i] = is_first || v > sum->v[i] ? v : sum->v[i];
		break;
	case FOLD_MIN:
		sum->v[i] = is_first || v < sum->v[i] ? v : sum->v[i];
		break;
	}
	sum->known |= (uint8_t)(1u << i);
}

static void add_hist(struct fleet *m, struct fleet_hist *sum, const struct hist *h)
{
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		uint64_t **group = &sum->groups[b / HIST_GROUP];

		if (!h->count[b])
			continue;
		if (!*group)
			*group = arena_alloc(&m->arena, HIST_GROUP * sizeof(**group));
		if (!*group) {
			m->failed = true;
			return;
		}
		(*group)[b % HIST_GROUP] += h->count[b];
	}
}

void fleet_add(struct fleet *m, enum fleet_at at, uint32_t row, const struct fleet_values *v,
	       const struct hist *hist)
{
	struct fleet_row *r = &m->of[at].rows[row];

	for (unsigned i = 0; i < FLEET_MEASURES; i++)
		if (v->known & 1u << i)
			add_value(&r->sum, i, fleet_defs[at].measures[i].fold, v->v[i]);
	r->sum.approx |= v->approx;
	r->sum.at_least |= v->at_least;
	if (hist)
		add_hist(m, &r->hist, hist);
}

static uint64_t part_key(uint32_t row, uint32_t group)
{
	return (uint64_t)row << 32 | group;
}

static void add_part(struct fleet *m, struct fleet_rows *t, uint32_t row, uint32_t group,
		     uint64_t v)
{
	const uint32_t *known = map64_get(&t->part_at, part_key(row, group));

	if (known) {
		t->parts[*known] += v;
		return;
	}
	/*
	 * A part that is missing here is in the row and in no group, so it is shown with the
	 * others.
	 */
	if (!v || t->n_parts == FLEET_PARTS)
		return;
	if (mem_grow(&t->parts, &t->cap_parts, t->n_parts, sizeof(*t->parts)) < 0 ||
	    map64_put(&t->part_at, part_key(row, group), (uint32_t)t->n_parts) < 0) {
		m->failed = true;
		return;
	}
	t->parts[t->n_parts++] = v;
}

void fleet_add_part(struct fleet *m, enum fleet_at at, const char *key, uint32_t group,
		    const struct fleet_values *v, const struct hist *hist)
{
	uint32_t row = fleet_row(m, at, key);

	fleet_add(m, at, row, v, hist);
	if (v->known & 1)
		add_part(m, &m->of[at], row, group, v->v[0]);
}

void fleet_hist_sum(const struct fleet_hist *h, struct hist *ret)
{
	*ret = (struct hist){0};
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		const uint64_t *group = h->groups[b / HIST_GROUP];

		ret->count[b] = group ? group[b % HIST_GROUP] : 0;
		ret->n += ret->count[b];
	}
}

uint64_t fleet_part(const struct fleet_rows *t, uint32_t row, uint32_t group)
{
	const uint32_t *part = map64_get(&t->part_at, part_key(row, group));

	return part ? t->parts[*part] : 0;
}

const char *fleet_key_part(struct arena *a, const char *key, int part)
{
	for (; part > 0 && key; part--) {
		key = strchr(key, FLEET_SPLIT);
		key = key ? key + 1 : NULL;
	}
	return key ? arena_strndup(a, key, strcspn(key, "\x1f")) : "";
}

const struct fleet_row *fleet_find(const struct fleet *m, enum fleet_at at, const char *key)
{
	const struct fleet_rows *t = &m->of[at];
	const char *known = strpool_find(&m->names, key, strlen(key));
	const uint32_t *row = known ? map64_get(&t->index, (uint64_t)(uintptr_t)known) : NULL;

	return row ? &t->rows[*row] : NULL;
}
