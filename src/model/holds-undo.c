// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a wait out of `held` whose end was lost. Nothing says how long it lasted, and no other sum
 * counts it.
 *
 * The charge of each hold is logged while a wait goes on that has a part in it. The part of a wait
 * is the time in which both the wait and the hold went on. Readers that hold a lock together share
 * what is waited; `alone_ns` is the share of one wait for one of them. The log is bounded: when its
 * older half is dropped, charges of before stay as they are.
 */
#include "cell-int.h"
#include "holds-int.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/wait.h"

#include <string.h>

enum { DONE_MOST = 1 << 15 };

uint64_t holds_oldest(const struct model *m)
{
	uint64_t ns = m->now_ns;

	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful && w->joined_ns < ns)
			ns = w->joined_ns;
	}
	return ns;
}

static void drop_first(struct holds *h, size_t n)
{
	h->n_done -= n;
	memmove(h->done, h->done + n, h->n_done * sizeof(*h->done));
}

void holds_prune(struct model *m)
{
	struct holds *h = m->holds;
	uint64_t oldest_ns = h->n_done ? holds_oldest(m) : 0;
	size_t n = 0;

	while (n < h->n_done && h->done[n].end_ns <= oldest_ns)
		n++;
	if (n)
		drop_first(h, n);
}

void holds_done_forget(struct model *m)
{
	m->holds->n_done = 0;
	m->holds->floor_ns = m->now_ns;
}

void holds_note(struct model *m, const struct hold *h, const struct cell *c, uint64_t end_ns)
{
	struct holds *all = m->holds;

	if (all->n_done == DONE_MOST)
		holds_prune(m);
	if (all->n_done > DONE_MOST / 4 * 3) {
		all->floor_ns = all->done[DONE_MOST / 2 - 1].end_ns;
		drop_first(all, DONE_MOST / 2);
	}
	if (mem_grow(&all->done, &all->cap_done, all->n_done, sizeof(*all->done)) < 0) {
		holds_done_forget(m);
		return;
	}
	all->done[all->n_done++] = (struct holds_done){.since_ns = h->since_ns,
						       .end_ns = end_ns,
						       .alone_ns = h->alone_ns,
						       .waited_ns = h->waited_ns,
						       .key = cell_key(c)};
}

/* The part that a wait since @from_ns has in a hold in which one wait has @alone_ns. */
static uint64_t part(uint64_t from_ns, uint64_t since_ns, uint64_t end_ns, uint64_t alone_ns)
{
	uint64_t first = from_ns > since_ns ? from_ns : since_ns;

	if (first >= end_ns)
		return 0;
	return (uint64_t)((double)alone_ns *
			  ((double)(end_ns - first) / (double)(end_ns - since_ns)));
}

static void take_from_cell(struct model *m, struct holds_done *d, uint64_t from_ns)
{
	uint64_t ns = part(from_ns, d->since_ns, d->end_ns, d->alone_ns);
	uint32_t at = cell_prefetch(m->held, d->key);

	ns = ns < d->waited_ns ? ns : d->waited_ns;
	if (at >= m->held->n || !cell_is(&m->held->cells[at], &d->key))
		return;
	ns = cell_take_back(m->held, &m->held->cells[at], ns, d->end_ns > m->bucket_ns ? ns : 0);
	d->waited_ns -= ns;
	m->holds->charged_ns -= ns < m->holds->charged_ns ? ns : m->holds->charged_ns;
}

/* The part of a reader that has released the lock and is not counted yet. */
static void take_from_gone(struct hold *h, uint64_t from_ns)
{
	uint64_t ns = part(from_ns, h->got_ns, h->gone_ns, h->alone_ns);

	h->waited_ns -= ns < h->waited_ns ? ns : h->waited_ns;
}

/* From the holders of the lock in this mode, or from the time that is not charged yet. */
static void take_from_open(struct model *m, uint32_t lock, uint64_t from_ns)
{
	struct lock *l = &m->locks->locks[lock];

	for (uint32_t i = l->holds; i; i = m->holds->v[i].next)
		if (m->holds->v[i].gone_ns)
			take_from_gone(&m->holds->v[i], from_ns);
	if (!l->n_holds) {
		const struct lock *twin = l->twin ? &m->locks->locks[l->twin] : NULL;
		uint64_t left = l->waited_ns + (twin ? twin->waited_ns : 0) - l->charged_ns;
		uint64_t since = from_ns > l->share_at_ns ? from_ns : l->share_at_ns;
		uint64_t ns = m->now_ns > since ? m->now_ns - since : 0;
		l->charged_ns += ns < left ? ns : left;
		return;
	}
	holds_charge(m, lock);
	for (uint32_t i = l->holds; i; i = m->holds->v[i].next) {
		struct hold *h = &m->holds->v[i];
		if (h->gone_ns)
			continue;
		uint64_t ns =
			part(from_ns, h->got_ns, m->now_ns, l->share_time_ns - h->share_time_ns);
		uint64_t has = l->share_ns - h->share_ns;
		h->share_ns += ns < has ? ns : has;
	}
}

void holds_take_back(struct model *m, const struct wait *w)
{
	struct holds *h = m->holds;
	uint32_t twin = m->locks->locks[w->lock].twin;
	uint64_t since = w->joined_ns > m->zero_ns ? w->joined_ns : m->zero_ns;
	uint64_t from = since > h->floor_ns ? since : h->floor_ns;
	uint64_t ns = m->now_ns > since ? m->now_ns - since : 0;

	holds_waits(m, w->lock, 0);
	h->waited_ns -= ns < h->waited_ns ? ns : h->waited_ns;
	h->doubtful_ns += ns;
	for (size_t i = h->n_done; i-- > 0 && h->done[i].end_ns > from;)
		if (h->done[i].key.lock == w->lock || (twin && h->done[i].key.lock == twin))
			take_from_cell(m, &h->done[i], from);
	take_from_open(m, w->lock, from);
	if (twin)
		take_from_open(m, twin, from);
}
