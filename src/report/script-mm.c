// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of the mmap_lock events. The time of a line is the one from the previous event, which the
 * model has just added to its sums: a wait if the lock is acquired, a hold if it is released or
 * downgraded to a read lock. The process is the model's owner of the address space.
 */
#include "kontend/jsonw.h"
#include "kontend/mmlock.h"
#include "kontend/task.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "script-int.h"

struct mm_line {
	const struct event *ev;
	const struct mmlocks *locks;
	const char *event, *comm, *owner, *memcg; /* NULL: unknown */
	int32_t owner_pid;			  /* 0: unknown */
	uint64_t lock;				  /* 0: unknown */
	char comm_buf[EVENT_NAMES_TEXT], owner_buf[EVENT_NAMES_TEXT];
};

static uint32_t task_of(const struct engine *e, int32_t tid)
{
	const uint32_t *task = map64_get(&e->model->tasks->by_tid, (uint32_t)tid);

	return task ? *task : TASK_OTHER;
}

static const char *event_of(const struct event *ev, const struct mmlocks *l)
{
	if (ev->kind == EVENT_MM_START)
		return "start";
	if (ev->kind == EVENT_MM_RELEASED)
		return "released";
	if (!ev->mm.success)
		return "failed";
	return l->last_end == MMLOCK_ENDS_HOLD ? "downgrade" : "acquired";
}

static void describe(const struct engine *e, const struct event *ev, struct mm_line *ret)
{
	const struct mmlocks *l = e->model->mmlocks;
	const uint32_t *at = map64_get(&l->by_mm, ev->mm.mm);
	const struct mmlock_mm *m = at && *at < l->n ? &l->mms[*at] : NULL;

	ret->ev = ev;
	ret->locks = l;
	ret->event = event_of(ev, l);
	ret->comm = event_names_comm(e, task_of(e, ev->tid), ret->comm_buf);
	ret->lock = l->lock_offset ? ev->mm.mm + l->lock_offset : 0;
	ret->owner_pid = m ? m->pid : 0;
	ret->owner = NULL;
	if (ret->owner_pid > 0)
		ret->owner = event_names_comm(e, task_of(e, ret->owner_pid), ret->owner_buf);
	ret->memcg = m ? m->memcg : NULL;
}

/* The kind of the time since the previous event. */
static const char *time_kind(const struct mm_line *l, bool ends)
{
	if (!ends || !l->locks->last_end)
		return "-";
	return l->locks->last_end == MMLOCK_ENDS_WAIT ? "waited" : "held";
}

static void put_text(const struct mm_line *l, FILE *out)
{
	char name[SCRIPT_LINE_TASK], ns[UNITS_BUF] = "-";
	bool ends = l->ev->kind != EVENT_MM_START;
	const struct script_line columns = {
		.comm = l->comm,
		.tid = l->ev->tid,
		.event = l->event,
		.type = l->ev->mm.write ? "mmap_lock:W" : "mmap_lock:R",
		.lock = name,
		.flags = "-",
		.wait = ends && !l->locks->last_end ? "?" : ns,
		.caller = time_kind(l, ends),
	};
	struct textbuf b = textbuf_make(name, sizeof(name));

	if (l->owner_pid) {
		script_line_task(name, l->owner, l->owner_pid);
	} else {
		textbuf_str(&b, "mm ");
		textbuf_hex(&b, l->ev->mm.mm);
		textbuf_end(&b);
	}
	if (ends && l->locks->last_end)
		units_ns(ns, l->locks->last_ns);
	script_line_put(l->ev, &columns, out);
}

static void put_ns(struct jsonw *j, const char *name, const struct mm_line *l,
		   enum mmlock_end which)
{
	if (l->locks->last_end == which)
		jsonw_u64(j, name, l->locks->last_ns);
	else
		jsonw_null(j, name);
}

static void put_json(const struct mm_line *l, FILE *out)
{
	const struct event *ev = l->ev;
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', true);
	jsonw_u64(&j, "time_ns", ev->time);
	jsonw_u64(&j, "cpu", ev->cpu);
	jsonw_str(&j, "event", l->event);
	jsonw_i64(&j, "pid", taskid_number(ev->pid));
	jsonw_i64(&j, "tid", taskid_number(ev->tid));
	jsonw_str(&j, "comm", l->comm);
	jsonw_hex(&j, "mm", ev->mm.mm);
	if (l->lock)
		jsonw_hex(&j, "lock", l->lock);
	else
		jsonw_null(&j, "lock");
	jsonw_str(&j, "type", "mmap_lock");
	jsonw_str(&j, "mode", ev->mm.write ? "W" : "R");
	if (l->owner_pid)
		jsonw_i64(&j, "mm_pid", l->owner_pid);
	else
		jsonw_null(&j, "mm_pid");
	jsonw_str(&j, "mm_comm", l->owner);
	jsonw_str(&j, "memcg", l->memcg);
	put_ns(&j, "wait_ns", l, MMLOCK_ENDS_WAIT);
	put_ns(&j, "hold_ns", l, MMLOCK_ENDS_HOLD);
	jsonw_end(&j, '}');
}

bool script_mm_is(const struct event *ev)
{
	return ev->kind == EVENT_MM_START || ev->kind == EVENT_MM_ACQUIRED ||
	       ev->kind == EVENT_MM_RELEASED;
}

void script_mm_put(const struct engine *e, const struct event *ev, FILE *out, bool json)
{
	struct mm_line l;

	describe(e, ev, &l);
	if (json)
		put_json(&l, out);
	else
		put_text(&l, out);
}
