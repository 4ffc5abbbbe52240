// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps in state D. The programs sum up all of them since their begin, and each snapshot has these
 * sums: a cell keeps those of the latest one, so the next adds what is new. The first snapshot only
 * says where the sums begin, unless it is that of a measurement, or another one was before it.
 * Cells are never removed, as they have what is to be subtracted; they are as many as the programs
 * have rows.
 *
 * A maximum of the programs only grows, so the longest sleep between two snapshots is known by the
 * record that a sleep has which is not short. These sleeps are kept as well: the last ones, and the
 * longest.
 */
#include "kontend/sleeps.h"
#include "kontend/event.h"
#include "kontend/hash.h"
#include "kontend/locksnap-sleepers.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/sleptsnap.h"
#include "wait-chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Number 0 also where there is no room. */
static int find_stack(struct sleeps *s, const uint64_t *frames, uint32_t n, uint32_t *ret)
{
	n = n < SLEEPS_FRAMES ? n : SLEEPS_FRAMES;
	const uint64_t hash = hash_bytes(HASH_START, frames, n * sizeof(*frames));
	const uint32_t *known = n ? map64_get(&s->by_chain, hash) : NULL;

	*ret = known ? *known : 0;
	if (!s->n_stacks) {
		if (mem_grow(&s->stacks, &s->cap_stacks, 0, sizeof(*s->stacks)))
			return -ENOMEM;
		s->stacks[s->n_stacks++] = (struct sleeps_stack){0};
	}
	if (known || !n || s->n_stacks >= SLEEPS_STACKS)
		return 0;
	if (mem_grow(&s->stacks, &s->cap_stacks, s->n_stacks, sizeof(*s->stacks)) ||
	    map64_put(&s->by_chain, hash, s->n_stacks))
		return -ENOMEM;
	struct sleeps_stack *stack = &s->stacks[s->n_stacks];
	*stack = (struct sleeps_stack){.n = n};
	memcpy(stack->frames, frames, n * sizeof(*frames));
	*ret = s->n_stacks++;
	return 0;
}

/* NULL without room, which is no error, or without memory: then *@code is negative. */
static struct sleeps_cell *find_cell(struct sleeps *s, int32_t pid, bool io, uint32_t stack,
				     int *code)
{
	const uint64_t key = hash_u64(hash_u64((uint64_t)(uint32_t)pid << 1 | io) ^ stack);
	const uint32_t *known = map64_get(&s->by_key, key);

	if (known)
		return &s->cells[*known];
	if (s->n_cells >= SLEEPS_CELLS)
		return NULL;
	if (mem_grow(&s->cells, &s->cap_cells, s->n_cells, sizeof(*s->cells)) ||
	    map64_put(&s->by_key, key, s->n_cells)) {
		*code = -ENOMEM;
		return NULL;
	}
	s->cells[s->n_cells] = (struct sleeps_cell){.pid = pid, .stack = stack, .io = io};
	return &s->cells[s->n_cells++];
}

static void copy_comm(char ret[16], const char *comm)
{
	snprintf(ret, 16, "%s", comm);
}

static int keep_part(struct sleeps *s, const struct sleeps_part *part)
{
	if (!s->parts && !(s->parts = mem_calloc(SLEEPS_PARTS, sizeof(*s->parts))))
		return -ENOMEM;
	struct sleeps_part *p = &s->parts[s->next_part];
	if (s->n_parts == SLEEPS_PARTS)
		s->dropped_ns = p->end_ns;
	else
		s->n_parts++;
	*p = *part;
	s->next_part = (s->next_part + 1) % SLEEPS_PARTS;
	return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The sleeps of @row since the snapshot before. */
static struct sleeps_part take_row(struct sleeps_cell *c, const struct sleptsnap_row *row,
				   uint64_t from_ns)
{
	struct sleeps_part p = {0};

	if (c->seen_from_ns != from_ns)
		c->seen_sleeps = c->seen_ns = c->seen_max_ns = 0;
	if (row->sleeps >= c->seen_sleeps && row->total_ns >= c->seen_ns) {
		p.sleeps = row->sleeps - c->seen_sleeps;
		p.total_ns = row->total_ns - c->seen_ns;
	}
	if (p.sleeps)
		p.max_ns = row->max_ns > c->seen_max_ns ? row->max_ns : c->since_max_ns;
	c->seen_from_ns = from_ns;
	c->seen_sleeps = row->sleeps;
	c->seen_ns = row->total_ns;
	c->seen_max_ns = row->max_ns;
	c->since_max_ns = 0;
	return p;
}

static int add_row(struct sleeps *s, const struct sleptsnap *snap, const struct sleptsnap_row *row,
		   bool adds, bool recent)
{
	uint32_t stack;
	int code = find_stack(s, snap->frames + row->frame, row->n_frames, &stack);
	struct sleeps_cell *c =
		code < 0 ? NULL : find_cell(s, row->pid, row->kind == LOCKSNAP_IO, stack, &code);

	if (!c)
		return code;
	copy_comm(c->comm, sleptsnap_text(snap, row->comm));
	struct sleeps_part p = take_row(c, row, snap->head.from_ns);
	if (!adds || !p.sleeps)
		return 0;
	c->sleeps += p.sleeps;
	c->total_ns += p.total_ns;
	c->max_ns = larger(c->max_ns, p.max_ns);
	p.cell = (uint32_t)(c - s->cells);
	p.begin_ns = larger(s->seen_ns, snap->head.from_ns);
	p.end_ns = snap->head.time_ns;
	return recent ? keep_part(s, &p) : 0;
}

static void take_head(struct sleeps *s, const struct sleptsnap_head *h)
{
	bool is_other = s->from_ns && s->from_ns != h->from_ns;

	if (is_other)
		s->dropped_before = s->missed_before = s->off_before_ns = 0;
	if (!s->from_ns && !h->is_first) {
		s->dropped_before = h->dropped;
		s->missed_before = h->missed;
		s->off_before_ns = h->off_ns;
	} else if (is_other || s->level != SLEPTSNAP_OFF) {
		s->covered_ns += h->time_ns - larger(s->seen_ns, h->from_ns);
	}
	s->from_ns = h->from_ns;
	s->seen_ns = h->time_ns;
	s->level = h->level;
	s->min_ns = h->min_ns;
	s->switch_ps = h->switch_ps;
	s->now = h->now;
	s->now_ns = h->now_ns;
	s->dropped = h->dropped;
	s->missed = h->missed;
	s->off_ns = h->off_ns;
}

int sleeps_snapshot(struct sleeps *s, const struct sleptsnap *snap, bool recent)
{
	const struct sleptsnap_head *h = &snap->head;
	int code = 0;

	snprintf(s->reason, sizeof(s->reason), "%s", sleptsnap_text(snap, h->reason));
	if (h->reason || h->time_ns <= s->seen_ns || h->time_ns < h->from_ns)
		return 0;
	for (size_t i = 0; code == 0 && i < snap->n_rows; i++)
		code = add_row(s, snap, &snap->rows[i], s->from_ns || h->is_first, recent);
	take_head(s, h);
	return code;
}

static void keep_longest(struct sleeps *s, const struct sleeps_one *one)
{
	uint32_t at = s->n_longest;

	while (at && s->longest[at - 1].length_ns < one->length_ns)
		at--;
	if (at == SLEEPS_LONGEST)
		return;
	if (s->n_longest < SLEEPS_LONGEST)
		s->n_longest++;
	memmove(&s->longest[at + 1], &s->longest[at],
		(s->n_longest - 1 - at) * sizeof(s->longest[0]));
	s->longest[at] = *one;
}

static int keep_one(struct sleeps *s, const struct sleeps_one *one)
{
	if (!s->kept && !(s->kept = mem_calloc(SLEEPS_KEPT, sizeof(*s->kept))))
		return -ENOMEM;
	struct sleeps_one *place = &s->kept[s->next_kept];
	if (s->n_kept == SLEEPS_KEPT)
		s->kept_dropped_ns = place->begin_ns + place->length_ns;
	else
		s->n_kept++;
	*place = *one;
	s->next_kept = (s->next_kept + 1) % SLEEPS_KEPT;
	keep_longest(s, one);
	return 0;
}

/* Where it went to sleep in its program. */
static int find_user(struct sleeps *s, const struct event *ev, struct map_spaces *spaces,
		     uint32_t *ret)
{
	const struct wait_chain_part part = {ev->sleep.user, ev->sleep.n_user, ev->pid,
					     (enum waitrec_user)ev->sleep.user_is};
	uint64_t frames[SLEEPS_FRAMES];

	return find_stack(s, frames, wait_chain_user(spaces, &part, frames, SLEEPS_FRAMES), ret);
}

void sleeps_forget_objects(struct sleeps *s, const uint8_t *keep, size_t n)
{
	for (uint32_t i = 0; i < s->n_stacks; i++)
		map_frames_forget(s->stacks[i].frames, s->stacks[i].n, keep, n);
}

int sleeps_event(struct sleeps *s, const struct event *ev, struct map_spaces *spaces)
{
	struct sleeps_one one = {.begin_ns = ev->sleep.begin_ns,
				 .length_ns = ev->sleep.length_ns,
				 .pid = ev->pid,
				 .tid = ev->tid,
				 .waker_pid = ev->sleep.waker_pid,
				 .waker_tid = ev->sleep.waker_tid,
				 .io = ev->sleep.io};
	int code = find_stack(s, ev->sleep.frames, ev->sleep.n_frames, &one.stack);

	code = code < 0 ? code : find_user(s, ev, spaces, &one.user);
	struct sleeps_cell *c = code < 0 ? NULL : find_cell(s, ev->pid, one.io, one.stack, &code);

	if (code < 0)
		return code;
	if (c)
		c->since_max_ns = larger(c->since_max_ns, one.length_ns);
	copy_comm(one.comm, ev->sleep.comm);
	copy_comm(one.waker_comm, ev->sleep.waker_comm);
	return keep_one(s, &one);
}

void sleeps_zero(struct sleeps *s)
{
	for (uint32_t i = 0; i < s->n_cells; i++)
		s->cells[i].sleeps = s->cells[i].total_ns = s->cells[i].max_ns = 0;
	s->n_parts = s->next_part = s->n_kept = s->next_kept = s->n_longest = 0;
	s->dropped_ns = s->kept_dropped_ns = 0;
	s->covered_ns = 0;
	s->dropped_before = s->dropped;
	s->missed_before = s->missed;
	s->off_before_ns = s->off_ns;
}

int sleeps_copy(struct sleeps *dst, const struct sleeps *src)
{
	*dst = *src;
	dst->by_key = dst->by_chain = (struct map64){0};
	dst->cap_cells = src->n_cells;
	dst->cap_stacks = src->n_stacks;
	dst->cells = mem_dup(src->cells, src->n_cells, sizeof(*src->cells));
	dst->stacks = mem_dup(src->stacks, src->n_stacks, sizeof(*src->stacks));
	dst->parts = mem_dup(src->parts, SLEEPS_PARTS, sizeof(*src->parts));
	dst->kept = mem_dup(src->kept, SLEEPS_KEPT, sizeof(*src->kept));
	if ((src->n_cells && !dst->cells) || (src->n_stacks && !dst->stacks) ||
	    (src->parts && !dst->parts) || (src->kept && !dst->kept))
		return -ENOMEM;
	int code = map64_copy(&dst->by_key, &src->by_key);
	return code ? code : map64_copy(&dst->by_chain, &src->by_chain);
}

void sleeps_deinit(struct sleeps *s)
{
	mem_free(s->cells);
	mem_free(s->stacks);
	mem_free(s->parts);
	mem_free(s->kept);
	map64_deinit(&s->by_key);
	map64_deinit(&s->by_chain);
	*s = (struct sleeps){0};
}

size_t sleeps_bytes(const struct sleeps *s)
{
	return s->cap_cells * sizeof(*s->cells) + s->cap_stacks * sizeof(*s->stacks) +
	       (s->parts ? SLEEPS_PARTS * sizeof(*s->parts) : 0) +
	       (s->kept ? SLEEPS_KEPT * sizeof(*s->kept) : 0);
}
