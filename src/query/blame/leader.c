// SPDX-License-Identifier: GPL-2.0-only
/*
 * To whom most of some charges is due: the process with most of them, or its task if it is only
 * one. Where processes of one name have more than twice as much together, these are it.
 */
#include "kontend/task.h"
#include "kontend/text.h"
#include "rows.h"

static uint64_t process_of(struct query *q, uint32_t task)
{
	const struct query_where w = {.task = task};

	return query_id(q, BY_PROCESS, &w);
}

static uint64_t name_of(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	return text_hash(comm ? comm : "");
}

static uint64_t key_of(struct query *q, bool by_name, uint32_t task)
{
	return by_name ? name_of(q, task) : process_of(q, task);
}

/* The key to which most is charged: how much. */
static uint64_t heaviest(struct blame_rows *b, const uint32_t *cells, size_t n, bool by_name,
			 uint64_t *ret_key)
{
	struct blame_weight *w = b->room;
	uint64_t most = 0, ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct blame_cell *c = &b->cells.v[cells[i]];
		w[i] = (struct blame_weight){key_of(b->q, by_name, c->key.task), c->ns, cells[i]};
	}
	blame_weights_sort(w, n);
	for (size_t i = 0; i < n; i++) {
		ns = i && w[i].key == w[i - 1].key ? ns + w[i].ns : w[i].ns;
		if (ns <= most)
			continue;
		most = ns;
		*ret_key = w[i].key;
	}
	return most;
}

bool blame_leader_has(struct blame_rows *b, const struct blame_leader *l,
		      const struct blame_cell *c)
{
	return key_of(b->q, l->is == BLAME_LEADER_NAMED, c->key.task) == l->key;
}

/* How many tasks it is. */
static void count_tasks(struct blame_rows *b, const uint32_t *cells, size_t n,
			struct blame_leader *l)
{
	const struct task *tasks = b->q->model->tasks->tasks;
	struct blame_weight *w = b->room;
	size_t used = 0;

	for (size_t i = n; i > 0; i--) {
		const struct blame_cell *c = &b->cells.v[cells[i - 1]];
		if (!blame_leader_has(b, l, c))
			continue;
		l->cell = cells[i - 1];
		l->has_first |= tasks[c->key.task].tid == tasks[c->key.task].pid;
		w[used++] = (struct blame_weight){.key = c->key.task};
	}
	blame_weights_sort(w, used);
	for (size_t i = 0; i < used; i++)
		l->tasks += !i || w[i].key != w[i - 1].key;
}

bool blame_leader(struct blame_rows *b, const uint32_t *cells, size_t n, struct blame_leader *ret)
{
	uint64_t process = 0, name = 0;
	uint64_t process_ns = heaviest(b, cells, n, false, &process);
	uint64_t name_ns = heaviest(b, cells, n, true, &name);

	*ret = (struct blame_leader){.is = BLAME_LEADER_PROCESS, .key = process, .ns = process_ns};
	if (name_ns > 2 * process_ns)
		*ret = (struct blame_leader){.is = BLAME_LEADER_NAMED, .key = name, .ns = name_ns};
	if (!ret->ns)
		return false;
	count_tasks(b, cells, n, ret);
	if (ret->tasks == 1)
		ret->is = BLAME_LEADER_TASK;
	return true;
}

const char *blame_leader_comm(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	return comm && *comm ? comm : "[unknown]";
}
