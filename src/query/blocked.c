// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "blocked": tasks that cannot run, by cause. The model sums up snapshots by process,
 * call chain and device (model/blocked.c); the chain names the cause (chains/asleep.c), once for
 * each chain. The tasks of NOW, the longest, and the task or file that they wait for are from the
 * latest snapshot.
 */
#include "kontend/blocked.h"
#include "blocked-rows.h"
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/query-blocked.h"
#include "kontend/query-origin.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/wait.h"
#include "locks/holder.h"
#include "locks/queues.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

enum {
	C_TASK,
	C_PROCESS,
	C_CGROUP,
	C_SITE,
	C_CAUSE,
	C_NOW,
	C_AVG,
	C_LONGEST,
	C_BECAUSE,
	C_IN_D,
	C_MAX,
	C_TOTAL,
	C_SLEEPS,
	C_SLEPT_AVG,
	C_SLEPT,
	C_SLEPT_MAX,
	C_STATE,
	C_CALL,
	C_ON,
	C_AT,
	C_AT_REASON,
	C_DEVICE,
	C_FILE,
	C_PID,
	C_TID,
	C_COMM,
	C_KTHREAD,
	C_BECAUSE_FIRST,
	C_BECAUSE_LAST = C_BECAUSE_FIRST + BLOCKED_BECAUSES - 1,
	C_STACK,
	C_COLUMNS
};

#define BY(WHAT) (1u << (WHAT))

static const struct column columns[C_COLUMNS] = {
	[C_TASK] = {COL_TASK, 18, 0, S, BY(BY_TASK)},
	[C_PROCESS] = {COL_PROCESS, 18, 0, S, BY(BY_PROCESS)},
	[C_CGROUP] = {COL_CGROUP, 24, 0, SR, BY(BY_CGROUP) | BY(BY_TASK) | BY(BY_PROCESS)},
	[C_SITE] = {"sleeps_in", "IN", "function in which the task that is blocked longest sleeps",
		    COLUMN_TEXT, 22, 3, SR},
	[C_CAUSE] = {"cause", "CAUSE", "reason for the sleep, by its call chain, and the device",
		     COLUMN_TEXT, 28, 0, SR},
	[C_NOW] = {"blocked", "NOW", "blocked tasks in the latest snapshot", COLUMN_COUNT, 4, 0, SR,
		   ~BY(BY_TASK)},
	[C_AVG] = {"blocked_ns_per_s", "TASKS",
		   "blocked tasks on average over all snapshots, an estimate", COLUMN_NSRATE, 6, 0,
		   SR, ~BY(BY_TASK)},
	[C_LONGEST] = {"longest_now_ns", "LONGEST",
		       "how long the task has been blocked that is blocked longest now", COLUMN_NS,
		       7, 0, SR},
	[C_BECAUSE] = {"because_of", "BECAUSE OF",
		       "task, lock, file or cgroup for which the task that is blocked longest now "
		       "waits",
		       COLUMN_TEXT, 20, 0, S | R | W},
	[C_IN_D] = {"in_d", "D", "tasks of NOW that /proc shows in state D", COLUMN_COUNT, 4, 5, SR,
		    ~BY(BY_TASK)},
	[C_MAX] = {"longest_seen_ns", "MAX",
		   "longest time that a snapshot saw one task to be blocked", COLUMN_NS, 7, 4, SR,
		   ~BY(BY_TASK)},
	[C_TOTAL] = {"blocked_ns", "TOTAL", "time of all tasks, by snapshots, an estimate",
		     COLUMN_NS, 7, 6, SR, ~BY(BY_TASK)},
	/* These four are only shown if each sleep is summed up, and come first then. */
	[C_SLEEPS] = {"sleeps", "SLEEPS", "sleeps in state D that have ended, if each is summed up",
		      COLUMN_COUNT, 6, 7, SR, ~BY(BY_TASK)},
	[C_SLEPT_AVG] = {"slept_ns_per_s", "IN D", "tasks in these sleeps on average",
			 COLUMN_NSRATE, 6, 7, SR, ~BY(BY_TASK)},
	[C_SLEPT] = {"slept_ns", "SLEPT", "time of these sleeps", COLUMN_NS, 7, 7, SR,
		     ~BY(BY_TASK)},
	[C_SLEPT_MAX] = {"slept_max_ns", "SLEPT MAX", "longest of these sleeps", COLUMN_NS, 9, 8,
			 SR, ~BY(BY_TASK)},
	[C_STATE] = {"task_state", "STATE", "D, S, T or R, as in /proc, of the longest",
		     COLUMN_TEXT, 5, 6, SR},
	[C_CALL] = {"syscall", "SYSCALL", "system call in which it sleeps, by its call chain",
		    COLUMN_TEXT, 12, 8, SR},
	[C_ON] = {COL_ON, 16, 7, SR},
	[C_AT] = {COL_AT, 20, 3, SR},
	[C_AT_REASON] = {COL_AT_REASON, 20, 9, R},
	[C_DEVICE] = {"device", "DEVICE",
		      "block device that it waits for, or of the file of the system call",
		      COLUMN_TEXT, 8, 9, R},
	[C_FILE] = {"syscall_file", "FILE", "file of the system call in which the task sleeps",
		    COLUMN_TEXT, 16, 9, R},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_TID] = {COL_TID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_KTHREAD] = {"kthread", "KTHREAD", "it is a kernel thread", COLUMN_BOOL, 7, 9, R},
#define AT(WHAT) [C_BECAUSE_FIRST + (WHAT)]
	AT(BLOCKED_BY_PID) = {"because_pid", "BY PID", "process id of the task in BECAUSE OF",
			      COLUMN_INT, 7, 9, R},
	AT(BLOCKED_BY_TID) = {"because_tid", "BY TID", "thread id of the task in BECAUSE OF",
			      COLUMN_INT, 7, 9, R},
	AT(BLOCKED_BY_COMM) = {"because_comm", "BY COMM", "name of the task in BECAUSE OF",
			       COLUMN_TEXT, 16, 9, R},
	AT(BLOCKED_BY_STATE) = {"because_state", "BY STATE",
				"of that task: running, runnable, asleep", COLUMN_TEXT, 8, 9, R},
	AT(BLOCKED_BY_CPU) = {"because_cpu", "BY CPU", "CPU on which that task runs, or ran last",
			      COLUMN_INT, 6, 9, R},
	AT(BLOCKED_OFF_PID) = {COL_OFF_PID, 7, 9, R},
	AT(BLOCKED_OFF_TID) = {COL_OFF_TID, 7, 9, R},
	AT(BLOCKED_OFF_COMM) = {COL_OFF_COMM, 16, 9, R},
	AT(BLOCKED_OFF_PRIO) = {"kept_off_prio", "OFF PRIO",
				"real-time priority of that one, if it has one", COLUMN_INT, 8, 9,
				R},
	AT(BLOCKED_WORK) = {"work_function", "WORK", "function of the work that it waits for",
			    COLUMN_TEXT, 20, 9, R},
	AT(BLOCKED_QUEUE) = {"workqueue", "WORKQUEUE", "workqueue of that work", COLUMN_TEXT, 12, 9,
			     R},
	AT(BLOCKED_FILE) = {"page_file", "PAGE OF",
			    "path of the file of the page that it waits for", COLUMN_TEXT, 16, 9,
			    R},
	AT(BLOCKED_LIMIT) = {"limit_cgroup", "LIMITED BY", "cgroup whose limit or freezer keeps it",
			     COLUMN_TEXT, 16, 9, R},
	AT(BLOCKED_SOURCE) = {"device_name", "DEVICE NAME",
			      "name of its device-mapper device, or server of its network file "
			      "system",
			      COLUMN_TEXT, 16, 9, R},
	AT(BLOCKED_SUSPENDED) = {"suspended", "SUSPENDED", "that device is suspended", COLUMN_BOOL,
				 9, 9, R},
#undef AT
	[C_STACK] = {COL_STACK, 40, 9, R | COLUMN_LIST},
};

/* Sleeps of a task in state S that has nothing to do, and those of which no function says more. */
static bool is_idle(enum sleep_cause cause)
{
	switch (cause) {
	case SLEEP_NONE:
	case SLEEP_UNKNOWN:
	case SLEEP_COMPLETION:
	case SLEEP_FUTEX:
	case SLEEP_PIPE_EMPTY:
	case SLEEP_PIPE_FULL:
	case SLEEP_PIPE:
	case SLEEP_CHILD:
	case SLEEP_EVENTS:
	case SLEEP_SOCKET:
	case SLEEP_ITSELF:
	case SLEEP_TIMER:
		return true;
	default:
		return false;
	}
}

static bool counts(enum sleep_cause cause, uint32_t state)
{
	return state != LOCKSNAP_BLOCKED_S || !is_idle(cause);
}

/*
 * Functions of sleeping locks belong to the scheduler, which snapshots of calls leave out. The
 * thread of a journal waits in one function for handles and for its I/O, which are inlined.
 */
enum sleep_cause blocked_cause_without_words(enum sleep_cause cause, bool waits, bool io)
{
	if (cause == SLEEP_JBD2_HANDLES && io)
		return SLEEP_WRITE;
	if (cause != SLEEP_NONE && cause != SLEEP_UNKNOWN)
		return cause;
	return waits ? SLEEP_LOCK : io ? SLEEP_IO : cause;
}

enum sleep_cause blocked_cause_on(enum sleep_cause cause, const char *fs)
{
	static const char *const network[] = {"nfs", "nfs4", "cifs", "smb3", "ceph", "afs"};

	switch (cause) {
	case SLEEP_IO:
	case SLEEP_PAGE:
	case SLEEP_FOLIO:
	case SLEEP_READ:
	case SLEEP_WRITE:
	case SLEEP_WRITEBACK:
		break;
	default:
		return cause;
	}
	if (!strcmp(fs, "fuse"))
		return SLEEP_FUSE;
	if (!strcmp(fs, "9p"))
		return SLEEP_9P;
	for (size_t i = 0; i < sizeof(network) / sizeof(*network); i++)
		if (!strcmp(fs, network[i]))
			return SLEEP_NETWORK_FS;
	return cause;
}

static enum sleep_cause cause_of_calls(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const uint32_t *known = map64_get(&t->causes, (uint64_t)b->frame << 8 | b->n_frames);

	if (known)
		return (enum sleep_cause) * known;
	enum sleep_cause cause = asleep_cause(t->q, t->s->frames + b->frame, b->n_frames);
	/* Without memory it is only found again. */
	(void)map64_put(&t->causes, (uint64_t)b->frame << 8 | b->n_frames, cause);
	return cause;
}

/* The wait in flight of a thread; NULL: none is known. */
const struct wait *blocked_wait_of(struct blocked_rows *t, int32_t tid)
{
	const struct model *m = t->q->engine->model;

	for (uint32_t i = 1; !t->waits_made && i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->task != TASK_OTHER)
			(void)map64_put(&t->waits, (uint32_t)m->tasks->tasks[w->task].tid, i);
	}
	t->waits_made = true;
	const uint32_t *at = map64_get(&t->waits, (uint32_t)tid);
	return at ? &m->waits->waits[*at] : NULL;
}

/* The cause that the state of a task shows, where its calls are those of others, too. */
static enum sleep_cause cause_in_state(enum sleep_cause cause, uint32_t state)
{
	if (state == LOCKSNAP_BLOCKED_THROTTLED)
		return SLEEP_CPU_MAX;
	if (state == LOCKSNAP_BLOCKED_STOPPED &&
	    (cause == SLEEP_NONE || cause == SLEEP_UNKNOWN || cause == SLEEP_FROZEN_CGROUP))
		return SLEEP_STOPPED;
	return cause;
}

enum sleep_cause blocked_cause_of_task(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const enum sleep_cause cause = blocked_cause_without_words(
		cause_of_calls(t, b), blocked_wait_of(t, b->tid) != NULL, b->io);

	return cause_in_state(blocked_cause_on(cause, locksnap_text(t->s, b->fs)), b->state);
}

/* "disk read", of locks "kernel lock": chains and blame say more of these. */
const char *blocked_cause_words(enum sleep_cause cause)
{
	const char *words = asleep_words(cause);

	if (cause == SLEEP_LOCK || cause == SLEEP_RT_MUTEX)
		return "kernel lock";
	return words ? words : "unknown";
}

/* The row of a cell or a task, made if there is none; NULL: no memory. */
struct blocked_row *blocked_row_at(struct blocked_rows *t, const struct blocked_row *like,
				   uint64_t key)
{
	uint64_t id = key;

	if (t->by != BY_TASK)
		id = hash_text(hash_u64((uint64_t)like->cause << 32 ^ (uint64_t)key), like->device);
	const uint32_t *at = map64_get(&t->at, id);
	if (at)
		return &t->rows[*at];
	if (arena_grow(&t->q->arena, &t->rows, &t->cap, t->n, sizeof(*t->rows)) ||
	    map64_put(&t->at, id, (uint32_t)t->n) < 0)
		return NULL;
	t->rows[t->n] = *like;
	t->rows[t->n].id = id;
	return &t->rows[t->n++];
}

uint64_t blocked_row_key(const struct blocked_rows *t, const struct blocked_row *r, int32_t tid)
{
	switch (t->by) {
	case BY_TASK:
		return (uint32_t)tid;
	case BY_PROCESS:
		return (uint32_t)r->pid;
	case BY_CALLER:
		return t->q->cache->funcs[r->site].start;
	case BY_CGROUP:
		return hash_text(HASH_START, r->cgroup);
	default:
		return 0;
	}
}

static uint64_t slept_ns(const struct blocked_rows *t, const struct locksnap_blocked *b)
{
	return b->ran_ns && b->ran_ns < t->s->head.time_ns ? t->s->head.time_ns - b->ran_ns : 0;
}

/* Of the thread that writes a log the one in its name: "jbd2/vda1-8". */
const char *blocked_device_of(struct query *q, const char *device, const char *comm, bool kthread)
{
	const char *end = strrchr(comm, '-'), *name = NULL;

	if (kthread && !strncmp(comm, "jbd2/", 5) && end && end > comm + 5)
		name = arena_printf(&q->arena, "%.*s", (int)(end - comm - 5), comm + 5);
	return name ? name : device;
}

static int add_task(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const uint64_t *frames = t->s->frames + b->frame;
	const uint64_t ns = slept_ns(t, b);
	struct blocked_row like = {.cause = blocked_cause_of_task(t, b),
				   .device = blocked_device_of(t->q, locksnap_text(t->s, b->device),
							       locksnap_text(t->s, b->comm),
							       b->kthread),
				   .pid = b->pid,
				   .process = locksnap_text(t->s, b->process),
				   .cgroup = locksnap_text(t->s, b->cgroup)};

	if (!counts(like.cause, b->state))
		return 0;
	like.site = query_sleeps_in(t->q, frames, b->n_frames);
	struct blocked_row *r = blocked_row_at(t, &like, blocked_row_key(t, &like, b->tid));
	if (!r)
		return -ENOMEM;
	r->now++;
	r->in_d += b->state == LOCKSNAP_BLOCKED_D;
	if (b->state == LOCKSNAP_BLOCKED_D && !b->kthread) {
		r->users++;
		r->users_longest_ns = ns > r->users_longest_ns ? ns : r->users_longest_ns;
	}
	if (!r->longest || ns > r->longest_now_ns) {
		r->longest = b;
		r->longest_now_ns = ns;
	}
	r->max_ns = ns > r->max_ns ? ns : r->max_ns;
	return 0;
}

static int add_cell(struct blocked_rows *t, const struct blocked_cell *c, enum sleep_cause of_calls,
		    uint64_t task_ns, uint64_t longest_ns)
{
	const enum sleep_cause said = blocked_cause_without_words(of_calls, c->lock, c->io);
	const enum sleep_cause cause = cause_in_state(blocked_cause_on(said, c->fs), c->state);
	const struct blocked_stack *s = &t->q->engine->model->blocked->stacks[c->stack];
	struct blocked_row like = {.cause = cause,
				   .device =
					   blocked_device_of(t->q, c->device, c->comm, c->kthread),
				   .pid = c->pid,
				   .process = c->comm,
				   .cgroup = blocked_cgroup(t->q->engine->model->blocked, c)};

	if (!counts(cause, c->state) || !task_ns)
		return 0;
	like.site = query_sleeps_in(t->q, s->frames, s->n);
	struct blocked_row *r = blocked_row_at(t, &like, blocked_row_key(t, &like, 0));
	if (!r)
		return -ENOMEM;
	r->task_ns += task_ns;
	r->max_ns = longest_ns > r->max_ns ? longest_ns : r->max_ns;
	return 0;
}

/* @causes: of the model's chains. */
static int add_window(struct blocked_rows *t, const enum sleep_cause *causes)
{
	const struct blocked *b = t->q->engine->model->blocked;
	uint64_t begin_ns = query_window_begin(t->q);
	int code = 0;

	t->covered_ns = b->seen_ns > begin_ns ? b->seen_ns - begin_ns : 0;
	t->covered_ns = t->covered_ns < b->covered_ns ? t->covered_ns : b->covered_ns;
	for (uint32_t i = 0; code == 0 && i < b->n_parts; i++) {
		const struct blocked_part *p = &b->parts[i];
		const struct blocked_cell *c = &b->cells[p->cell];
		if (p->end_ns > begin_ns)
			code = add_cell(t, c, causes[c->stack], p->task_ns, p->longest_ns);
	}
	return code;
}

static int add_sums(struct blocked_rows *t)
{
	const struct blocked *b = t->q->engine->model->blocked;
	enum sleep_cause *causes = arena_alloc(&t->q->arena, (b->n_stacks + 1) * sizeof(*causes));
	int code = 0;

	if (!causes)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_stacks; i++)
		causes[i] = asleep_cause(t->q, b->stacks[i].frames, b->stacks[i].n);
	if (query_has_window(t->q))
		return add_window(t, causes);
	t->covered_ns = b->covered_ns;
	for (uint32_t i = 0; code == 0 && i < b->n_cells; i++) {
		const struct blocked_cell *c = &b->cells[i];
		code = add_cell(t, c, causes[c->stack], c->task_ns, c->longest_ns);
	}
	return code;
}

/* Rows of the tasks that are blocked now. */
static int add_present(struct blocked_rows *t)
{
	int code = 0;

	t->s = query_queues(t->q);
	for (size_t i = 0; code == 0 && t->s && i < t->s->n_blocked; i++)
		code = add_task(t, &t->s->blocked[i]);
	return code;
}

int blocked_make_rows(struct blocked_rows *t)
{
	int code = t->by == BY_TASK ? 0 : add_sums(t);

	code = code < 0 ? code : add_present(t);
	return code < 0 || t->by == BY_TASK ? code : blocked_add_slept(t);
}

static const uint64_t because_of_any = 1ull << C_BECAUSE | ((1ull << BLOCKED_BECAUSES) - 1)
								   << C_BECAUSE_FIRST;

static void fill_now(struct blocked_rows *t, const struct blocked_row *r, uint64_t want,
		     struct value *v)
{
	static const char *const states[] = {[LOCKSNAP_BLOCKED_D] = "D",
					     [LOCKSNAP_BLOCKED_S] = "S",
					     [LOCKSNAP_BLOCKED_STOPPED] = "T",
					     [LOCKSNAP_BLOCKED_THROTTLED] = "R"};
	const struct locksnap_blocked *b = r->longest;
	const struct locksnap_sleep *file = query_queue_sleep(t->q, b->tid);
	const char *comm = locksnap_text(t->s, t->by == BY_PROCESS ? b->process : b->comm);

	value_s(&v[C_TASK], query_slash(&t->q->arena, comm, b->tid, "-"));
	v[C_LONGEST] = (struct value){.u = r->longest_now_ns, .known = r->longest_now_ns != 0};
	value_s(&v[C_STATE], states[b->state]);
	value_u(&v[C_KTHREAD], b->kthread);
	value_who((struct task_cells){NULL, &v[C_PID], &v[C_TID], &v[C_COMM]}, b->pid, b->tid,
		  comm);
	if (file && file->file)
		value_s(&v[C_FILE], locksnap_text(t->s, file->file));
	value_s(&v[C_ON], v[C_FILE].known ? v[C_FILE].s : blocked_on(t, b));
	if (want & because_of_any)
		value_s(&v[C_BECAUSE], blocked_because(t, b, &v[C_BECAUSE_FIRST]));
	if (want & 1ull << C_CALL)
		value_s(&v[C_CALL], blocked_call(t, b));
	value_s(&v[C_CGROUP], locksnap_text(t->s, b->cgroup));
	if (want & (1ull << C_AT | 1ull << C_AT_REASON)) {
		struct query_origin o;
		blocked_origin(t, b, &o);
		query_fill_at(&o, &v[C_AT], &v[C_AT_REASON]);
	}
	if (want & 1ull << C_STACK)
		value_s(&v[C_STACK], blocked_calls(t, b, "\n"));
}

static const char *name_of_cause(struct query *q, const struct blocked_row *r)
{
	const char *words = blocked_cause_words(r->cause);

	return *r->device ? arena_printf(&q->arena, "%s %s", words, r->device) : words;
}

static void blocked_fill(void *ctx, size_t i, uint64_t want, struct value *v)
{
	struct blocked_rows *t = ctx;
	const struct blocked_row *r = &t->rows[i];
	struct query *q = t->q;

	value_s(&v[C_CAUSE], name_of_cause(q, r));
	value_s(&v[C_DEVICE], r->device);
	value_s(&v[C_SITE], query_func_name(q, r->site));
	value_u(&v[C_NOW], r->now);
	value_u(&v[C_IN_D], r->in_d);
	if (t->covered_ns) {
		value_d(&v[C_AVG], query_per_s(r->task_ns, t->covered_ns));
		value_u(&v[C_TOTAL], r->task_ns);
		v[C_AVG].approx = v[C_TOTAL].approx = true;
	}
	v[C_MAX] = (struct value){.u = r->max_ns, .known = r->max_ns != 0};
	if (t->has_slept)
		blocked_fill_slept(t, r, &v[C_SLEEPS]);
	if (r->longest)
		fill_now(t, r, want, v);
	if (t->by == BY_PROCESS || t->by == BY_CGROUP)
		value_s(&v[C_CGROUP], *r->cgroup ? r->cgroup : "-");
	if (t->by != BY_PROCESS)
		return;
	v[C_TID].known = false;
	value_task(&v[C_PID], r->pid);
	value_s(&v[C_COMM], r->process);
	value_s(&v[C_PROCESS],
		r->pid ? query_slash(&q->arena, r->process, r->pid, "-") : "(other)");
}

static void blocked_rank(void *ctx, size_t i, struct row_rank *ret)
{
	const struct blocked_row *r = &((const struct blocked_rows *)ctx)->rows[i];

	const uint64_t ns = r->slept_ns > r->task_ns ? r->slept_ns : r->task_ns;

	*ret = (struct row_rank){.id = r->id, .tie = r->now ? UINT64_MAX / 2 + r->now : ns};
}

const struct table_kind query_blocked_kind = {"blocked", columns, C_COLUMNS, blocked_fill,
					      blocked_rank};

void blocked_rows_begin(struct blocked_rows *t, struct query *q)
{
	*t = (struct blocked_rows){.q = q, .s = query_queues(q)};
}

void blocked_free_maps(struct blocked_rows *t)
{
	map64_deinit(&t->at);
	map64_deinit(&t->causes);
	map64_deinit(&t->waits);
}

void blocked_cause_of(struct blocked_rows *t, const struct locksnap_blocked *b,
		      struct blocked_why *ret)
{
	const struct locksnap_sleep *at = query_queue_sleep(t->q, b->tid);

	*ret = (struct blocked_why){.cause = blocked_cause_of_task(t, b), .ns = slept_ns(t, b)};
	ret->counts = counts(ret->cause, b->state);
	ret->words = blocked_cause_words(ret->cause);
	ret->device = blocked_device_of(t->q, locksnap_text(t->s, b->device),
					locksnap_text(t->s, b->comm), b->kthread);
	ret->file = locksnap_text(t->s, b->file ? b->file : at ? at->file : 0);
	ret->site = query_sleeps_in(t->q, t->s->frames + b->frame, b->n_frames);
}

/* From the number of a task: see taskid_number(). */
static int32_t id_of(const struct value *v)
{
	return v->i < 0 ? taskid_outside((int32_t)-v->i) : (int32_t)v->i;
}

void blocked_why_of(struct blocked_rows *t, const struct locksnap_blocked *b,
		    struct blocked_why *ret)
{
	struct value v[BLOCKED_BECAUSES] = {0};

	blocked_cause_of(t, b, ret);
	ret->because = blocked_because(t, b, v);
	if (!v[BLOCKED_BY_TID].known)
		return;
	ret->by_pid = id_of(&v[BLOCKED_BY_PID]);
	ret->by_tid = id_of(&v[BLOCKED_BY_TID]);
	ret->by_comm = v[BLOCKED_BY_COMM].known ? v[BLOCKED_BY_COMM].s : "";
}

enum query_by blocked_by(enum query_by by)
{
	return by == BY_TASK || by == BY_PROCESS || by == BY_CALLER || by == BY_CGROUP ? by
										       : BY_LOCK;
}

const char *query_blocked_by_name(enum query_by by)
{
	return blocked_by(by) == BY_LOCK ? "cause" : query_by_name(by);
}

int query_blocked(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct blocked_rows *t = arena_alloc(&q->arena, sizeof(*t));
	struct row_source src = {.kind = &query_blocked_kind, .ctx = t};

	if (!t || query_sync(q) < 0)
		return query_enomem(err, "blocked tasks");
	*t = (struct blocked_rows){.q = q, .by = blocked_by(s->by)};
	struct column *columns_by = rows_columns_by(q, &query_blocked_kind, t->by);
	src.columns = columns_by;
	int r = src.columns ? blocked_make_rows(t) : -ENOMEM;
	if (src.columns && t->by != BY_CGROUP)
		columns_by[C_CGROUP].flags &= ~COLUMN_SCREEN;
	if (src.columns && !q->engine->model->blocked->n_users)
		columns_by[C_AT].flags &= ~COLUMN_SCREEN;
	for (int i = C_SLEEPS; src.columns && i <= C_SLEPT_MAX; i++) {
		if (t->has_slept)
			columns_by[i].priority = 1;
		else
			columns_by[i].flags &= ~COLUMN_SCREEN;
	}
	src.n = t->n;
	src.sort = t->by == BY_TASK ? "longest_now_ns"
		   : t->covered_ns  ? "blocked_ns_per_s"
				    : "blocked";
	r = r < 0 ? query_enomem(err, "blocked tasks") : rows_answer(q, s, &src, ret, err);
	blocked_free_maps(t);
	return r;
}

/* The row of that id, if @make makes it now: blocked_make_rows() all, add_present() those with
 * tasks. */
static const struct blocked_row *find_row(struct blocked_rows *t, uint64_t id,
					  int (*make)(struct blocked_rows *t))
{
	if (query_sync(t->q) < 0 || make(t) < 0)
		return NULL;
	const uint32_t *at = map64_get(&t->at, id);
	return at ? &t->rows[*at] : NULL;
}

const char *query_blocked_cause(struct query *q, enum query_by by, uint64_t id)
{
	struct blocked_rows t = {.q = q, .by = blocked_by(by)};
	const struct blocked_row *r = find_row(&t, id, blocked_make_rows);
	const char *text = r ? name_of_cause(q, r) : NULL;

	blocked_free_maps(&t);
	return text;
}

const char *query_blocked_calls(struct query *q, enum query_by by, uint64_t id)
{
	struct blocked_rows t = {.q = q, .by = blocked_by(by)};
	const struct blocked_row *r = find_row(&t, id, add_present);
	const char *text = r && r->longest ? blocked_calls(&t, r->longest, " < ") : NULL;

	blocked_free_maps(&t);
	return text;
}

const char *query_blocked_at(struct query *q, enum query_by by, uint64_t id)
{
	struct blocked_rows t = {.q = q, .by = blocked_by(by)};
	const struct blocked_row *r = find_row(&t, id, add_present);
	struct query_origin o = {0};

	if (r && r->longest)
		blocked_origin(&t, r->longest, &o);
	blocked_free_maps(&t);
	return o.at;
}

bool query_blocked_wait(struct query *q, uint64_t id, uint64_t *ret)
{
	struct blocked_rows t = {.q = q, .by = BY_TASK};
	const struct blocked_row *r = find_row(&t, id, add_present);
	const struct wait *w = r && r->longest ? blocked_wait_of(&t, r->longest->tid) : NULL;

	if (w)
		*ret = query_wait_id(q, w);
	blocked_free_maps(&t);
	return w != NULL;
}

/* Waits for locks have their own rules, and others are meant. */
static bool is_judged(const struct blocked_row *r)
{
	switch (r->cause) {
	case SLEEP_LOCK:
	case SLEEP_RT_MUTEX:
	case SLEEP_FILE_LOCK:
	case SLEEP_FUTEX:
	case SLEEP_VFORK:
	case SLEEP_FREEZER:
	case SLEEP_FROZEN_CGROUP:
	case SLEEP_PTRACE:
	case SLEEP_TRACEE:
	case SLEEP_STOPPED:
		return false;
	default:
		return r->users > 0;
	}
}

int query_blocked_worst(struct query *q, struct query_blocked_worst *ret)
{
	struct blocked_rows t = {.q = q, .by = BY_LOCK};
	const struct blocked_row *worst = NULL;
	struct value *v = arena_alloc(&q->arena, BLOCKED_BECAUSES * sizeof(*v));
	int code = v ? query_sync(q) : -ENOMEM;

	*ret = (struct query_blocked_worst){0};
	code = code < 0 ? code : add_present(&t);
	for (size_t i = 0; code == 0 && i < t.n; i++)
		if (is_judged(&t.rows[i]) &&
		    (!worst || t.rows[i].users_longest_ns > worst->users_longest_ns))
			worst = &t.rows[i];
	if (worst) {
		const char *because = blocked_because(&t, worst->longest, v);
		*ret = (struct query_blocked_worst){
			.tasks = worst->users,
			.longest_ns = worst->users_longest_ns,
			.cause = name_of_cause(q, worst),
			.because = because,
		};
	}
	blocked_free_maps(&t);
	return code < 0 || q->cache->failed ? -ENOMEM : 0;
}

static void add_to_sum(struct blocked_rows *t, const struct locksnap_blocked *b,
		       struct query_blocked_sum *ret)
{
	const uint64_t ns = slept_ns(t, b);

	if (!counts(blocked_cause_of_task(t, b), b->state))
		return;
	if (b->state == LOCKSNAP_BLOCKED_THROTTLED) {
		ret->throttled++;
		return;
	}
	ret->tasks++;
	ret->stopped += b->state == LOCKSNAP_BLOCKED_STOPPED;
	if (b->state != LOCKSNAP_BLOCKED_D)
		return;
	ret->in_d++;
	ret->kthreads += b->kthread;
	ret->longest_ns = ns > ret->longest_ns ? ns : ret->longest_ns;
}

/* The latest snapshot, or NULL; and why it does not have the blocked tasks: "" if it has them. */
static const struct locksnap *find_latest(struct query *q, const char **ret_why)
{
	const struct locksnap *s = query_queues(q);

	*ret_why = "no snapshot has the blocked tasks: that takes kontend 2.0 or later";
	if (s && (s->head.knows_blocked || s->head.no_sleepers))
		*ret_why = s->head.knows_blocked ? "" : locksnap_text(s, s->head.no_sleepers);
	return s;
}

int query_blocked_sum(struct query *q, struct query_blocked_sum *ret)
{
	struct blocked_rows t = {.q = q};

	*ret = (struct query_blocked_sum){.reason = "", .no_objects = "", .method = "bpf"};
	if (query_sync(q) < 0)
		return -ENOMEM;
	const struct blocked *b = q->engine->model->blocked;
	t.s = find_latest(q, &ret->reason);
	if (!t.s)
		return q->cache->failed ? -ENOMEM : 0;
	ret->known = t.s->head.knows_blocked;
	ret->no_objects = locksnap_text(t.s, t.s->head.no_objects);
	ret->by_proc = t.s->head.blocked_by != LOCKSNAP_BLOCKED_BY_BPF;
	ret->only_known = t.s->head.blocked_by == LOCKSNAP_BLOCKED_BY_PROC_AGAIN;
	ret->method = ret->only_known ? "proc_again" : ret->by_proc ? "proc" : "bpf";
	ret->dropped = t.s->head.blocked_dropped;
	ret->unwatched = t.s->head.blocked_unwatched;
	ret->snapshots = b->snapshots;
	ret->age_ns =
		q->model->now_ns > t.s->head.time_ns ? q->model->now_ns - t.s->head.time_ns : 0;
	ret->is_short = query_has_window(q) && b->dropped_ns > query_window_begin(q);
	for (size_t i = 0; i < t.s->n_blocked; i++)
		add_to_sum(&t, &t.s->blocked[i], ret);
	blocked_free_maps(&t);
	return q->cache->failed ? -ENOMEM : 0;
}

int query_blocked_causes(struct query *q, struct query_blocked_causes *ret)
{
	struct blocked_rows t = {.q = q};
	uint32_t tasks[SLEEP_CAUSES] = {0};

	*ret = (struct query_blocked_causes){.reason = ""};
	ret->causes = arena_alloc(&q->arena, SLEEP_CAUSES * sizeof(*ret->causes));
	if (query_sync(q) < 0 || !ret->causes)
		return -ENOMEM;
	t.s = find_latest(q, &ret->reason);
	ret->known = t.s && t.s->head.knows_blocked;
	for (size_t i = 0; ret->known && i < t.s->n_blocked; i++) {
		const enum sleep_cause cause = blocked_cause_of_task(&t, &t.s->blocked[i]);
		tasks[cause] += counts(cause, t.s->blocked[i].state);
	}
	/* Two causes have the same words. */
	tasks[SLEEP_LOCK] += tasks[SLEEP_RT_MUTEX];
	tasks[SLEEP_UNKNOWN] += tasks[SLEEP_NONE];
	tasks[SLEEP_RT_MUTEX] = tasks[SLEEP_NONE] = 0;
	for (unsigned i = 0; i < SLEEP_CAUSES; i++)
		if (tasks[i])
			ret->causes[ret->n++] = (struct query_blocked_cause){
				blocked_cause_words((enum sleep_cause)i), tasks[i]};
	blocked_free_maps(&t);
	return q->cache->failed ? -ENOMEM : 0;
}
