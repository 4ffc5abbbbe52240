// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter of waits as they arrive. Names may become known, and tasks be renamed, while it is
 * asked: so a term's answer is cached for call chains alone, and only until chains get new numbers.
 *
 * Where another engine has read the whole of the same recording, that one is asked instead, and
 * knows all names. Tables give other numbers once they were folded, so the lock, the chain and the
 * tasks of a wait are looked up there by address, frames and id; the number found is kept until the
 * stream gives new numbers.
 */
#include "kontend/event-filter.h"
#include "kontend/cell-owner.h"
#include "kontend/lock.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "wait-filter.h"

#include <errno.h>
#include <string.h>

/* By number in the stream: the number in the whole recording, + 1; 0: not looked up. */
struct gate_numbers {
	uint32_t *of;
	size_t n;
};

struct event_filter {
	struct query q;
	const struct model *stream; /* whose waits they are */
	bool knows;		    /* `q` is about the whole recording, not about the stream */
	struct gate_numbers locks, stacks, tasks;
	struct map64 by_serial; /* number of a task that is known */
	struct only only;
	struct arena arena;
	char *filter;
	uint64_t generation;
	unsigned n; /* waits since names were last given back */
};

enum { GATE_FRAME = 4096 };

static int index_tasks(struct event_filter *g)
{
	const struct task_table *t = g->q.model->tasks;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < t->n; i++)
		r = map64_put(&g->by_serial, t->tasks[i].serial, i);
	return r;
}

int event_filter_new(struct event_filter **ret, const struct engine *e, const struct engine *known,
		     const char *filter, struct error *err)
{
	struct event_filter *g = mem_calloc(1, sizeof(*g));
	int r = g ? query_init(&g->q, known ? known : e) : -ENOMEM;

	if (r == 0) {
		g->stream = e->model;
		g->knows = known != NULL;
		g->filter = mem_dup(filter, strlen(filter) + 1, 1);
		r = g->filter ? only_init(&g->only, &g->q, &g->arena, filter, err) : -ENOMEM;
		g->only.streams = !known;
	}
	if (r == 0 && known)
		r = index_tasks(g) < 0 || only_load_names(&g->only) < 0 ? -ENOMEM : 0;
	if (r == 0) {
		*ret = g;
		return 0;
	}
	event_filter_free(g);
	return r == -ENOMEM ? query_enomem(err, "filter") : r;
}

void event_filter_free(struct event_filter *g)
{
	if (!g)
		return;
	only_deinit(&g->only);
	arena_deinit(&g->arena);
	map64_deinit(&g->by_serial);
	mem_free(g->locks.of);
	mem_free(g->stacks.of);
	mem_free(g->tasks.of);
	mem_free(g->filter);
	if (g->q.cache)
		query_deinit(&g->q);
	mem_free(g);
}

/* Chains have new numbers, or there is much in the arena that was only needed for a moment. */
static void gate_renew(struct event_filter *g)
{
	query_begin(&g->q);
	g->n = 0;
	if (g->generation == g->q.model->generation)
		return;
	g->generation = g->q.model->generation;
	only_deinit(&g->only);
	arena_reset(&g->arena);
	if (only_init(&g->only, &g->q, &g->arena, g->filter, NULL) < 0)
		g->only.f = (struct filter){0};
	g->only.streams = true;
}

unsigned event_filter_asks(const struct event_filter *g)
{
	return only_asks(&g->only);
}

static uint32_t find_lock(const struct event_filter *g, uint32_t lock)
{
	const struct lock *l = &g->stream->locks->locks[lock];
	const struct lock_table *known = g->q.model->locks;
	uint32_t at = lock < LOCK_TYPES ? lock : lock_by_id(known, l->id);

	return at < known->n && known->locks[at].addr == l->addr ? at : l->type;
}

static uint32_t find_stack(const struct event_filter *g, uint32_t stack)
{
	const struct stack_table *t = g->stream->stacks;

	return stack_find(g->q.model->stacks, stack_frames(t, stack), t->stacks[stack].n);
}

static uint32_t find_task(const struct event_filter *g, uint32_t task)
{
	const struct task *t = &g->stream->tasks->tasks[task];
	const uint32_t *at = task == TASK_OTHER ? NULL : map64_get(&g->by_serial, t->serial);

	return at && g->q.model->tasks->tasks[*at].tid == t->tid ? *at : TASK_OTHER;
}

/* Without memory it is looked up each time. */
static uint32_t number(const struct event_filter *g, struct gate_numbers *m, uint32_t i,
		       uint32_t (*find)(const struct event_filter *g, uint32_t i))
{
	if (i >= m->n) {
		size_t n = (size_t)i * 2 + 1024;
		uint32_t *of = mem_resize(m->of, n, sizeof(*of));
		if (!of)
			return find(g, i);
		memset(of + m->n, 0, (n - m->n) * sizeof(*of));
		*m = (struct gate_numbers){of, n};
	}
	if (!m->of[i])
		m->of[i] = find(g, i) + 1;
	return m->of[i] - 1;
}

static void forget_numbers(struct gate_numbers *m)
{
	if (m->n)
		memset(m->of, 0, m->n * sizeof(*m->of));
}

/* The same place where all is known. */
static struct query_where place_in_known(struct event_filter *g, const struct query_where *w)
{
	uint32_t owner = cell_owner_task(w->owner);

	if (g->generation != g->stream->generation) {
		g->generation = g->stream->generation;
		forget_numbers(&g->locks);
		forget_numbers(&g->stacks);
		forget_numbers(&g->tasks);
	}
	struct query_where known = {.lock = number(g, &g->locks, w->lock, find_lock),
				    .stack = number(g, &g->stacks, w->stack, find_stack),
				    .task = number(g, &g->tasks, w->task, find_task),
				    .cpu = w->cpu,
				    .owner = w->owner};
	if (owner)
		known.owner = number(g, &g->tasks, owner, find_task) | (w->owner & OWNER_HINT);
	return known;
}

bool event_filter_passes(struct event_filter *g, const struct wait *w)
{
	struct query_where where = query_wait_where(w);

	if (!only_knows(g->stream, &where))
		return false;
	if (g->knows)
		where = place_in_known(g, &where);
	else if (g->n++ == GATE_FRAME || g->generation != g->q.model->generation)
		gate_renew(g);
	if (query_sync(&g->q) < 0 || !only_knows(g->q.model, &where))
		return false;
	return only_has_wait(&g->only, &where);
}
