// SPDX-License-Identifier: GPL-2.0-only
/*
 * The latest look has counted the tasks that sleep in futexes, for locks of files and for I/O.
 * Tasks that sleep uninterruptibly may do so for a lock of the kernel, which the model knows: these
 * are taken off.
 */
#include "internal.h"
#include "kontend/lock.h"
#include "kontend/query-elsewhere.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "locks/queues.h"
#include "names/names.h"
#include "slept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fewer are no reason to say anything. */
enum { LEAST = 2, FUTEXES_MOST = 4 };

static const char *const kind_names[LOCKSNAP_SLEEPS] = {
	[LOCKSNAP_FUTEX] = "futex",
	[LOCKSNAP_FILE_LOCK] = "file_lock",
	[LOCKSNAP_IO] = "io",
	[LOCKSNAP_DISK] = "uninterruptible",
};

static const char *const kind_words[LOCKSNAP_SLEEPS] = {
	[LOCKSNAP_FUTEX] = "in futex (user space)",
	[LOCKSNAP_FILE_LOCK] = "for file locks",
	[LOCKSNAP_IO] = "for I/O",
	[LOCKSNAP_DISK] = "uninterruptibly (state D)",
};

/* Tasks sleep interruptibly for files. */
static bool is_uninterruptible(const struct model *m, const struct wait *w)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;

	return !locktype_is_spin(type) && !locktype_is_file(type) && !locktype_is_user(type);
}

/* Tasks of a process that sleep for a lock of the kernel. */
static uint32_t sleeping_waits(const struct model *m, int32_t pid)
{
	const struct wait_pool *p = m->waits;
	uint32_t n = 0;

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (w->used && w->task != TASK_OTHER && m->tasks->tasks[w->task].pid == pid &&
		    is_uninterruptible(m, w))
			n++;
	}
	return n;
}

static void put_sleepers(struct query *q, const struct locksnap *s,
			 const struct locksnap_sleepers *from, struct query_elsewhere *e)
{
	uint32_t off = from->idle;

	if (from->kind == LOCKSNAP_DISK)
		off = sleeping_waits(q->engine->model, from->pid);
	uint32_t tasks = from->tasks > off ? from->tasks - off : 0;
	e->tasks[from->kind] += tasks;
	e->idle += from->idle;
	if (!tasks && !from->idle)
		return;
	const char *comm = locksnap_text(s, from->comm);
	e->rows[e->n++] = (struct query_elsewhere_row){
		.kind = (enum locksnap_sleeps)from->kind,
		.kind_name = kind_names[from->kind],
		.process = query_in_words(q, query_slash(&q->arena, comm, from->pid, "-")),
		.comm = comm,
		.pid = taskid_number(from->pid),
		.tasks = tasks,
		.idle = from->idle,
	};
}

static int by_tasks(const void *a, const void *b)
{
	const struct query_elsewhere_row *x = a, *y = b;

	if (x->tasks != y->tasks)
		return x->tasks > y->tasks ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int by_futex_tasks(const void *a, const void *b)
{
	const struct query_futex_row *x = a, *y = b;

	if (x->tasks != y->tasks)
		return x->tasks > y->tasks ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->what, y->what);
}

static int add_futexes(struct query *q, const struct locksnap *s, struct query_elsewhere *ret)
{
	static const char *const classes[LOCKSNAP_FUTEX_CLASSES] = {
		[LOCKSNAP_FUTEX_UNKNOWN] = "unknown",
		[LOCKSNAP_FUTEX_LOCK] = "lock",
		[LOCKSNAP_FUTEX_WAIT] = "wait",
	};

	ret->futexes = arena_alloc(&q->arena, (s->n_futexes + 1) * sizeof(*ret->futexes));
	if (!ret->futexes)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_futexes; i++) {
		const struct locksnap_futex *f = &s->futexes[i];
		const char *comm = locksnap_text(s, f->comm);
		if (strcmp(locksnap_text(s, f->what), LOCKSNAP_32BIT) == 0)
			ret->tasks_32bit += f->tasks;
		ret->futexes[i] = (struct query_futex_row){
			.class = classes[f->class],
			.what = locksnap_text(s, f->what),
			.process = query_in_words(q, query_slash(&q->arena, comm, f->pid, "-")),
			.comm = comm,
			.pid = taskid_number(f->pid),
			.tasks = f->tasks,
		};
	}
	ret->n_futexes = s->n_futexes;
	if (ret->n_futexes)
		qsort(ret->futexes, ret->n_futexes, sizeof(*ret->futexes), by_futex_tasks);
	return 0;
}

static int add_slept(struct query *q, struct query_elsewhere *ret)
{
	struct query_slept s;
	int code = query_slept(q, &s);

	ret->sums_sleeps = s.known;
	ret->sleeps_reason = s.reason;
	ret->slept_span_ns = s.span_ns;
	ret->sleeps_dropped = s.dropped;
	for (size_t i = 0; i < s.n; i++) {
		ret->sleeps += s.rows[i].sleeps;
		ret->slept_ns += s.rows[i].total_ns;
	}
	return code;
}

int query_elsewhere(struct query *q, struct query_elsewhere *ret)
{
	const struct locksnap *s = query_queues(q);

	*ret = (struct query_elsewhere){.reason = "", .sleeps_reason = ""};
	ret->futex_reason = q->engine->model->user_seen->reason;
	if (add_slept(q, ret) < 0)
		return -ENOMEM;
	ret->counts_futexes = user_seen_counts(q->engine->model->user_seen, &ret->slept_in_futex);
	if (!s)
		return q->cache->failed ? -ENOMEM : 0;
	if (add_futexes(q, s, ret) < 0)
		return -ENOMEM;
	ret->reason = locksnap_text(s, s->head.no_sleepers);
	ret->known = s->head.counts_sleepers;
	if (!ret->known)
		return 0;
	ret->dropped = s->head.sleepers_dropped;
	ret->rows = arena_alloc(&q->arena, (s->n_sleepers + 1) * sizeof(*ret->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_sleepers; i++)
		put_sleepers(q, s, &s->sleepers[i], ret);
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), by_tasks);
	return q->cache->failed ? -ENOMEM : 0;
}

/* All tasks of processes with that name. */
static uint32_t of_name(const struct query_elsewhere *e, const struct query_elsewhere_row *row)
{
	uint32_t n = 0;

	for (size_t i = 0; i < e->n; i++)
		if (e->rows[i].kind == row->kind && !strcmp(e->rows[i].comm, row->comm))
			n += e->rows[i].tasks;
	return n;
}

const char *query_elsewhere_most(struct query *q, const struct query_elsewhere *e,
				 const char **ret_name)
{
	const struct query_elsewhere_row *most = NULL;
	uint32_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct query_elsewhere_row *r = &e->rows[i];
		if (!r->tasks)
			continue;
		uint32_t all = of_name(e, r);
		if (all <= n || (all < LEAST && r->kind != LOCKSNAP_FILE_LOCK))
			continue;
		most = r;
		n = all;
	}
	if (!most)
		return NULL;
	bool one = n < 2 * most->tasks || !*most->comm;
	n = one ? most->tasks : n;
	*ret_name = one ? most->process : most->comm;
	return arena_printf(&q->arena, "%s%u task%s %s %s %s %s", e->dropped ? ">=" : "", n,
			    n == 1 ? "" : "s", one ? "of" : "named", *ret_name,
			    n == 1 ? "waits" : "wait", kind_words[most->kind]);
}

const char *query_elsewhere_short(struct query *q, const struct query_elsewhere *e)
{
	static const char *const words[LOCKSNAP_SLEEPS] = {
		[LOCKSNAP_FUTEX] = "futex",
		[LOCKSNAP_FILE_LOCK] = "file lock",
		[LOCKSNAP_IO] = "I/O",
		[LOCKSNAP_DISK] = "state D",
	};
	const char *text = NULL;

	for (int i = 0; i < LOCKSNAP_SLEEPS; i++)
		if (e->tasks[i])
			text = arena_printf(&q->arena, "%s%s%s %s%u", text ? text : "",
					    text ? ", " : "", words[i], e->dropped ? ">=" : "",
					    e->tasks[i]);
	return text && e->tasks_32bit
		       ? arena_printf(&q->arena, "%s (in futex %u of 32-bit programs)", text,
				      e->tasks_32bit)
		       : text;
}

const char *query_elsewhere_text(struct query *q, const struct query_elsewhere *e)
{
	return arena_printf(&q->arena,
			    "futex %u (%u more idle), file locks %u, I/O %u, "
			    "uninterruptible %u",
			    e->tasks[LOCKSNAP_FUTEX], e->idle, e->tasks[LOCKSNAP_FILE_LOCK],
			    e->tasks[LOCKSNAP_IO], e->tasks[LOCKSNAP_DISK]);
}

const char *query_elsewhere_futexes(struct query *q, const struct query_elsewhere *e)
{
	const char *text = NULL;
	uint32_t more = 0;

	for (size_t i = 0; i < e->n_futexes; i++) {
		const struct query_futex_row *r = &e->futexes[i];
		bool waits = !strcmp(r->class, "wait");
		if (i >= FUTEXES_MOST) {
			more += r->tasks;
			continue;
		}
		text = arena_printf(&q->arena, "%s%s%s%s%s%s %u of %s", text ? text : "",
				    text ? ", " : "", waits ? "" : r->class,
				    waits || !*r->what ? "" : " (", r->what,
				    waits || !*r->what ? "" : ")", r->tasks, r->process);
	}
	return more ? arena_printf(&q->arena, "%s, %u more", text, more) : text;
}

static const char *not_known(struct query *q, const char *reason)
{
	return *reason ? arena_printf(&q->arena, "not known: %s", reason) : NULL;
}

const char *query_elsewhere_slept(struct query *q, const struct query_elsewhere *e)
{
	char n[UNITS_BUF], ns[UNITS_BUF], span[UNITS_BUF], tasks[UNITS_BUF], dropped[UNITS_BUF];

	if (!e->sums_sleeps)
		return not_known(q, e->sleeps_reason);
	return arena_printf(&q->arena, "%s in %s, of %s in total, %s tasks on average%s%s",
			    units_count(n, e->sleeps), units_ns(span, e->slept_span_ns),
			    units_ns(ns, e->slept_ns),
			    units_tasks(tasks, query_per_s(e->slept_ns, e->slept_span_ns)),
			    e->sleeps_dropped ? "; not in these sums: " : "",
			    e->sleeps_dropped ? units_count(dropped, e->sleeps_dropped) : "");
}

const char *query_elsewhere_counts(struct query *q, const struct query_elsewhere *e)
{
	const struct user_counts *u = &e->slept_in_futex;
	const struct {
		const char *words;
		uint64_t n;
	} parts[] = {{"of 32-bit programs, which are not read", u->foreign},
		     {"for a lock that is not known", u->unknown},
		     {"without room for sums", u->dropped},
		     {"in the sums alone", u->missed}};
	char n[UNITS_BUF], ns[UNITS_BUF];

	if (!e->counts_futexes)
		return not_known(q, e->futex_reason);
	const char *text = arena_printf(&q->arena, "%s", units_count(n, u->sleeps));
	if (u->unproven)
		text = arena_printf(&q->arena, "%s; for what may be no lock: %s of %s", text,
				    units_count(n, u->unproven), units_ns(ns, u->unproven_ns));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			text = arena_printf(&q->arena, "%s; %s: %s", text, parts[i].words,
					    units_count(n, parts[i].n));
	return u->off_ns
		       ? arena_printf(&q->arena, "%s; not measured, as that cost too much, for %s",
				      text, units_ns(ns, u->off_ns))
		       : text;
}

#define COUNT(KEY, KIND, HELP)                                                                     \
	{                                                                                          \
		FIGURE_IF(KEY, COUNT, struct query_elsewhere, tasks[KIND], known), .help = (HELP)  \
	}

#define FUTEX(KEY, COUNTER, HELP)                                                                  \
	{                                                                                          \
		FIGURE_IF(KEY, COUNT, struct query_elsewhere, slept_in_futex.COUNTER,              \
			  counts_futexes),                                                         \
			.help = (HELP)                                                             \
	}

const struct figure query_elsewhere_figures[] = {
	{FIGURE("known", BOOL, struct query_elsewhere, known), .help = "a look has counted them"},
	{FIGURE("reason", TEXT, struct query_elsewhere, reason), .help = "why not"},
	COUNT("futex", LOCKSNAP_FUTEX, "tasks that wait in futexes, without those that are idle"),
	{FIGURE_IF("futex_idle", COUNT, struct query_elsewhere, idle, known),
	 .help = "tasks that sleep in futexes as those do that wait for work"},
	COUNT("file_lock", LOCKSNAP_FILE_LOCK, "tasks that wait for locks of files"),
	COUNT("io", LOCKSNAP_IO, "tasks that sleep for I/O"),
	COUNT("uninterruptible", LOCKSNAP_DISK,
	      "other tasks in state D, without those that wait for kernel locks"),
	{FIGURE_IF("dropped", COUNT, struct query_elsewhere, dropped, known),
	 .help = "tasks for which there was no room"},
	{FIGURE("sleeps_reason", TEXT, struct query_elsewhere, sleeps_reason),
	 .help = "why sleeps in state D are not summed up"},
	{FIGURE_IF("sleeps", COUNT, struct query_elsewhere, sleeps, sums_sleeps),
	 .help = "sleeps in state D that have ended, by --sleeps"},
	{FIGURE_IF("slept_ns", NS, struct query_elsewhere, slept_ns, sums_sleeps),
	 .help = "time of these sleeps"},
	{FIGURE_IF("slept_span_ns", NS, struct query_elsewhere, slept_span_ns, sums_sleeps),
	 .help = "time in which they ended"},
	{FIGURE_IF("sleeps_dropped", COUNT, struct query_elsewhere, sleeps_dropped, sums_sleeps),
	 .help = "sleeps for which there was no room"},
	{FIGURE("futex_reason", TEXT, struct query_elsewhere, futex_reason),
	 .help = "why sleeps in futex(2) are not measured"},
	FUTEX("futex_sleeps", sleeps, "sleeps in futex(2) that have begun, of 64-bit programs"),
	FUTEX("futex_unproven", unproven, "those that no layout shows to be for a lock"),
	{FIGURE_IF("futex_unproven_ns", NS, struct query_elsewhere, slept_in_futex.unproven_ns,
		   counts_futexes),
	 .help = "time of these sleeps"},
	FUTEX("futex_unknown", unknown, "those for a lock that is not known"),
	FUTEX("futex_32bit", foreign, "sleeps of 32-bit programs, which are not read"),
	FUTEX("futex_dropped", dropped, "sleeps for which there was no room"),
	FUTEX("futex_missed", missed, "long sleeps that are in the sums alone"),
	{FIGURE_IF("futex_off_ns", NS, struct query_elsewhere, slept_in_futex.off_ns,
		   counts_futexes),
	 .help = "time in which they were not measured, as that cost too much"},
	FIGURE_END,
};

const struct figure query_elsewhere_row_figures[] = {
	{FIGURE("kind", TEXT, struct query_elsewhere_row, kind_name), .help = "what they wait for"},
	{FIGURE("pid", INT, struct query_elsewhere_row, pid), .help = "the process"},
	{FIGURE("comm", TEXT, struct query_elsewhere_row, comm), .help = "its name"},
	{FIGURE("tasks", COUNT, struct query_elsewhere_row, tasks), .help = "tasks that wait"},
	{FIGURE("idle", COUNT, struct query_elsewhere_row, idle), .help = "tasks that are idle"},
	FIGURE_END,
};

const struct figure query_futex_figures[] = {
	{FIGURE("class", TEXT, struct query_futex_row, class), .help = "what these functions mean"},
	{FIGURE("what", TEXT, struct query_futex_row, what), .help = "the kind of their sleep"},
	{FIGURE("pid", INT, struct query_futex_row, pid), .help = "the process"},
	{FIGURE("comm", TEXT, struct query_futex_row, comm), .help = "its name"},
	{FIGURE("tasks", COUNT, struct query_futex_row, tasks),
	 .help = "its threads that sleep so"},
	FIGURE_END,
};
