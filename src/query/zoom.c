// SPDX-License-Identifier: GPL-2.0-only
/*
 * A part of the profile, as a list of terms that all hold: one thread, one file, one group. A term
 * is asked of each cell, before it is added up, so that all tables of these cells are about that
 * part alone, and about the waits in it.
 */
#include "hot/list.h"
#include "kontend/number.h"
#include "kontend/profile.h"
#include "kontend/query-zoom.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *key, *name;
} kinds[QUERY_ZOOM_KINDS] = {
	[ZOOM_PID] = {"pid", "process"},      [ZOOM_TID] = {"tid", "thread"},
	[ZOOM_TASK] = {"", "thread"},	      [ZOOM_COMM] = {"comm", "name"},
	[ZOOM_OBJECT] = {"object", "object"}, [ZOOM_GROUP] = {"group", "group"},
	[ZOOM_CPU] = {"cpu", "cpu"},
};

const char *query_zoom_kind_name(enum query_zoom_kind kind)
{
	return kinds[kind].name;
}

static int parse_group(const char *s, const struct pathgroups *own, uint64_t *ret)
{
	enum path_group g = PATH_NONE;

	if (strcmp(s, "other") != 0 && pathgroup_lookup(own, s, &g) < 0)
		return -EINVAL;
	*ret = g;
	return 0;
}

static int parse_value(enum query_zoom_kind kind, const char *value, const struct pathgroups *own,
		       uint64_t *ret)
{
	switch (kind) {
	case ZOOM_COMM:
	case ZOOM_OBJECT:
		*ret = 0;
		return *value && strlen(value) < QUERY_ZOOM_NAME ? 0 : -EINVAL;
	case ZOOM_GROUP:
		return parse_group(value, own, ret);
	default:
		return number_parse(value, 0, INT32_MAX, ret) < 0 ? -EINVAL : 0;
	}
}

static enum query_zoom_kind find_kind(const char *s, size_t len)
{
	unsigned k = 0;

	while (k < QUERY_ZOOM_KINDS &&
	       (!len || strlen(kinds[k].key) != len || memcmp(kinds[k].key, s, len) != 0))
		k++;
	return (enum query_zoom_kind)k;
}

int query_zoom_parse(const char *s, const struct pathgroups *own, struct query_zoom *z,
		     struct error *err)
{
	size_t len = strcspn(s, "=");
	struct query_zoom_term t = {.kind = find_kind(s, len)};

	if (t.kind == QUERY_ZOOM_KINDS || s[len] != '=')
		return error_set(err, -EINVAL,
				 "--zoom '%s' is no KEY=VALUE: keys are " QUERY_ZOOM_NAMES, s);
	if (parse_value(t.kind, s + len + 1, own, &t.id) < 0)
		return error_set(err, -EINVAL, "--zoom '%s': '%s' is no %s", s, s + len + 1,
				 t.kind == ZOOM_GROUP ? "group, like rwsem or perf"
						      : query_zoom_kind_name(t.kind));
	if (z->n == QUERY_ZOOM_TERMS)
		return error_set(err, -EINVAL, "--zoom may be given %d times at most",
				 QUERY_ZOOM_TERMS);
	snprintf(t.name, sizeof(t.name), "%s", s + len + 1);
	z->terms[z->n++] = t;
	return 0;
}

static bool has_task(struct query *q, const struct query_zoom_term *t, uint32_t index)
{
	const struct task *task = &q->model->tasks->tasks[index];
	const char *comm;

	switch (t->kind) {
	case ZOOM_PID:
		return (uint32_t)task->pid == t->id;
	case ZOOM_TID:
		return (uint32_t)task->tid == t->id;
	case ZOOM_TASK:
		return task->serial == t->id;
	default:
		comm = query_task_comm(q, index);
		return comm && strcmp(comm, t->name) == 0;
	}
}

static bool is_object(struct query *q, const struct query_zoom_term *t, uint32_t func)
{
	const char *object = hot_object_name(q, func);
	const char *slash = object ? strrchr(object, '/') : NULL;

	if (!object)
		return false;
	if (t->id)
		return text_hash(object) == t->id;
	return strcmp(object, t->name) == 0 || (slash && strcmp(slash + 1, t->name) == 0);
}

static bool has_sample(const struct hot_rows *h, const struct query_zoom_term *t,
		       const struct profile_cell *c)
{
	switch (t->kind) {
	case ZOOM_OBJECT:
		return is_object(h->q, t, hot_leaf(h, c->stack));
	case ZOOM_GROUP:
		return h->groups[c->stack] == t->id;
	case ZOOM_CPU:
		return c->cpu == t->id;
	default:
		return has_task(h->q, t, c->task);
	}
}

bool hot_zoom_sample(const struct hot_rows *h, const struct profile_cell *c)
{
	/* All of its samples have moved to the cells of their whole chains. */
	if (!c->n)
		return false;
	for (size_t i = 0; h->zoom && i < h->zoom->n; i++)
		if (!has_sample(h, &h->zoom->terms[i], c))
			return false;
	return true;
}

static bool passes_object(struct query *q, const struct query_zoom_term *t, uint32_t stack)
{
	const struct stack_table *s = q->model->stacks;

	for (uint32_t i = 0; i < s->stacks[stack].n; i++)
		if (is_object(q, t, query_func(q, stack_frames(s, stack)[i])))
			return true;
	return false;
}

static bool has_wait(struct query *q, const struct query_zoom_term *t, const struct query_where *w)
{
	const struct stack_table *s = q->model->stacks;

	switch (t->kind) {
	case ZOOM_OBJECT:
		return passes_object(q, t, w->stack);
	case ZOOM_GROUP:
		return hot_group_of_chain(q, stack_frames(s, w->stack), s->stacks[w->stack].n) ==
		       (enum path_group)t->id;
	case ZOOM_CPU:
		return w->cpu == t->id;
	default:
		return has_task(q, t, w->task);
	}
}

bool hot_zoom_wait(struct query *q, const struct query_zoom *z, const struct query_where *w)
{
	for (size_t i = 0; z && i < z->n; i++)
		if (!has_wait(q, &z->terms[i], w))
			return false;
	return true;
}
