// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocked tasks without BPF: /proc has the state of each thread, its calls, and when it ran last.
 * Reading all threads is expensive, so that rests for fifty times as long as it took. Meanwhile
 * only the tasks that were blocked are read again: two small files of each, as what a thread that
 * has not run since waits for is known. If even these are many, they are kept as they were for a
 * while.
 *
 * The calls of a task that executes a program cannot be read until that is done, which may wait for
 * a disk: so a thread of its own does each pass (left.h). Of a process that keeps one waiting only
 * states are read.
 */
#include "tasks.h"
#include "files.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include "kontend/snapshot-tasks.h"
#include "kontend/sysinfo.h"
#include "kontend/target.h"
#include "left.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	REST = 50, /* the share of time is one in so many */
	REST_AGAIN = 20,
	MOUNTS = 0, /* in place of a PID: the list of mounts is being read */
	REASON = 256,
};

/* The work of one thread. */
struct pass {
	struct left_work work; /* first member: read_all() gets it */
	const char *proc;
	bool is_again;		  /* only the tasks of `before` */
	struct tasks_one *before; /* of the last pass, by TID */
	size_t n_before;
	struct locksnap before_texts;
	int32_t *bare; /* processes of which only states are read */
	size_t n_bare;
	bool no_mounts;
	struct tasks_one *tasks;
	size_t n, cap, n_dropped, n_in_s, n_unwatched;
	struct locksnap texts;
	struct mounts mounts;
	int code;
};

struct snapshot_tasks {
	const char *proc;
	int kallsyms; /* descriptor; -1: none */
	struct pass *last;
	struct left left;
	struct tasks_symbols symbols;
	struct because_names names;
	struct files_clocks clocks;
	uint64_t next_ns, next_again_ns;
	char why[REASON]; /* of the snapshot */
};

static void pass_free(struct left_work *w)
{
	struct pass *p = (struct pass *)w;

	mem_free(p->before);
	mem_free(p->bare);
	mem_free(p->tasks);
	locksnap_deinit(&p->before_texts);
	locksnap_deinit(&p->texts);
	mounts_deinit(&p->mounts);
	mem_free(p);
}

static void pass_unref(struct pass *p)
{
	left_unref(p ? &p->work : NULL);
}

static const struct tasks_one *find_before(const struct pass *p, int32_t tid)
{
	size_t low = 0, high = p->n_before;

	while (low < high) {
		size_t at = low + (high - low) / 2;
		if (p->before[at].tid == tid)
			return &p->before[at];
		if (p->before[at].tid < tid)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

static bool is_bare(const struct pass *p, int32_t pid)
{
	for (size_t i = 0; i < p->n_bare; i++)
		if (p->bare[i] == pid)
			return true;
	return false;
}

/* Many tasks in state S are in other calls than those for waiting, but few of these are blocked. */
static bool has_room(struct pass *p, const struct tasks_one *t)
{
	if (t->state == RAW_STATE_S && p->n_in_s >= RAW_BLOCKED_WATCHED) {
		p->n_unwatched++;
		return false;
	}
	p->n_in_s += t->state == RAW_STATE_S;
	p->n_dropped += p->n >= RAW_BLOCKED;
	return p->n < RAW_BLOCKED;
}

static void read_thread(struct pass *p, const struct tasks_from *from, int32_t pid, int32_t tid)
{
	const struct tasks_one *before = find_before(p, tid);
	struct tasks_one t;
	bool same;

	if (!tasks_read(from, pid, tid, before, &t, &same) || !has_room(p, &t))
		return;
	if (same) {
		t.stack = locksnap_add_text(&p->texts, locksnap_text(&p->before_texts, t.stack));
	} else {
		t.stack = tasks_read_stack(from, &t, &p->texts);
		t.child = tasks_read_child(from, &t, locksnap_text(&p->texts, t.stack));
		t.first_ns = clock_now_ns();
	}
	if (mem_grow(&p->tasks, &p->cap, p->n, sizeof(t))) {
		p->code = -ENOMEM;
		return;
	}
	p->tasks[p->n++] = t;
}

static void read_process(struct pass *p, struct tasks_from *from, int32_t pid)
{
	pid_t *tids = NULL;
	size_t n = 0, cap = 0;

	p->work.pid = pid;
	from->is_bare = is_bare(p, pid);
	(void)procfs_tids(p->proc, pid, &tids, &n, &cap);
	for (size_t i = 0; p->code == 0 && i < n; i++)
		read_thread(p, from, pid, tids[i]);
	mem_free(tids);
}

static void read_known(struct pass *p, struct tasks_from *from)
{
	for (size_t i = 0; p->code == 0 && i < p->n_before; i++) {
		p->work.pid = p->before[i].pid;
		from->is_bare = is_bare(p, p->before[i].pid);
		read_thread(p, from, p->before[i].pid, p->before[i].tid);
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct tasks_one *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void read_all(struct left_work *work)
{
	struct pass *p = (struct pass *)work;
	struct tasks_from from = {.proc = p->proc, .mounts = &p->mounts};
	char path[64];
	pid_t *pids = NULL;
	size_t n = 0, cap = 0;

	p->work.pid = MOUNTS;
	snprintf(path, sizeof(path), "%s/self/mountinfo", p->proc);
	if (!p->no_mounts)
		(void)mounts_read(&p->mounts, path); /* none are known then */
	if (p->is_again) {
		read_known(p, &from);
	} else {
		p->code = procfs_pids(p->proc, &pids, &n, &cap);
		for (size_t i = 0; p->code == 0 && i < n; i++)
			read_process(p, &from, pids[i]);
		mem_free(pids);
	}
	if (p->n)
		qsort(p->tasks, p->n, sizeof(*p->tasks), by_tid);
}

static int give_before(struct pass *p, const struct snapshot_tasks *t)
{
	p->no_mounts = left_has(&t->left, MOUNTS);
	p->bare = mem_calloc(LEFT_MOST, sizeof(*p->bare));
	if (!p->bare)
		return -ENOMEM;
	for (size_t i = 0; i < t->left.n; i++)
		p->bare[p->n_bare++] = t->left.works[i]->pid;
	if (!t->last || !t->last->n)
		return 0;
	p->before = mem_dup(t->last->tasks, t->last->n, sizeof(*p->before));
	p->n_before = p->before ? t->last->n : 0;
	for (size_t i = 0; i < p->n_before; i++)
		p->before[i].stack = locksnap_add_text(
			&p->before_texts, locksnap_text(&t->last->texts, p->before[i].stack));
	return p->before ? 0 : -ENOMEM;
}

/* 0, -ENOMEM, -ETIMEDOUT: a process keeps it waiting; or why /proc cannot be read. */
static int read_once(struct snapshot_tasks *t, bool is_again)
{
	struct pass *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	left_begin(&p->work, read_all, pass_free);
	p->proc = t->proc;
	p->is_again = is_again;
	int code = give_before(p, t);
	if (code == 0) {
		code = left_run(&t->left, &p->work);
		if (code < 0)
			return code;
		code = p->code;
	}
	if (code < 0) {
		pass_unref(p);
		return code;
	}
	pass_unref(t->last);
	t->last = p;
	return 0;
}

struct snapshot_tasks *snapshot_tasks_new(const char *proc, const char *kallsyms)
{
	struct snapshot_tasks *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->proc = proc;
	t->kallsyms = open(kallsyms, O_RDONLY | O_CLOEXEC);
	t->names = (struct because_names){.mountinfo = "/proc/self/mountinfo", .sys = "/sys"};
	return t;
}

void snapshot_tasks_free(struct snapshot_tasks *t)
{
	if (!t)
		return;
	pass_unref(t->last);
	left_deinit(&t->left);
	tasks_symbols_deinit(&t->symbols);
	mounts_deinit(&t->names.mounts);
	files_clocks_deinit(&t->clocks);
	if (t->kallsyms >= 0)
		close(t->kallsyms);
	mem_free(t);
}

/* With the addresses of its calls. */
static void fill_raw(const struct snapshot_tasks *t, const struct tasks_one *from,
		     struct raw_blocked *ret)
{
	const char *stack = locksnap_text(&t->last->texts, from->stack);

	*ret = (struct raw_blocked){
		.pid = from->pid,
		.tid = from->tid,
		.cpu = from->cpu,
		.state = from->state,
		.kthread = from->kthread,
		.ran = from->since_ns,
		.call = from->call,
	};
	memcpy(ret->comm, from->comm, sizeof(ret->comm));
	memcpy(ret->process, from->process, sizeof(ret->process));
	ret->bytes = (int)(tasks_symbols_frames(&t->symbols, stack, ret->frames) *
			   sizeof(ret->frames[0]));
}

static int find_functions(struct snapshot_tasks *t)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < t->last->n; i++)
		code = tasks_symbols_want(&t->symbols,
					  locksnap_text(&t->last->texts, t->last->tasks[i].stack));
	return code < 0 ? code : tasks_symbols_search(&t->symbols, t->kallsyms);
}

static void fill_vfork(const struct snapshot_tasks *t, const struct tasks_one *from,
		       struct raw_vfork *ret)
{
	char path[64];

	*ret = (struct raw_vfork){.pid = from->child, .tid = from->child, .parent = from->tid};
	snprintf(path, sizeof(path), "%s/%d/comm", t->proc, from->child);
	if (sysinfo_read(path, ret->comm, sizeof(ret->comm)) < 0)
		*ret->comm = '\0';
}

/* Since when new ones sleep. Where the kernel does not say it, for so long at least. */
static void find_times(struct snapshot_tasks *t)
{
	for (size_t i = 0; i < t->last->n; i++) {
		struct tasks_one *of = &t->last->tasks[i];
		if (of->since_ns)
			continue;
		const uint64_t ran_ns = files_clock_ran(&t->clocks, t->proc, of->cpu, of->ran_ns);
		of->since_ns = ran_ns && ran_ns < of->first_ns ? ran_ns : of->first_ns;
	}
}

static int add_tasks(struct snapshot_tasks *t, const struct target *target, struct locksnap *s)
{
	const struct pass *p = t->last;
	struct raw_blocked *raw = mem_calloc(p->n + 1, sizeof(*raw));
	struct raw_vfork *vforks = mem_calloc(RAW_VFORKS, sizeof(*vforks));
	const int64_t ahead = 0; /* they have our clock */
	struct raw_blocked_pass pass = {.blocked = raw,
					.vforks = vforks,
					.proc = t->proc,
					.ahead_ns = &ahead,
					.names = &t->names};
	int code = raw && vforks ? find_functions(t) : -ENOMEM;

	find_times(t);
	for (size_t i = 0; code == 0 && i < p->n; i++) {
		const struct tasks_one *from = &p->tasks[i];
		if (target && !target_has(target, from->pid, from->tid, false, from->cpu))
			continue;
		fill_raw(t, from, &raw[pass.n++]);
		if (from->child && pass.n_vforks < RAW_VFORKS)
			fill_vfork(t, from, &vforks[pass.n_vforks++]);
	}
	t->names.mounts_known = false;
	code = code < 0 ? code : sleepers_fill_blocked(&pass, s);
	mem_free(raw);
	mem_free(vforks);
	return code;
}

/* Why the rest of them is not known. */
static void add_reasons(struct snapshot_tasks *t, const char *reason, struct locksnap *s)
{
	const char *calls =
		t->symbols.are_withheld ? ", and the kernel withholds addresses of functions" : "";

	snprintf(t->why, sizeof(t->why), "%s%s", reason, calls);
	s->head.no_objects = locksnap_add_text(s, t->why);
	s->head.blocked_dropped = (uint32_t)t->last->n_dropped;
	s->head.blocked_unwatched = (uint32_t)t->last->n_unwatched;
}

/* Reads what may be read at @now_ns; *@ret_by: enum locksnap_blocked_by. */
static int read_tasks(struct snapshot_tasks *t, uint64_t now_ns, uint32_t *ret_by)
{
	bool is_again = t->last && now_ns < t->next_ns;
	int code = -ETIMEDOUT;

	*ret_by = is_again ? LOCKSNAP_BLOCKED_BY_PROC_AGAIN : LOCKSNAP_BLOCKED_BY_PROC;
	if (is_again && now_ns < t->next_again_ns)
		return 0;
	left_forget_back(&t->left);
	while (code == -ETIMEDOUT && t->left.n < LEFT_MOST)
		code = read_once(t, is_again);
	return code;
}

static void rest(struct snapshot_tasks *t, uint64_t from_ns, uint32_t by)
{
	const uint64_t now_ns = clock_now_ns(), cost_ns = now_ns - from_ns;

	if (by == LOCKSNAP_BLOCKED_BY_PROC)
		t->next_ns = now_ns + REST * cost_ns;
	else if (from_ns >= t->next_again_ns)
		t->next_again_ns = now_ns + REST_AGAIN * cost_ns;
}

int snapshot_tasks_add(struct snapshot_tasks *t, const struct target *target, const char *reason,
		       struct locksnap *ret)
{
	const uint64_t from_ns = clock_now_ns();
	uint32_t by;

	if (target && target->kind == TARGET_CGROUP) {
		snprintf(t->why, sizeof(t->why), "%s: tasks of a cgroup are not known", reason);
		ret->head.no_sleepers = locksnap_add_text(ret, t->why);
		return 0;
	}
	int code = read_tasks(t, from_ns, &by);
	if (code == -ENOMEM)
		return code;
	if (code < 0) {
		snprintf(t->why, sizeof(t->why), "%s, and /proc cannot be read: %s", reason,
			 strerror(-code));
		ret->head.no_sleepers = locksnap_add_text(ret, t->why);
		return 0;
	}
	rest(t, from_ns, by);
	code = add_tasks(t, target, ret);
	ret->head.knows_blocked = 1;
	ret->head.blocked_by = by;
	add_reasons(t, reason, ret);
	return code;
}
