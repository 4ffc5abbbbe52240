// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owners of events that take turns on a CPU, by the latest snapshot: those of contexts that
 * rotate, of the CPU itself or of tasks, as far as they may count on this CPU. The kernel takes the
 * mark off a task's context when the task goes off its CPU, so at the moment of the look no context
 * may have it though contexts rotate all the time; then it is all that take counters, and that is a
 * guess.
 */
#include "../internal.h"
#include "kontend/mem.h"
#include "list.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static bool takes_counter(const struct snap_event *e)
{
	return e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_HW_CACHE ||
	       e->type == PERF_TYPE_RAW || (e->flags & SNAP_ROTATES);
}

static bool is_for(const struct snap_event *e, uint32_t cpu)
{
	return e->state >= SNAP_INACTIVE && (e->cpu < 0 || e->cpu == (int32_t)cpu) &&
	       takes_counter(e);
}

/* A task's event for another CPU, which is among those that may count on this one. */
static bool is_elsewhere(const struct snap_event *e, uint32_t cpu)
{
	return e->state >= SNAP_INACTIVE && e->cpu >= 0 && e->cpu != (int32_t)cpu &&
	       e->target_tid && takes_counter(e);
}

static struct query_owner *owner_of(struct query_culprits *c, int32_t pid, uint32_t comm)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->owners[i].pid == pid)
			return &c->owners[i];
	c->owners[c->n] = (struct query_owner){.pid = pid, .comm = comm};
	return &c->owners[c->n++];
}

static void add_event(const struct query_perf *p, struct query_culprits *c, size_t i)
{
	const struct snap_event *e = &p->snap->events[i];
	struct query_keeper k = query_perf_keeper(p, i);
	bool known = e->owner_pid != 0;
	const char *pmu = perfsnap_text(p->snap, e->pmu);

	struct query_owner *o =
		owner_of(c, known ? e->owner_pid : k.pid, known ? e->owner_comm : k.comm);
	o->events++;
	o->of_tasks += e->target_tid != 0;
	if (!c->events)
		c->pmu = pmu;
	else if (c->pmu && strcmp(c->pmu, pmu) != 0)
		c->pmu = NULL;
	c->events++;
}

/* @marks: by context, NULL: all. */
static void collect(const struct query_perf *p, uint32_t cpu, const bool *marks,
		    struct query_culprits *c)
{
	for (size_t i = 0; i < p->snap->n_events; i++) {
		const struct snap_event *e = &p->snap->events[i];
		if (marks && !marks[e->context])
			continue;
		if (is_for(e, cpu))
			add_event(p, c, i);
		c->elsewhere += is_elsewhere(e, cpu);
	}
}

/* The mark may have come or gone while the events of a context were read: one that has it will do.
 */
static void mark_contexts(const struct query_perf *p, uint32_t cpu, bool *marks)
{
	for (size_t i = 0; i < p->snap->n_events; i++) {
		const struct snap_event *e = &p->snap->events[i];
		if (is_for(e, cpu) && (e->flags & SNAP_ROTATES))
			marks[e->context] = true;
	}
}

static void sort_owners(struct query_culprits *c)
{
	for (size_t i = 1; i < c->n; i++) {
		struct query_owner o = c->owners[i];
		size_t k = i;
		for (; k > 0 && c->owners[k - 1].events < o.events; k--)
			c->owners[k] = c->owners[k - 1];
		c->owners[k] = o;
	}
}

const struct pmus_item *query_rotation_pmu(const struct pmus *pmus, const struct query_culprits *c)
{
	const struct pmus_item *item = c->pmu ? pmus_find(pmus, c->pmu) : NULL;

	return item || pmus->n != 1 ? item : &pmus->items[0];
}

const char *query_owner_kind(const struct query_owner *o)
{
	if (!o->of_tasks)
		return "cpu-wide";
	return o->of_tasks == o->events ? "per task" : "cpu-wide and per task";
}

int query_rotation_culprits(struct query *q, const struct query_perf *p, uint32_t cpu,
			    struct query_culprits *ret)
{
	size_t n_marks = p->snap->n_contexts + 1;
	struct query_culprits c = {0};
	bool *marks = arena_alloc(&q->arena, n_marks * sizeof(*marks));

	c.owners = arena_alloc(&q->arena, (p->snap->n_events + 1) * sizeof(*c.owners));
	if (!c.owners || !marks)
		return -ENOMEM;
	memset(marks, 0, n_marks * sizeof(*marks));
	mark_contexts(p, cpu, marks);
	collect(p, cpu, marks, &c);
	if (!c.n) {
		c.guessed = true;
		c.elsewhere = 0;
		collect(p, cpu, NULL, &c);
	}
	sort_owners(&c);
	*ret = c;
	return 0;
}
