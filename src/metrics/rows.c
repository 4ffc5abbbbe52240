// SPDX-License-Identifier: GPL-2.0-only
/*
 * An array with a parallel array of hashes: some hundred rows, looked up once a second for each of
 * the first locks and for each cgroup.
 */
#include "rows.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <errno.h>
#include <string.h>

static const uint64_t STILL_NS = 3600 * 1000000000ull;
static const char other[] = "other";

static uint64_t hash_of(const char *name, unsigned kind)
{
	return text_hash(name) * 31 + kind;
}

int metrics_rows_init(struct metrics_rows *t, size_t most)
{
	*t = (struct metrics_rows){.most = most};
	t->rows = mem_calloc(most, sizeof(*t->rows));
	t->hashes = mem_calloc(most, sizeof(*t->hashes));
	for (unsigned i = 0; i < METRICS_KINDS; i++) {
		t->other[i].kind = i;
		strcpy(t->other[i].name, other);
	}
	return t->rows && t->hashes ? 0 : -ENOMEM;
}

void metrics_rows_deinit(struct metrics_rows *t)
{
	mem_free(t->rows);
	mem_free(t->hashes);
}

static struct metrics_row *find_row(const struct metrics_rows *t, const char *name, unsigned kind)
{
	uint64_t hash = hash_of(name, kind);

	for (size_t i = 0; i < t->n; i++) {
		struct metrics_row *r = &t->rows[i];
		if (t->hashes[i] == hash && r->kind == kind && strcmp(r->name, name) == 0)
			return r;
	}
	return NULL;
}

/* Place for a new row: at the end, or else that of the row that has not grown for longest. */
static struct metrics_row *place(struct metrics_rows *t, uint64_t now_ns)
{
	struct metrics_row *oldest = NULL;

	if (t->n < t->most)
		return &t->rows[t->n++];
	for (size_t i = 0; i < t->n; i++)
		if (!oldest || t->rows[i].grown_ns < oldest->grown_ns)
			oldest = &t->rows[i];
	if (!oldest || oldest->waiting || oldest->grown_ns + STILL_NS > now_ns)
		return NULL;
	t->n_ended++;
	return oldest;
}

struct metrics_row *metrics_rows_get(struct metrics_rows *t, const char *name, unsigned kind,
				     bool may_begin, uint64_t now_ns)
{
	struct metrics_row *r;
	char clean[METRICS_NAME];

	text_clean(clean, sizeof(clean), name);
	if (!*clean || strcmp(clean, other) == 0)
		return &t->other[kind];
	r = find_row(t, clean, kind);
	if (r)
		return r;
	r = may_begin ? place(t, now_ns) : NULL;
	if (!r)
		return &t->other[kind];
	*r = (struct metrics_row){.kind = kind, .grown_ns = now_ns};
	memcpy(r->name, clean, sizeof(clean));
	t->hashes[r - t->rows] = hash_of(clean, kind);
	return r;
}

void metrics_rows_add(struct metrics_row *r, uint64_t n, uint64_t total_ns, uint64_t max_ns,
		      uint64_t waiting, uint64_t now_ns)
{
	r->hist.n += n;
	r->hist.total_ns += total_ns;
	r->max_ns = max_ns > r->max_ns ? max_ns : r->max_ns;
	r->waiting += waiting;
	if (n || waiting)
		r->grown_ns = now_ns;
}

void metrics_rows_no_waiting(struct metrics_rows *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].waiting = 0;
	for (size_t i = 0; i < METRICS_KINDS; i++)
		t->other[i].waiting = 0;
}

void metrics_rows_no_max(struct metrics_rows *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].max_ns = 0;
	for (size_t i = 0; i < METRICS_KINDS; i++)
		t->other[i].max_ns = 0;
}
