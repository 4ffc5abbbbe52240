// SPDX-License-Identifier: GPL-2.0-only
/*
 * On what the system call of a wait is, as BPF read it where the wait began: its words, and that of
 * a group of waits, on which most of its time was waited. Waits of which it was not read give way
 * to others, as in query_group_origin(). The lock of a file has the file's name.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/query-on.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/wait-on.h"
#include "kontend/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MINOR_BITS = 20 };

static const char *file_text(const struct model *m, const struct waitrec_on *on, uint64_t time_ns,
			     char buf[QUERY_ON_TEXT])
{
	uint64_t addr = waitrec_on_addr(on->dev, on->value);
	const struct lockname *n = m->lock_names ? lockname_at(m->lock_names, addr, time_ns) : NULL;

	if (!n && m->lock_names)
		n = lockname_get(m->lock_names, addr);
	if (n)
		return text_clean(buf, QUERY_ON_TEXT, n->text);
	snprintf(buf, QUERY_ON_TEXT, "inode %" PRIu64 " (%u:%u)", (uint64_t)on->value,
		 on->dev >> MINOR_BITS, on->dev & ((1u << MINOR_BITS) - 1));
	return buf;
}

/* As the process has it: NULL for its own group, or all. */
static const char *task_text(const struct model *m, int32_t id, char buf[QUERY_ON_TEXT])
{
	const uint32_t *task = id > 0 ? map64_get(&m->tasks->by_tid, (uint32_t)id) : NULL;
	const char *comm = task ? m->tasks->tasks[*task].comm : "";
	char clean[64];

	if (id >= -1 && id <= 0)
		return NULL;
	if (id < 0)
		snprintf(buf, QUERY_ON_TEXT, "process group %" PRId64, -(int64_t)id);
	else if (*comm)
		snprintf(buf, QUERY_ON_TEXT, "%s/%" PRId32, text_clean(clean, sizeof(clean), comm),
			 id);
	else
		snprintf(buf, QUERY_ON_TEXT, "process %" PRId32, id);
	return buf;
}

const char *query_on_text(const struct model *m, const struct waitrec_on *on, uint64_t time_ns,
			  char buf[QUERY_ON_TEXT], const char **ret_why)
{
	const char *text = NULL;

	*ret_why = NULL;
	switch (on->kind) {
	case WAITREC_ON_FILE:
		return file_text(m, on, time_ns, buf);
	case WAITREC_ON_TASK:
		text = task_text(m, (int32_t)on->value, buf);
		*ret_why = text ? NULL : "the system call names no single process";
		return text;
	case WAITREC_ON_HEAP:
		return "[heap]";
	case WAITREC_ON_STACK:
		return "[stack]";
	case WAITREC_ON_ANONYMOUS:
	case WAITREC_ON_MEMORY:
		snprintf(buf, QUERY_ON_TEXT, "%s0x%" PRIx64,
			 on->kind == WAITREC_ON_ANONYMOUS ? "anon " : "", (uint64_t)on->value);
		return buf;
	case WAITREC_ON_NOTHING:
		*ret_why = "the system call has no argument for one";
		return NULL;
	case WAITREC_ON_PATH:
		*ret_why = "its path is in the memory of the process";
		return NULL;
	default:
		*ret_why = "it was not read: no system call, a wait that spins, or one too many";
		return NULL;
	}
}

/* Of the lock of a file, the file. NULL: it is another one. */
static const char *file_of_lock(struct query *q, const struct lock *l)
{
	const struct lockname *n = l->addr ? query_lock_place(q, l->addr, l->begin_ns) : NULL;

	return n && query_object_has_path(n) ? n->text : NULL;
}

struct waitrec_on query_on_of(struct query *q, const struct waitrec_on *on, uint32_t stack)
{
	return query_origin(q, stack)->faults ? (struct waitrec_on){0} : *on;
}

void query_on_add_place(struct query *q, struct wait_on_most *best, uint32_t lock, uint32_t stack,
			uint64_t ns)
{
	const struct wait_ons_one *one = wait_ons_get(q->model->ons, lock, stack);

	if (!one)
		return;
	const struct waitrec_on on = query_on_of(q, &one->most.on, stack);
	wait_on_add(best, &on, ns);
	best->mixed |= one->most.mixed;
}

void query_fill_on(struct query *q, const struct wait_on_most *p, uint32_t lock, struct value *v,
		   struct value *reason)
{
	char buf[QUERY_ON_TEXT];
	const char *why, *text = query_on_text(q->model, &p->on, q->model->now_ns, buf, &why);

	if (text && text == buf)
		text = arena_printf(&q->arena, "%s", text);
	q->cache->failed |= !text && !why;
	if (!text)
		text = file_of_lock(q, &q->model->locks->locks[lock]);
	value_s(v, text);
	v->approx = p->mixed;
	if (!text)
		value_s(reason, why);
}

void query_fill_group_on(struct query *q, const struct groups *gs, const struct group *g,
			 struct value *v, struct value *reason)
{
	const struct cell *cells = query_cells(q)->cells;
	const struct model *m = q->model;
	struct wait_on_most p = {0};

	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1]) {
		const struct cell *c = &cells[i - 1];
		query_on_add_place(q, &p, c->lock, c->stack, c->total_ns + 1);
	}
	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1]) {
		const struct wait *w = &m->waits->waits[i - 1];
		const struct waitrec_on on = query_on_of(q, &w->on, w->stack);
		wait_on_add(&p, &on, query_wait_ns(m, w) + 1);
	}
	query_fill_on(q, &p, g->many_locks ? 0 : g->first.lock, v, reason);
}
