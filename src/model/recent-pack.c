// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many entries of one cell become a block: how many, their sum, and of waits the longest, the
 * shortest and a histogram. So a storm, where the same few locks are waited for again and again,
 * takes little room, and summing it up little time. The parts of one cell become a single part,
 * their sum, and so do times of spinning, and those in which a CPU was idle. It happens in place,
 * as neither is ever longer than what it stands for.
 */
#include "kontend/hist.h"
#include "kontend/mem.h"
#include "kontend/recent.h"
#include <string.h>

/* per cell, so that a block is shorter; and in all, as fewer entries are not worth a pass */
enum { FEW = 16, LEAST = 2048 };

struct pack {
	struct recent *r;
	uint32_t *counts; /* entries of a cell; 0 where they stay as they are */
	struct pack_sum {
		uint32_t n;
		uint64_t ns; /* differences below zero wrap */
	} * sums[5];	     /* by `summed` */
	size_t *at;	     /* where in `values` those of a cell end, so far */
	uint64_t *values;
	size_t n_cells;
};

static bool is_entry(uint64_t word)
{
	return recent_kind(word) == RECENT_WAIT || recent_kind(word) == RECENT_SAMPLE;
}

/* Words that belong to the one at @i: what has upper bits, or is a block already. */
static size_t length_at(const struct recent *r, size_t i)
{
	if (recent_kind(r->words[i]) == RECENT_BLOCK)
		return 1 + recent_value(r->words[i]);
	return recent_kind(r->words[i]) == RECENT_HIGH ? 2 : 1;
}

/* The entry at @i without its upper bits, which are before it. */
static uint64_t entry_at(const struct recent *r, size_t i)
{
	return r->words[recent_kind(r->words[i]) == RECENT_HIGH ? i + 1 : i];
}

static const enum recent_kind summed[] = {RECENT_PART, RECENT_SPIN, RECENT_LOST, RECENT_PAR,
					  RECENT_PAR_OF};

enum { SUMMED = sizeof(summed) / sizeof(*summed) };

/* The sum to which the word at @i is added; NULL: it stays. */
static struct pack_sum *sum_of(const struct pack *p, size_t i)
{
	uint64_t word = entry_at(p->r, i);

	for (int k = 0; k < SUMMED; k++)
		if (recent_kind(word) == summed[k])
			return &p->sums[k][recent_index(word)];
	return NULL;
}

static uint64_t value_at(const struct recent *r, size_t i)
{
	uint64_t high = 0;

	if (recent_kind(r->words[i]) == RECENT_HIGH)
		high = recent_value(r->words[i]) << RECENT_VALUE_BITS;
	return high | recent_value(entry_at(r, i));
}

static bool begin(struct pack *p)
{
	const struct recent *r = p->r;

	for (size_t i = r->open; i < r->n; i += length_at(r, i))
		if (recent_index(r->words[i]) >= p->n_cells)
			p->n_cells = recent_index(r->words[i]) + 1;
	p->counts = mem_calloc(p->n_cells, sizeof(*p->counts));
	p->at = mem_calloc(p->n_cells, sizeof(*p->at));
	p->values = mem_calloc(r->n - r->open, sizeof(*p->values));
	for (int k = 0; k < SUMMED; k++)
		p->sums[k] = mem_calloc(p->n_cells, sizeof(*p->sums[k]));
	return p->counts && p->at && p->values && p->sums[0] && p->sums[1] && p->sums[2];
}

static void count(struct pack *p)
{
	const struct recent *r = p->r;
	size_t sum = 0;

	for (size_t i = r->open; i < r->n; i += length_at(r, i)) {
		p->counts[recent_index(r->words[i])] += is_entry(r->words[i]);
		struct pack_sum *s = sum_of(p, i);
		if (s)
			s->n++;
	}
	for (size_t c = 0; c < p->n_cells; c++) {
		p->counts[c] = p->counts[c] < FEW ? 0 : p->counts[c];
		p->at[c] = sum;
		sum += p->counts[c];
	}
}

/* Moves the other words to the front, and puts entries cell by cell. Returns the kind of these. */
static enum recent_kind take_out(struct pack *p)
{
	struct recent *r = p->r;
	enum recent_kind kind = RECENT_BLOCK;
	size_t to = r->open, len;

	for (size_t i = r->open; i < r->n; i += len) {
		uint64_t w = r->words[i];
		len = length_at(r, i);
		if (is_entry(w) && p->counts[recent_index(w)]) {
			p->values[p->at[recent_index(w)]++] = recent_value(w);
			kind = recent_kind(w);
			continue;
		}
		struct pack_sum *s = sum_of(p, i);
		if (s && s->n > 1) {
			s->ns += value_at(r, i);
			continue;
		}
		memmove(r->words + to, r->words + i, len * sizeof(*r->words));
		to += len;
	}
	r->n = to;
	return kind;
}

static void put_hist(struct recent *r, const uint64_t *values, uint32_t n)
{
	uint32_t counts[HIST_BUCKETS] = {0};

	for (uint32_t i = 0; i < n; i++)
		counts[hist_bucket(values[i])]++;
	for (unsigned b = 0, half = 0; b < HIST_BUCKETS; b++) {
		if (!counts[b])
			continue;
		uint64_t pair = (uint64_t)b << 24 | counts[b];
		if (half)
			r->words[r->n - 1] |= pair << 32;
		else
			r->words[r->n++] = pair;
		half = !half;
	}
}

static void put_block(struct recent *r, enum recent_kind kind, size_t cell, const uint64_t *values,
		      uint32_t n)
{
	struct recent_block b = {.n = n, .min_ns = UINT64_MAX};
	size_t head = r->n++;

	for (uint32_t i = 0; i < n; i++) {
		b.total_ns += values[i];
		b.max_ns = values[i] > b.max_ns ? values[i] : b.max_ns;
		b.min_ns = values[i] < b.min_ns ? values[i] : b.min_ns;
	}
	memcpy(r->words + r->n, &b, sizeof(b));
	r->n += sizeof(b) / sizeof(*r->words);
	if (kind == RECENT_WAIT)
		put_hist(r, values, n);
	r->words[head] = recent_word(RECENT_BLOCK, cell, r->n - head - 1);
}

static void put_sum(struct recent *r, enum recent_kind kind, size_t cell, uint64_t value)
{
	uint64_t high = value >> RECENT_VALUE_BITS;

	if (high)
		r->words[r->n++] = recent_word(RECENT_HIGH, cell, high);
	r->words[r->n++] = recent_word(kind, cell, recent_value(value));
}

void recent_pack(struct recent *r)
{
	struct pack p = {.r = r};

	if (r->n - r->open >= LEAST && begin(&p)) {
		count(&p);
		enum recent_kind kind = take_out(&p);
		for (size_t c = 0; c < p.n_cells; c++) {
			for (int k = 0; k < SUMMED; k++)
				if (p.sums[k][c].n > 1)
					put_sum(r, summed[k], c, p.sums[k][c].ns);
			if (p.counts[c])
				put_block(r, kind, c, p.values + p.at[c] - p.counts[c],
					  p.counts[c]);
		}
	}
	mem_free(p.counts);
	mem_free(p.at);
	mem_free(p.values);
	for (int k = 0; k < SUMMED; k++)
		mem_free(p.sums[k]);
}
