// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main cause of a row. The cells of the row are sorted by a key, and equal ones are added up:
 * once for each row that is shown.
 */
#include "../locks/queues.h"
#include "chains/asleep.h"
#include "kontend/stack.h"
#include "kontend/units.h"
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct blame_weight *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

void blame_weights_sort(struct blame_weight *w, size_t n)
{
	qsort(w, n, sizeof(*w), compare);
}

bool blame_heaviest(struct blame_rows *b, const struct blame_group *g,
		    uint64_t (*key_of)(struct blame_rows *b, const struct blame_cell *c),
		    struct blame_heaviest *ret)
{
	struct blame_weight *w = b->room;
	size_t n = 0, end;

	*ret = (struct blame_heaviest){0};
	for (uint32_t i = g->cells; i; i = b->next[i - 1]) {
		const struct blame_cell *c = &b->cells.v[i - 1];
		w[n] = (struct blame_weight){key_of(b, c), blame_rows_ns(b, c), i - 1};
		n += w[n].key != UINT64_MAX;
	}
	blame_weights_sort(w, n);
	for (size_t i = 0; i < n; i = end) {
		uint64_t ns = 0;
		for (end = i; end < n && w[end].key == w[i].key; end++)
			ns += w[end].ns;
		if (ns > ret->ns)
			*ret = (struct blame_heaviest){w[i].key, ns, w[i].cell, false};
	}
	ret->many = n && w[0].key != w[n - 1].key;
	return ret->ns != 0;
}

const char *blame_state_name(uint32_t state)
{
	static const char *const names[BLAME_STATES] = {
		[BLAME_UNKNOWN] = "unknown", [BLAME_NOT_FOLLOWED] = "not_followed",
		[BLAME_RUNNING] = "running", [BLAME_RUNNABLE] = "runnable",
		[BLAME_ASLEEP] = "asleep",   [BLAME_IO] = "io",
		[BLAME_CIRCLE] = "circle",   [BLAME_PASSED] = "lock",
	};

	return names[state];
}

const char *blame_state_words(uint32_t state)
{
	static const char *const words[BLAME_STATES] = {
		[BLAME_UNKNOWN] = "holder not known",
		[BLAME_NOT_FOLLOWED] = "holder not followed",
		[BLAME_RUNNING] = "running",
		[BLAME_RUNNABLE] = "runnable",
		[BLAME_ASLEEP] = "asleep",
		[BLAME_IO] = "asleep for I/O",
		[BLAME_CIRCLE] = "in a circle of waits",
		[BLAME_PASSED] = "waits for a lock",
	};

	return words[state];
}

/* I/O is known already: the caller of the I/O functions is more useful. */
static uint32_t sleeps_in(struct query *q, uint32_t stack, bool io)
{
	const struct stack_table *t = q->model->stacks;
	const uint64_t *frames = stack_frames(t, stack);
	uint32_t func = 0;

	for (uint32_t n = t->stacks[stack].n; n; frames++, n--) {
		func = query_sleeps_in(q, frames, n);
		const char *name = query_func_name(q, func);
		if (!io || !name || strncmp(name, "io_schedule", strlen("io_schedule")) != 0)
			break;
	}
	return func;
}

static uint64_t why_key(const struct blame_cell *c, uint32_t state)
{
	return c->key.state == state && c->key.why ? c->key.why : UINT64_MAX;
}

static uint64_t kept_off_by(struct blame_rows *b, const struct blame_cell *c)
{
	(void)b;
	return why_key(c, BLAME_RUNNABLE);
}

static uint64_t passed_to(struct blame_rows *b, const struct blame_cell *c)
{
	(void)b;
	return why_key(c, BLAME_PASSED);
}

static uint64_t runs_in_function(struct blame_rows *b, const struct blame_cell *c)
{
	struct query_spot spot = {0};

	if (why_key(c, BLAME_RUNNING) != UINT64_MAX)
		query_spot_of(b->q, c->key.why, &spot);
	return spot.func ? spot.func : UINT64_MAX;
}

static uint64_t sleep_of(struct blame_rows *b, const struct blame_cell *c, uint32_t state)
{
	uint32_t func = 0;

	if (why_key(c, state) != UINT64_MAX)
		func = sleeps_in(b->q, c->key.why, state == BLAME_IO);
	return func ? func : UINT64_MAX;
}

static uint64_t asleep_in_function(struct blame_rows *b, const struct blame_cell *c)
{
	return sleep_of(b, c, BLAME_ASLEEP);
}

static uint64_t io_in_function(struct blame_rows *b, const struct blame_cell *c)
{
	return sleep_of(b, c, BLAME_IO);
}

static void fill_sleep(struct blame_rows *b, const struct blame_heaviest *h,
		       struct blame_mostly *ret)
{
	const struct stack_table *t = b->q->model->stacks;
	uint32_t stack = b->cells.v[h->cell].key.why;

	ret->in = query_func_name(b->q, (uint32_t)h->key);
	ret->what = asleep_for(b->q, stack_frames(t, stack), t->stacks[stack].n);
	if (ret->state == BLAME_IO && ret->what && strncmp(ret->what, "I/O", 3) == 0)
		ret->what = NULL;
}

static void fill_spot(struct blame_rows *b, const struct blame_heaviest *h,
		      struct blame_mostly *ret)
{
	struct query_spot spot;

	query_spot_of(b->q, b->cells.v[h->cell].key.why, &spot);
	ret->in = spot.in;
	ret->call = spot.call;
}

void blame_why(struct blame_rows *b, const struct blame_group *g, uint32_t state,
	       struct blame_mostly *ret)
{
	struct blame_heaviest h;

	*ret = (struct blame_mostly){.state = state, .pct = blame_share(g->state_ns[state], g->ns)};
	if (state == BLAME_RUNNING && blame_heaviest(b, g, runs_in_function, &h))
		fill_spot(b, &h, ret);
	if (state == BLAME_RUNNABLE && blame_heaviest(b, g, kept_off_by, &h))
		ret->who = query_task_name(b->q, (uint32_t)h.key);
	if (state == BLAME_PASSED && blame_heaviest(b, g, passed_to, &h))
		ret->what = query_lock_name(b->q, (uint32_t)h.key);
	if (state == BLAME_ASLEEP && blame_heaviest(b, g, asleep_in_function, &h))
		fill_sleep(b, &h, ret);
	if (state == BLAME_IO && blame_heaviest(b, g, io_in_function, &h))
		fill_sleep(b, &h, ret);
}

void blame_mostly(struct blame_rows *b, const struct blame_group *g, struct blame_mostly *ret)
{
	uint32_t most = g->ns ? 0 : blame_first(b, g)->key.state;

	for (uint32_t i = 1; i < BLAME_STATES; i++)
		most = g->state_ns[i] > g->state_ns[most] ? i : most;
	blame_why(b, g, most, ret);
}

const char *blame_why_text(struct query *q, const struct blame_mostly *m)
{
	if (m->who)
		return arena_printf(&q->arena, "kept off by %s", m->who);
	if (m->in && m->what)
		return arena_printf(&q->arena, "%s, in %s", m->what, m->in);
	if (m->in && m->call)
		return arena_printf(&q->arena, "in %s (%s)", m->in, m->call);
	return m->in ? arena_printf(&q->arena, "in %s", m->in) : m->what;
}

const char *blame_mostly_text(struct query *q, const struct blame_mostly *m)
{
	const char *why = blame_why_text(q, m), *words = blame_state_words(m->state);
	char pct[UNITS_BUF], share[UNITS_BUF + 2] = "";

	/* Runnable is implied by another task's name, and cells have room for the name only. */
	if (m->who)
		return why;
	if (m->pct < 99.95)
		snprintf(share, sizeof(share), " %s%%", units_pct(pct, m->pct));
	return arena_printf(&q->arena, "%s%s%s%s", words, share,
			    !why      ? ""
			    : m->what ? ": "
				      : ", ",
			    why ? why : "");
}
