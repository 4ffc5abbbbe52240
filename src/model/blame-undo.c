// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes waits out of blame whose ends were lost. Nothing says how long such a wait lasted, and no
 * other sum counts it.
 *
 * Blame logs each charge while a wait goes on that may have a part in it: how much of a class went
 * to which cell, or to the class of another lock. To take waits out, this file replays the log from
 * the first of them on. It adds up what these waits alone had in their classes, and takes the same
 * share of it out of each entry's cell as the entry has of its class. The result is exact, and a
 * wait that ends normally costs nothing here.
 *
 * The log is bounded. When its older half is dropped, or cells are folded, charges of before stay
 * as they are and count as certain. Sums of the last seconds keep what was waited in them.
 */
#include "blame-int.h"
#include "kontend/bisect.h"
#include "kontend/blame.h"
#include "kontend/mem.h"
#include "kontend/wait.h"

#include <stdlib.h>
#include <string.h>

enum { DONE_MOST = 1 << 15 };

void blame_done_event(struct blame *b)
{
	b->event++;
}

static void drop_first(struct blame *b, size_t n)
{
	b->n_done -= n;
	memmove(b->done, b->done + n, b->n_done * sizeof(*b->done));
}

/* The first entry that is not before @ns. */
static size_t find_time(const struct blame *b, uint64_t ns)
{
	return ns ? BISECT(b->done, b->n_done, time_ns, ns - 1) : 0;
}

void blame_done_prune(struct model *m)
{
	size_t n = m->blame->n_done ? find_time(m->blame, holds_oldest(m)) : 0;

	if (n)
		drop_first(m->blame, n);
}

void blame_done_forget(struct model *m)
{
	m->blame->n_done = 0;
	m->blame->floor_ns = m->now_ns;
}

/* Not in the middle of an event: all of one moment goes. */
static void drop_half(struct blame *b)
{
	b->floor_ns = b->done[b->n_done / 2].time_ns;
	drop_first(b, find_time(b, b->floor_ns + 1));
}

void blame_done(struct model *m, const struct blame_done *d)
{
	struct blame *b = m->blame;

	if (b->n_done == DONE_MOST)
		blame_done_prune(m);
	if (b->n_done > DONE_MOST / 4 * 3)
		drop_half(b);
	if (mem_grow(&b->done, &b->cap_done, b->n_done, sizeof(*b->done)) < 0) {
		blame_done_forget(m);
		return;
	}
	b->done[b->n_done++] = *d;
}

void blame_gone(struct model *m, const struct wait *w)
{
	struct blame *b = m->blame;

	if (mem_grow(&b->gone, &b->cap_gone, b->n_gone, sizeof(*b->gone)) == 0)
		b->gone[b->n_gone++] = (struct blame_gone){w->blame, w->joined_ns};
}

static int compare(const void *a, const void *b)
{
	const struct blame_gone *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/* Advances the sums that the waits to be taken back have in their class until then. */
static void advance(struct blame_class *c, uint64_t ns)
{
	if (ns > c->gone_reported_ns)
		c->gone_ns += c->gone * (ns - c->gone_reported_ns);
	c->gone_reported_ns = ns;
}

static void join(struct blame *b, const struct blame_gone *g)
{
	struct blame_class *c = &b->classes[g->class];

	advance(c, g->since_ns);
	c->gone++;
}

static uint64_t at_most(uint64_t ns, uint64_t most)
{
	return ns < most ? ns : most;
}

/* LOST goes in proportion; PAR is of waits whose end is known. */
static void lose(uint64_t *from, struct blame_cost *cost, uint64_t ns)
{
	cost->lost_ns -= blame_part(cost->lost_ns, ns, *from);
	*from -= ns;
}

/* @ns of an entry: what is counted no more is answered. */
static uint64_t take_back(struct model *m, const struct blame_done *d, uint64_t ns)
{
	struct blame *b = m->blame;

	if (d->how == BLAME_TO_CLASS) {
		b->classes[d->to].gone_ns += ns;
		return 0;
	}
	if (d->how == BLAME_TO_NONE) {
		ns = at_most(ns, b->lost_ns);
		b->lost_ns -= ns;
		return ns;
	}
	struct blame_cell *c = &b->cells[d->to];
	ns = at_most(ns, c->ns);
	lose(&c->ns, &c->cost, ns);
	if (d->time_ns > m->bucket_ns)
		lose(&c->cur_ns, &c->cur_cost, at_most(ns, c->cur_ns));
	return d->how == BLAME_TO_PASSED ? 0 : ns;
}

/* The entries of one class in one event, which begin at @i. Where they end. */
static size_t take_class(struct model *m, size_t i, uint64_t *sure_ns)
{
	struct blame *b = m->blame;
	const struct blame_done first = b->done[i];
	struct blame_class *c = &b->classes[first.class];

	advance(c, first.time_ns);
	uint64_t gone = at_most(c->gone_ns, first.all), left = gone, all = first.all;
	for (; i < b->n_done && b->done[i].event == first.event && b->done[i].class == first.class;
	     i++) {
		struct blame_done *d = &b->done[i];
		uint64_t ns = all ? (uint64_t)((long double)left * d->ns / all) : 0;
		ns = d->ns >= all ? left : at_most(ns, d->ns);
		bool is_cell = d->how == BLAME_TO_CELL || d->how == BLAME_TO_PASSED;
		if (is_cell && b->cells[d->to].key.direct)
			*sure_ns += d->ns - at_most(ns, d->ns);
		b->doubtful_ns += take_back(m, d, ns);
		d->all -= gone;
		/* The next entry has the part that is passed on. */
		if (d->how != BLAME_TO_PASSED) {
			left -= ns;
			all -= d->ns;
			c->gone_ns -= at_most(ns, c->gone_ns);
		}
		d->ns -= at_most(ns, d->ns);
	}
	return i;
}

/* Holders kept no task waiting for longer than the sure waits lasted. */
static void cut_time(struct model *m, struct blame_done *d, uint64_t sure_ns)
{
	uint64_t ns = d->held_ns > sure_ns ? d->held_ns - sure_ns : 0;

	if (!ns || d->how == BLAME_TO_CLASS || d->how == BLAME_TO_NONE)
		return;
	struct blame_cell *c = &m->blame->cells[d->to];
	d->held_ns -= ns;
	c->time_ns -= at_most(ns, c->time_ns);
	if (d->time_ns > m->bucket_ns)
		c->cur_time_ns -= at_most(ns, c->cur_time_ns);
}

static size_t take_event(struct model *m, size_t first)
{
	struct blame *b = m->blame;
	uint32_t event = b->done[first].event;
	uint64_t sure_ns = 0, before_ns = 0, after_ns = 0;
	size_t i = first;

	while (i < b->n_done && b->done[i].event == event) {
		size_t from = i;
		before_ns += b->done[from].all;
		i = take_class(m, from, &sure_ns);
		after_ns += b->done[from].all;
	}
	for (size_t k = first; k < i && before_ns != after_ns; k++)
		cut_time(m, &b->done[k], sure_ns);
	return i;
}

/* The sum that is not charged to a holder yet. */
static void take_rest(struct model *m, uint32_t class)
{
	struct blame_class *c = &m->blame->classes[class];

	advance(c, m->now_ns);
	uint64_t ns = at_most(c->gone_ns, c->ns);
	lose(&c->ns, &c->cost, ns);
	m->blame->doubtful_ns += ns;
	c->gone = 0;
	c->gone_ns = 0;
}

void blame_take_back(struct model *m)
{
	struct blame *b = m->blame;
	size_t n = b->n_gone, at = 0;

	if (!n)
		return;
	/* Earlier charges may have been forgotten since they were noted. */
	for (size_t i = 0; i < n; i++)
		if (b->gone[i].since_ns < b->floor_ns)
			b->gone[i].since_ns = b->floor_ns;
	qsort(b->gone, n, sizeof(*b->gone), compare);
	size_t first = find_time(b, b->gone[0].since_ns);
	for (size_t i = first; i < b->n_done;) {
		for (; at < n && b->gone[at].since_ns <= b->done[i].time_ns; at++)
			join(b, &b->gone[at]);
		i = take_event(m, i);
	}
	for (; at < n; at++)
		join(b, &b->gone[at]);
	for (size_t i = 0; i < n; i++)
		take_rest(m, b->gone[i].class);
	for (size_t i = first; i < b->n_done; i++)
		if (b->done[i].how == BLAME_TO_CLASS)
			take_rest(m, b->done[i].to);
	b->n_gone = 0;
}
