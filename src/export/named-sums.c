// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays with a parallel array of hashes, which is searched from its begin: rows are some hundreds,
 * or at most 4096 callers of a whole recording, and are looked up once in a second or a file.
 */
#include "kontend/named-sums.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <string.h>

static const uint64_t STILL_NS = 3600 * 1000000000ull;
static const char other[] = "other";

static void free_row(struct named_sum *r)
{
	mem_free((char *)(uintptr_t)r->key.name);
	mem_free(r->counts);
}

void named_sums_deinit(struct named_sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		free_row(&s->rows[i]);
	for (size_t i = 0; i < s->n_others; i++)
		mem_free(s->others[i].counts);
	mem_free(s->rows);
	mem_free(s->hashes);
	mem_free(s->others);
	*s = (struct named_sums){0};
}

static uint64_t hash_of(const struct named_key *k)
{
	return (text_hash(k->name) * 31 + text_hash(k->type)) * 31 + text_hash(k->mode);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_row(const struct named_sum *r, const struct named_key *k)
{
	return is_same(r->key.mode, k->mode) && is_same(r->key.type, k->type) &&
	       strcmp(r->key.name, k->name) == 0;
}

static struct named_sum *find_row(const struct named_sums *s, const struct named_key *k,
				  uint64_t hash)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->hashes[i] == hash && is_row(&s->rows[i], k))
			return &s->rows[i];
	return NULL;
}

/* The row that has not grown for longest, if that is an hour. SIZE_MAX: none. */
static size_t stale_row(const struct named_sums *s, uint64_t now_ns)
{
	size_t oldest = 0;

	if (!s->ends || !s->n)
		return SIZE_MAX;
	for (size_t i = 1; i < s->n; i++)
		if (s->rows[i].grown_ns < s->rows[oldest].grown_ns)
			oldest = i;
	const struct named_sum *r = &s->rows[oldest];
	return r->waiting || r->grown_ns + STILL_NS > now_ns ? SIZE_MAX : oldest;
}

/* Makes room for one more row. 0 or -ENOMEM. */
static int grow(struct named_sums *s)
{
	if (mem_grow(&s->rows, &s->cap, s->n, sizeof(*s->rows)) < 0 ||
	    mem_grow(&s->hashes, &s->cap_hashes, s->n, sizeof(*s->hashes)) < 0)
		return -ENOMEM;
	s->rows[s->n++] = (struct named_sum){0};
	return 0;
}

/* A new row, at the end or instead of one that ends. */
static struct named_sum *begin_row(struct named_sums *s, size_t at, const struct named_key *k,
				   uint64_t hash, uint64_t now_ns)
{
	char *name = mem_strdup(k->name);

	if (!name || (at == s->n && grow(s) < 0)) {
		mem_free(name);
		return NULL;
	}
	s->n_ended += s->rows[at].key.name != NULL;
	free_row(&s->rows[at]);
	s->rows[at] = (struct named_sum){.key = {name, k->type, k->mode}, .grown_ns = now_ns};
	s->hashes[at] = hash;
	return &s->rows[at];
}

struct named_sum *named_sums_other(struct named_sums *s, const char *type, const char *mode)
{
	const struct named_key key = {other, type, mode};

	for (size_t i = 0; i < s->n_others; i++)
		if (is_row(&s->others[i], &key))
			return &s->others[i];
	if (mem_grow(&s->others, &s->cap_others, s->n_others, sizeof(*s->others)) < 0)
		return NULL;
	s->others[s->n_others] = (struct named_sum){.key = key};
	return &s->others[s->n_others++];
}

bool named_sum_is_other(const struct named_sum *r)
{
	return r->key.name == other;
}

struct named_sum *named_sums_get(struct named_sums *s, const struct named_key *key, bool may_begin,
				 uint64_t now_ns)
{
	char name[NAMED_SUM_NAME];
	const struct named_key k = {name, key->type, key->mode};

	text_clean(name, sizeof(name), key->name);
	if (!*name || strcmp(name, other) == 0)
		return named_sums_other(s, k.type, k.mode);
	uint64_t hash = hash_of(&k);
	struct named_sum *r = find_row(s, &k, hash);
	if (r)
		return r;
	size_t at = !may_begin ? SIZE_MAX : s->n < s->most ? s->n : stale_row(s, now_ns);
	return at == SIZE_MAX ? named_sums_other(s, k.type, k.mode)
			      : begin_row(s, at, &k, hash, now_ns);
}

void named_sum_add(struct named_sum *r, uint64_t n, uint64_t total_ns, uint64_t max_ns,
		   uint64_t waiting, uint64_t now_ns)
{
	r->n += n;
	r->total_ns += total_ns;
	r->max_ns = max_ns > r->max_ns ? max_ns : r->max_ns;
	r->waiting += waiting;
	if (n || waiting)
		r->grown_ns = now_ns;
}

int named_sum_add_hist(struct named_sum *r, const struct query_hist *h, uint64_t waiting,
		       uint64_t now_ns)
{
	if (!r->counts)
		r->counts = mem_calloc(HIST_BUCKETS, sizeof(*r->counts));
	if (!r->counts)
		return -ENOMEM;
	openmetrics_hist_count(r->counts, h);
	named_sum_add(r, h->n_waits, h->total_ns, h->max_ns, waiting, now_ns);
	return 0;
}

void named_sums_clear_waiting(struct named_sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->rows[i].waiting = 0;
	for (size_t i = 0; i < s->n_others; i++)
		s->others[i].waiting = 0;
}

void named_sums_clear_max(struct named_sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->rows[i].max_ns = 0;
	for (size_t i = 0; i < s->n_others; i++)
		s->others[i].max_ns = 0;
}

static void put_histogram(const struct named_sum *r, const char *const *labels,
			  struct openmetrics_text *t)
{
	struct openmetrics_hist h = {.n = r->n, .total_ns = r->total_ns};

	if (r->counts)
		memcpy(h.counts, r->counts, sizeof(h.counts));
	openmetrics_text_histogram(t, labels, &h, NULL);
}

void named_sum_put(const struct named_sum *r, enum named_sum_value what, struct openmetrics_text *t)
{
	const char *const labels[] = {r->key.name, r->key.type ? r->key.type : r->key.mode,
				      r->key.mode,
				      r->key.type ? locktype_world_of(r->key.type) : NULL};

	switch (what) {
	case NAMED_SUM_N:
		openmetrics_text_count(t, labels, r->n);
		break;
	case NAMED_SUM_TOTAL:
		openmetrics_text_seconds(t, labels, r->total_ns);
		break;
	case NAMED_SUM_MAX:
		openmetrics_text_seconds(t, labels, r->max_ns);
		break;
	case NAMED_SUM_WAITING:
		openmetrics_text_count(t, labels, r->waiting);
		break;
	case NAMED_SUM_HISTOGRAM:
		put_histogram(r, labels, t);
		break;
	}
}

void named_sums_put(const struct named_sums *s, const char *family, enum named_sum_value what,
		    struct openmetrics_text *t)
{
	openmetrics_text_family(t, family);
	for (size_t i = 0; i < s->n; i++)
		named_sum_put(&s->rows[i], what, t);
	/* `other` has no longest wait if only the first rows of a second are examined. */
	for (size_t i = 0; i < s->n_others && !(what == NAMED_SUM_MAX && s->is_cut); i++)
		named_sum_put(&s->others[i], what, t);
}
