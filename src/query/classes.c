// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of one measurement by a name that means the same in another one. The groups of the tables
 * are identities (this lock, this thread); here those that share a name are added up, their
 * histograms too, so that percentiles are those of all their waits. A lock on the heap has no name:
 * it goes by the function that waits for it most, in parentheses, with all other locks of its type
 * of which the same is true. Numbers that change with each boot are in no name: an mmap_lock is
 * that of a program, a run queue that of any CPU.
 */
#include "group.h"
#include "internal.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/hist.h"
#include "kontend/locktype.h"
#include "kontend/query-classes.h"
#include "kontend/sort.h"

#include <errno.h>
#include <string.h>

struct raw {
	struct query_class class;
	uint32_t group;
};

int query_classes_compare(const struct query_class *a, const struct query_class *b)
{
	if (a->is_thing)
		return a->id < b->id ? -1 : a->id > b->id;
	int c = strcmp(a->name, b->name);
	if (c || a->typed != b->typed)
		return c ? c : (int)a->typed - (int)b->typed;
	if (!a->typed || a->type == b->type)
		return 0;
	return a->type < b->type ? -1 : 1;
}

static int class_before(const void *a, const void *b)
{
	return query_classes_compare(&((const struct raw *)a)->class,
				     &((const struct raw *)b)->class) < 0;
}

static const char *class_name(struct query *q, enum query_by by, const struct group *g)
{
	const char *name = NULL;

	switch (by) {
	case BY_LOCK:
		return query_lock_everywhere(q, g->first.lock);
	case BY_CALLER:
		name = query_func_name(q, g->func);
		return name ? name : "(no call chain)";
	case BY_TASK:
		name = query_task_comm(q, g->first.task);
		break;
	case BY_PROCESS:
		name = query_process_comm(q, g->first.task);
		break;
	case BY_TYPE:
		return locktype_name((enum lock_type)g->type);
	case BY_CPU:
		return arena_printf(&q->arena, "CPU %u", g->first.cpu);
	case BY_CGROUP:
		name = query_cgroup_name(q, g->id);
		break;
	case BY_OWNER:
		if (g->first.owner == OWNER_FREE)
			return "(free)";
		name = query_task_comm(q, cell_owner_task(g->first.owner));
		if (g->first.owner & OWNER_HINT && name)
			name = arena_printf(&q->arena, "%s R?", name);
		break;
	case BY_SYSCALL:
		name = query_origin(q, g->first.stack)->syscall;
		break;
	case BY_AT:
		name = query_origin(q, g->first.stack)->at;
		break;
	case BY_STACK:
		name = query_chain(q, g->first.stack);
		return name ? name : "(no call chain)";
	default:
		break;
	}
	return name ? name : "(unknown)";
}

/* Classes that are rows of the table of locks, too. */
static const char *thing_name(struct query *q, enum query_by by, const struct group *g)
{
	switch (by) {
	case BY_LOCK:
		return query_lock_name(q, g->first.lock);
	case BY_TASK:
		return query_task_name(q, g->first.task);
	case BY_PROCESS:
		return query_process_name(q, g->first.task);
	default:
		return class_name(q, by, g);
	}
}

static bool is_typed(enum query_by by)
{
	return by == BY_LOCK || by == BY_CALLER || by == BY_TYPE;
}

static int name_groups(struct query *q, enum query_by by, enum query_sameness same,
		       const struct groups *gs, struct raw *rows)
{
	bool is_thing = same == QUERY_SAME_THING;

	for (size_t i = 0; i < gs->n; i++) {
		const struct group *g = &gs->g[i];

		rows[i].class.is_thing = is_thing;
		rows[i].class.id = g->id;
		rows[i].class.name = is_thing ? thing_name(q, by, g) : class_name(q, by, g);
		if (!rows[i].class.name || q->cache->failed)
			return -ENOMEM;
		rows[i].class.typed = is_typed(by);
		rows[i].class.type = (enum lock_type)g->type;
		rows[i].group = (uint32_t)i;
	}
	return 0;
}

static void add_group(struct query *q, const struct groups *gs, const struct group *g,
		      struct query_class *c, struct hist *h)
{
	const struct cell_table *t = query_cells(q);

	c->waiting += g->waiting;
	c->n += g->n;
	c->total_ns += g->total_ns;
	/* Waits in flight may have begun before the window. */
	c->waited_ns += query_has_window(q) ? g->rate_wait_ns : g->waited_ns;
	if (g->n && (!c->max_ns || g->min_ns < c->min_ns))
		c->min_ns = g->min_ns;
	if (g->n && g->max_ns > c->max_ns)
		c->max_ns = g->max_ns;
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		cell_hist(t, &t->cells[i - 1], h);
}

static int keep_hist(struct query *q, struct query_class *c, const struct hist *h)
{
	struct hist *kept = arena_alloc(&q->arena, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	*kept = *h;
	kept->n = c->n;
	c->hist = kept;
	return 0;
}

int query_classes(struct query *q, const struct query_spec *s, enum query_sameness same,
		  struct query_classes *ret)
{
	struct query_classes answer = {0};
	struct groups gs;
	struct raw *rows, *room;

	if (query_sync(q) < 0 || query_group(q, s->by, &s->scope, &gs) < 0)
		return -ENOMEM;
	rows = arena_alloc(&q->arena, (gs.n + 1) * sizeof(*rows));
	room = arena_alloc(&q->arena, (gs.n + 1) * sizeof(*room));
	answer.classes = arena_alloc(&q->arena, (gs.n + 1) * sizeof(*answer.classes));
	if (!rows || !room || !answer.classes || name_groups(q, s->by, same, &gs, rows) < 0)
		return -ENOMEM;
	sort_merge(rows, room, gs.n, sizeof(*rows), class_before);
	for (size_t i = 0; i < gs.n;) {
		struct query_class *c = &answer.classes[answer.n++];
		struct hist h = {0};

		*c = rows[i].class;
		for (; i < gs.n && query_classes_compare(c, &rows[i].class) == 0; i++)
			add_group(q, &gs, &gs.g[rows[i].group], c, &h);
		c->p99_ns = hist_percentile(&h, 99, c->min_ns, c->max_ns);
		if (s->buckets && keep_hist(q, c, &h) < 0)
			return -ENOMEM;
	}
	*ret = answer;
	return 0;
}
