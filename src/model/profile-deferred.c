// SPDX-License-Identifier: GPL-2.0-only
/*
 * User parts of call chains that come later. From Linux 6.19 on the kernel may read the user part
 * when a task returns to user space (attr.defer_callchain): a sample then ends with a marker and a
 * cookie, and a record with the same cookie has the rest, for all samples since the task entered
 * the kernel. A sample is counted at once, with a mark in place of its user part, and moves to the
 * whole chain when that comes. So sums are right at any time, and no sample waits for a record that
 * was lost.
 */
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "profile-int.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { MOST_PENDING = 1 << 16, RECENT_LOOK = 1 << 12 };

void profile_deferred_deinit(struct profile_deferred *d)
{
	map64_deinit(&d->by_tid);
	mem_free(d->pending);
	mem_free(d->spares);
	*d = (struct profile_deferred){0};
}

int profile_deferred_copy(struct profile_deferred *dst, const struct profile_deferred *src)
{
	*dst = *src;
	dst->by_tid = (struct map64){0};
	dst->cap = src->n;
	dst->pending = mem_dup(src->pending, src->n, sizeof(*src->pending));
	dst->cap_spares = src->n_spares;
	dst->spares = mem_dup(src->spares, src->n_spares, sizeof(*src->spares));
	if ((dst->pending || !src->n) && (dst->spares || !src->n_spares) &&
	    !map64_copy(&dst->by_tid, &src->by_tid))
		return 0;
	profile_deferred_deinit(dst);
	return -ENOMEM;
}

void profile_deferred_clear(struct profile_deferred *d)
{
	map64_clear(&d->by_tid);
	d->n = d->n_spares = 0;
	d->free = 0;
}

static void free_list(struct profile_deferred *d, uint32_t at)
{
	while (at) {
		uint32_t next = d->pending[at - 1].next;
		d->pending[at - 1].next = d->free;
		d->free = at;
		at = next;
	}
}

/* Takes all of a task's samples out of the table: the first one, 0: none. */
static uint32_t take_list(struct profile_deferred *d, int32_t tid)
{
	const uint32_t *head = map64_get(&d->by_tid, (uint32_t)tid);
	uint32_t at = head ? *head : 0;

	if (head)
		map64_del(&d->by_tid, (uint32_t)tid);
	return at;
}

/* A free entry, numbered from 1; 0: no memory. */
static uint32_t take_entry(struct profile_deferred *d)
{
	uint32_t at = d->free;

	if (at) {
		d->free = d->pending[at - 1].next;
		return at;
	}
	if (mem_grow(&d->pending, &d->cap, d->n, sizeof(*d->pending)) < 0)
		return 0;
	return (uint32_t)++d->n;
}

uint64_t profile_cookie(const struct event *ev)
{
	const uint64_t *frames = ev->sample.frames;
	uint32_t n = ev->sample.n_frames;

	return n >= 2 && frames[n - 2] == PROFILE_USER_DEFERRED ? frames[n - 1] : 0;
}

int profile_defer(struct profile *p, const struct event *ev, const struct profile_cell *cell,
		  bool has_kernel)
{
	struct profile_deferred *d = &p->deferred;
	uint64_t cookie = profile_cookie(ev);
	uint32_t before = take_list(d, ev->tid), at;

	/* The record of an older cookie would have come before: it was lost. */
	if (before && d->pending[before - 1].cookie != cookie) {
		free_list(d, before);
		before = 0;
	}
	if (!d->free && d->n >= MOST_PENDING) {
		map64_clear(&d->by_tid);
		d->n = before = 0;
	}
	at = take_entry(d);
	if (!at || map64_put(&d->by_tid, (uint32_t)ev->tid, at) < 0)
		return -ENOMEM;
	d->pending[at - 1] = (struct profile_pending){.cookie = cookie,
						      .cell = *cell,
						      .next = before,
						      .generation = p->generation,
						      .has_kernel = has_kernel};
	d->pending[at - 1].cell.n = 1;
	d->pending[at - 1].cell.period = ev->sample.period;
	return 0;
}

/* Its entry of the open tick is of the new cell. False: it is not there any more. */
static bool move_recent(struct recent *r, size_t from, size_t to)
{
	size_t end = r->n > RECENT_LOOK ? r->n - RECENT_LOOK : 0;

	for (size_t i = r->n; i > end && i > r->open; i--) {
		uint64_t word = r->words[i - 1];
		if (recent_kind(word) != RECENT_SAMPLE || recent_index(word) != from)
			continue;
		r->words[i - 1] = recent_word(RECENT_SAMPLE, to, recent_value(word));
		return true;
	}
	return !r->max;
}

/* The frames of the sample before its mark, and the user part. */
static uint32_t join(const struct profile *p, const struct profile_pending *e,
		     const struct event *ev, uint64_t *ret)
{
	const struct map_space *space = map_spaces_of(&p->spaces, ev->pid);
	uint32_t n = 0;

	if (e->has_kernel) {
		n = p->stacks.stacks[e->cell.stack].n - 1;
		memcpy(ret, stack_frames(&p->stacks, e->cell.stack), n * sizeof(*ret));
	}
	for (uint32_t i = 0; i < ev->deferred.n_frames && n < STACK_MAX_FRAMES; i++) {
		uint64_t ip = ev->deferred.frames[i];
		if (ip && ip < PERF_CONTEXT_MAX)
			ret[n++] = map_space_frame(space, ip);
	}
	return n;
}

static int move(struct profile *p, const struct profile_pending *e, const struct event *ev)
{
	uint64_t frames[STACK_MAX_FRAMES];
	uint64_t key = profile_key(&e->cell);
	const uint32_t *known = map64_get(&p->index, key);

	/* It was cleared, or numbers of chains are others now. */
	if (!known || e->generation != p->generation || !p->cells[*known].n)
		return 0;
	uint32_t from = *known, n = join(p, e, ev, frames);
	struct profile_cell made = e->cell;
	made.stack = n ? stack_get(&p->stacks, frames, n) : STACK_OTHER;
	if (made.stack == STACK_OTHER || made.stack == e->cell.stack)
		return 0;
	int to = profile_add(p, &made);
	if (to < 0)
		return to;
	struct profile_cell *c = &p->cells[from];
	c->n--;
	c->period -= made.period < c->period ? made.period : c->period;
	if (!move_recent(&p->recent, from, (size_t)to) || c->n)
		return 0;
	/* No entry is of the empty cell: the next one made takes its place. */
	struct profile_deferred *d = &p->deferred;
	if (mem_grow(&d->spares, &d->cap_spares, d->n_spares, sizeof(*d->spares)) < 0)
		return 0;
	map64_del(&p->index, key);
	d->spares[d->n_spares++] = from;
	return 0;
}

int profile_deferred(struct profile *p, const struct event *ev)
{
	struct profile_deferred *d = &p->deferred;
	uint32_t first = take_list(d, ev->tid);
	int r = 0;

	for (uint32_t at = first; at && r >= 0; at = d->pending[at - 1].next)
		if (d->pending[at - 1].cookie == ev->deferred.cookie)
			r = move(p, &d->pending[at - 1], ev);
	free_list(d, first);
	return r < 0 ? r : 0;
}
