// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of flame graphs and folded stacks: every call chain from the outside in, below the name
 * of its task, with both weights. Samples and waits of the same path meet in one node, so one tree
 * serves either weight, and CPU time can be compared with waiting.
 */
#include "../trie.h"
#include "blame/rows.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/profile.h"
#include "kontend/query-flame.h"
#include "kontend/query-tree.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "list.h"
#include "names/names.h"

#include <errno.h>

struct build {
	struct query *q;
	const struct query_flame_spec *spec;
	struct hot_rows rows;
	struct trie trie;
	uint32_t *task_labels;
	uint32_t type_labels[LOCK_TYPES];
};

static uint32_t task_label(struct build *b, uint32_t task)
{
	uint32_t *label = &b->task_labels[task];
	const char *comm;

	if (!*label) {
		comm = task == TASK_OTHER ? hot_no_task(b->q) : query_task_comm_or_idle(b->q, task);
		*label = trie_label(&b->trie, comm ? comm : "[unknown]", PATH_NONE);
	}
	return *label;
}

/* Kinds of locks have the names of their groups; two of them go by another. */
static uint32_t type_label(struct build *b, enum lock_type type)
{
	uint32_t *label = &b->type_labels[type];
	const char *text;

	if (!*label) {
		text = arena_printf(&b->q->arena, "[%s]", locktype_name(type));
		*label = text ? trie_label(&b->trie, text, PATH_LOCK) : 0;
	}
	return *label;
}

/* @last: a label after the innermost frame; 0: none. */
static int add_chain(struct build *b, uint32_t task, const struct query_chain *c, uint32_t last,
		     const struct trie_sum *sum)
{
	uint32_t path[QUERY_FLAME_LEVELS], len = 0;

	path[len++] = task_label(b, task);
	if (!path[0] || !c)
		return -ENOMEM;
	for (uint32_t i = c->n; i-- > 0;)
		path[len++] = c->funcs[i];
	if (!c->n)
		path[len++] = 0;
	if (last)
		path[len++] = last;
	return trie_add(&b->trie, path, len, sum);
}

/* The weight of @task only counts in the sum of everything. */
static bool leads_nowhere(struct build *b, uint32_t task)
{
	return b->trie.closed && !trie_has(&b->trie, task_label(b, task));
}

static int add_sample(struct build *b, const struct profile_cell *c)
{
	const struct trie_sum sum = {.n = c->n};

	if (leads_nowhere(b, c->task))
		return trie_add(&b->trie, NULL, 0, &sum);
	return add_chain(b, c->task, query_sample_chain(b->q, c->stack), 0, &sum);
}

static int add_samples(struct build *b)
{
	const struct profile *p = b->rows.p;

	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (b->spec->locks && !hot_is_lock_path((enum path_group)b->rows.groups[c->stack]))
			continue;
		if (!hot_zoom_sample(&b->rows, c))
			continue;
		int r = add_sample(b, c);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_wait(struct build *b, const struct query_where *w, uint64_t ns, uint64_t max)
{
	const struct model *m = b->q->model;
	const struct trie_sum sum = {.total_ns = ns, .max_ns = max};
	uint32_t type;

	if (!ns || w->stack >= m->stacks->n || !query_in_scope(b->q, &b->spec->scope, w) ||
	    !hot_zoom_wait(b->q, b->spec->zoom, w))
		return 0;
	if (leads_nowhere(b, w->task))
		return trie_add(&b->trie, NULL, 0, &sum);
	type = type_label(b, (enum lock_type)m->locks->locks[w->lock].type);
	if (!type)
		return -ENOMEM;
	return add_chain(b, w->task, query_wait_chain(b->q, w->stack), type, &sum);
}

static int add_waits(struct build *b)
{
	const struct model *m = b->q->model;
	const struct cell_table *t = query_cells(b->q);
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		const struct query_where w = query_cell_where(c);
		r = add_wait(b, &w, c->total_ns, cell_sums(t, c).max_ns);
	}
	for (uint32_t i = 1; r == 0 && m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *wait = &m->waits->waits[i];
		const struct query_where w = query_wait_where(wait);
		uint64_t ns = query_wait_ns(m, wait);
		if (wait->used && !wait->doubtful)
			r = add_wait(b, &w, ns, ns);
	}
	return r;
}

/* First what boxes are made of. */
static int add_both(struct build *b)
{
	const struct query_flame_spec *s = b->spec;
	int (*const add[])(struct build *) = {add_samples, add_waits};
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++) {
		bool waits = s->by_wait == (i == 0);
		r = waits || !s->scope.mask ? add[waits](b) : 0;
		b->trie.closed = s->boxes_only;
	}
	return r;
}

int query_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret)
{
	struct query_tree out = {0};
	struct build b = {
		.q = q,
		.spec = s,
		.rows = {.q = q, .zoom = s->zoom},
		.trie = {.q = q, .by_count = !s->by_wait, .by_name = true, .out = &out},
	};

	if (s->blame)
		return blame_flame(q, s, ret);
	if (query_sync(q) < 0 || trie_begin(&b.trie) < 0)
		return -ENOMEM;
	b.rows.p = query_profile(q);
	b.rows.groups = hot_groups(q);
	b.task_labels = arena_alloc(&q->arena, (q->model->tasks->n + 1) * sizeof(*b.task_labels));
	if (!b.rows.groups || !b.task_labels)
		return -ENOMEM;
	if (add_both(&b) < 0 || trie_emit(&b.trie) < 0 || q->cache->failed)
		return -ENOMEM;
	*ret = out;
	return 0;
}

int query_flame_named(struct query *q, const struct query_flame_spec *s, struct query_tree *ret)
{
	int r = hot_load_chains(q);

	return r < 0 ? r : query_flame(q, s, ret);
}

enum query_frame query_flame_frame(const struct query_node *n)
{
	if (n->group > PATH_IDLE)
		return FRAME_LOCK;
	if (!n->addr)
		return n->depth ? FRAME_KERNEL : FRAME_NAME;
	return map_frame_is_kernel(n->addr) ? FRAME_KERNEL : FRAME_USER;
}
