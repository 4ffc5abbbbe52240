// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of the waits of a cell. With one wait its duration is everything: the sum, the least
 * and the most, and its place in the histogram. From the second on an entry of the table's `more`
 * has the figures; the histogram is a list of buckets there as long as these are few, then groups
 * of the pool, one of which holds the references to the others.
 */
#include "cell-int.h"
#include "kontend/cell-batch.h"
#include "kontend/cell-recent.h"
#include "kontend/mem.h"
#include <errno.h>

/* Index of an entry that is free; 0: no memory. */
static uint32_t take_free(struct cell_table *t)
{
	uint32_t index = t->free_more;

	if (index) {
		t->free_more = t->more[index].wide;
		return index;
	}
	if (mem_grow(&t->more, &t->cap_more, t->n_more, sizeof(*t->more)))
		return 0;
	return (uint32_t)t->n_more++;
}

int cell_reserve(struct cell_table *t, size_t n)
{
	size_t want = t->n_more + n;

	if (want <= t->cap_more)
		return 0;
	struct cell_stats *more = mem_resize(t->more, want, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->more = more;
	t->cap_more = want;
	return 0;
}

/* The entry for a cell that has none so far. */
static struct cell_stats make_more(const struct cell *c)
{
	return (struct cell_stats){.n = c->one,
				   .min_ns = c->one ? c->total_ns : UINT64_MAX,
				   .max_ns = c->total_ns,
				   .waited_ns = c->total_ns,
				   .spun_ns = c->spun_ns,
				   .lost_ns = c->lost_ns,
				   .par_of_ns = c->one && !c->unpar ? c->total_ns : 0,
				   .cur_n = c->in_open,
				   .rate_n = c->in_closed,
				   .few[0] = (uint8_t)hist_bucket(c->total_ns)};
}

/* The entry of @c, made if there was none; NULL: no memory. */
static struct cell_stats *more_of(struct cell_table *t, struct cell *c)
{
	uint32_t index = c->more ? c->more : take_free(t);

	if (!index)
		return NULL;
	if (!c->more) {
		t->more[index] = make_more(c);
		c->more = index;
		c->one = 0;
		c->in_open = c->in_closed = 0;
	}
	return &t->more[index];
}

static unsigned n_few(const struct cell_stats *m)
{
	return m->n < CELL_FEW ? (unsigned)m->n : CELL_FEW;
}

/* From a list of @n buckets to counters. False: the pool is full, it stays as it is. */
static bool widen(struct cell_table *t, struct cell_stats *m, unsigned n)
{
	m->wide = hist_pool_group(&t->hists);
	for (unsigned i = 0; m->wide && i < n; i++)
		hist_pool_count(&t->hists, m->wide, m->few[i], 1);
	return m->wide;
}

/* Counts a wait beside those that @m had before. */
static void count(struct cell_table *t, struct cell_stats *m, unsigned bucket)
{
	if (!m->wide && m->n < CELL_FEW)
		m->few[m->n] = (uint8_t)bucket;
	else if (m->wide || (m->n == CELL_FEW && widen(t, m, CELL_FEW)))
		hist_pool_count(&t->hists, m->wide, bucket, 1);
	else
		t->hists.n_dropped++;
}

uint64_t cell_take_back(struct cell_table *t, struct cell *c, uint64_t ns, uint64_t open_ns)
{
	struct cell_stats *more = ns ? more_of(t, c) : NULL;

	if (!more)
		return 0;
	ns = ns < more->waited_ns ? ns : more->waited_ns;
	more->waited_ns -= ns;
	c->cur_wait_ns -= open_ns < c->cur_wait_ns ? open_ns : c->cur_wait_ns;
	return ns;
}

int cell_give(struct cell_table *t, struct cell *c, uint64_t ns)
{
	struct cell_stats *more = more_of(t, c);

	if (!more)
		return -ENOMEM;
	more->waited_ns += ns;
	cell_wait(t, c, ns);
	cell_recent_part(t, c, ns);
	return 0;
}

void cell_doubt(struct cell_table *t, struct cell *c)
{
	c->doubt = c->doubt_open = 1;
	cell_wait(t, c, 0);
	recent_add(&t->recent, RECENT_DOUBT, (size_t)(c - t->cells), 0);
}

/* In the logs of when it was. */
static void note_wait(struct cell_table *t, const struct cell *c, uint64_t ns, uint64_t end_ns)
{
	recent_add(&t->recent, RECENT_WAIT, (size_t)(c - t->cells), ns);
	heat_add(&t->heat, (size_t)(c - t->cells), hist_bucket(ns), 1, ns, end_ns);
}

int cell_add(struct cell_table *t, struct cell *c, uint64_t wait_ns, uint64_t within_ns,
	     uint64_t end_ns)
{
	if (!c->one && !c->more && within_ns == wait_ns) {
		c->one = 1;
		c->in_open = 1;
		c->total_ns = wait_ns;
		c->last_ns = end_ns;
		note_wait(t, c, wait_ns, end_ns);
		return 0;
	}
	struct cell_stats *m = more_of(t, c);
	if (!m)
		return -ENOMEM;
	count(t, m, hist_bucket(wait_ns));
	m->n++;
	m->cur_n++;
	m->waited_ns += within_ns;
	if (wait_ns < m->min_ns)
		m->min_ns = wait_ns;
	if (wait_ns > m->max_ns)
		m->max_ns = wait_ns;
	c->total_ns += wait_ns;
	c->last_ns = end_ns;
	note_wait(t, c, wait_ns, end_ns);
	return 0;
}

int cell_add_block(struct cell_table *t, struct cell *c, const struct recent_block *b,
		   const uint64_t *hist, size_t n)
{
	struct cell_stats *m = more_of(t, c);

	if (!m)
		return -ENOMEM;
	if (!m->wide && !widen(t, m, n_few(m)))
		t->hists.n_dropped += b->n;
	for (size_t i = 0; m->wide && i < 2 * n; i++) {
		uint32_t pair = (uint32_t)(hist[i / 2] >> i % 2 * 32);
		if (pair)
			hist_pool_count(&t->hists, m->wide, pair >> 24, pair & 0xffffff);
	}
	m->n += b->n;
	m->cur_n += (uint32_t)b->n;
	m->waited_ns += b->total_ns;
	m->min_ns = b->min_ns < m->min_ns ? b->min_ns : m->min_ns;
	m->max_ns = b->max_ns > m->max_ns ? b->max_ns : m->max_ns;
	c->total_ns += b->total_ns;
	return 0;
}

int cell_batch_add(struct cell_table *t, struct cell *c, uint64_t n, uint64_t total_ns,
		   uint64_t end_ns)
{
	struct cell_stats *m = n ? more_of(t, c) : NULL;
	uint64_t average = n ? total_ns / n : 0;
	const struct recent_block b = {n, total_ns, average, average};
	unsigned bucket = hist_bucket(average);

	if (!n)
		return 0;
	if (!m)
		return -ENOMEM;
	if (!m->wide && !widen(t, m, n_few(m)))
		t->hists.n_dropped += n;
	if (m->wide)
		hist_pool_count(&t->hists, m->wide, bucket,
				n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
	m->n += n;
	m->cur_n += (uint32_t)n;
	m->waited_ns += total_ns;
	m->min_ns = average < m->min_ns ? average : m->min_ns;
	m->max_ns = average > m->max_ns ? average : m->max_ns;
	c->total_ns += total_ns;
	c->last_ns = end_ns;
	recent_add_many(&t->recent, (size_t)(c - t->cells), &b, bucket);
	heat_add(&t->heat, (size_t)(c - t->cells), bucket, n, total_ns, end_ns);
	return 0;
}

int cell_fail(struct cell_table *t, struct cell *c, uint64_t within_ns)
{
	struct cell_stats *m = more_of(t, c);

	if (!m)
		return -ENOMEM;
	m->waited_ns += within_ns;
	m->failed++;
	recent_add(&t->recent, RECENT_FAILED, (size_t)(c - t->cells), 0);
	return 0;
}

int cell_spin(struct cell_table *t, struct cell *c, uint64_t ns)
{
	if (!c->more && ns <= UINT32_MAX - c->spun_ns) {
		c->spun_ns += (uint32_t)ns;
		return 0;
	}
	struct cell_stats *m = more_of(t, c);
	if (!m)
		return -ENOMEM;
	m->spun_ns += ns;
	return 0;
}

int cell_lose(struct cell_table *t, struct cell *c, uint64_t ns)
{
	if (!c->more && ns <= UINT32_MAX - c->lost_ns) {
		c->lost_ns += (uint32_t)ns;
		return 0;
	}
	struct cell_stats *m = more_of(t, c);
	if (!m)
		return -ENOMEM;
	m->lost_ns += ns;
	return 0;
}

int cell_par(struct cell_table *t, struct cell *c, uint64_t ns, uint64_t of_ns)
{
	/* Where no other thread ran, as in all processes with one, a bit is enough. */
	if (c->one && !ns && of_ns == c->total_ns) {
		c->unpar = 0;
		return 0;
	}
	c->unpar = 1;
	if (!of_ns && !ns)
		return 0;
	struct cell_stats *m = more_of(t, c);
	if (!m)
		return -ENOMEM;
	m->par_ns += ns;
	m->par_of_ns += of_ns;
	return 0;
}

struct cell_sums cell_sums(const struct cell_table *t, const struct cell *c)
{
	const struct cell_stats m = c->more ? t->more[c->more] : make_more(c);

	return (struct cell_sums){.n = m.n,
				  .min_ns = m.min_ns,
				  .max_ns = m.max_ns,
				  .waited_ns = m.waited_ns,
				  .spun_ns = m.spun_ns,
				  .lost_ns = m.lost_ns,
				  .par_ns = m.par_ns,
				  .par_of_ns = m.par_of_ns,
				  .rate_n = m.rate_n,
				  .failed = m.failed};
}

void cell_hist(const struct cell_table *t, const struct cell *c, struct hist *sum)
{
	const struct cell_stats one = make_more(c), *m = c->more ? &t->more[c->more] : &one;
	unsigned n = n_few(m);

	if (m->wide) {
		hist_pool_sum(&t->hists, t->hists.groups[m->wide], sum);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		sum->count[m->few[i]]++;
	sum->n += n;
}

/* Adds the histogram of @from to that of @into, and the number of waits. */
static void merge_hist(struct cell_table *t, struct cell_stats *into, const struct cell_stats *from)
{
	struct hist_pool *p = &t->hists;
	unsigned n = from->wide ? 0 : n_few(from), lost = n_few(into);

	if (from->wide && (into->wide || widen(t, into, lost))) {
		hist_pool_move(p, p->groups[into->wide], p->groups[from->wide]);
		hist_pool_give_back(p, from->wide);
	} else if (from->wide) {
		p->n_dropped += lost;
		into->wide = from->wide;
	}
	for (unsigned i = 0; i < n; i++, into->n++)
		count(t, into, from->few[i]);
	into->n += from->n - n;
}

void cell_merge(struct cell_table *t, struct cell *into, const struct cell *from)
{
	struct cell_stats *a = more_of(t, into),
			  b = from->more ? t->more[from->more] : make_more(from);

	merge_hist(t, a, &b);
	a->waited_ns += b.waited_ns;
	a->spun_ns += b.spun_ns;
	a->lost_ns += b.lost_ns;
	a->par_ns += b.par_ns;
	a->par_of_ns += b.par_of_ns;
	a->failed += b.failed;
	a->cur_n += b.cur_n;
	a->rate_n += b.rate_n;
	if (b.min_ns < a->min_ns)
		a->min_ns = b.min_ns;
	if (b.max_ns > a->max_ns)
		a->max_ns = b.max_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	into->total_ns += from->total_ns;
	into->cur_wait_ns += from->cur_wait_ns;
	into->rate_wait_ns += from->rate_wait_ns;
	into->doubt |= from->doubt;
	into->unsplit |= from->unsplit;
	into->unlost |= from->unlost;
	into->doubt_open |= from->doubt_open;
	into->doubt_closed |= from->doubt_closed;
	if (from->more) {
		t->more[from->more].wide = t->free_more;
		t->free_more = from->more;
	}
}
