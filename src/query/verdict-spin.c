// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spinlocks of programs, by evidence. Nothing reports these: threads that wait for one burn their
 * CPUs in a function of their own, and if there are more threads than CPUs they keep the very one
 * off that is to let go of the lock. Four facts together are worth a sentence: samples of several
 * threads of a process are where a spin loop waits, which is an instruction for that and for
 * nothing else; a snapshot has seen another thread of that process interrupted in its program; one
 * of the spinning threads had its CPU; and that place is not in the loop. Which lock it is, and
 * that the interrupted thread has it, no fact shows.
 */
#include "group.h"
#include "kontend/entry.h"
#include "kontend/eventlist.h"
#include "kontend/preempted.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/query-origin.h"
#include "kontend/query-recorded.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "names/names.h"
#include "verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	SPOTS = 16,   /* functions of such processes that are looked at */
	THREADS = 64, /* of one that spins */
	CODE = 16384, /* bytes of it */
	BEFORE = 64,  /* a loop has as many bytes at most, before the instruction and after it */
	AFTER = 32,
	SAMPLES_LEAST = 20,
};

static const uint64_t LOAD_NS = 30000000000, WINDOW_NS = 10000000000;

/* A function in which threads of a process were sampled. */
struct spot {
	int32_t pid;
	uint32_t func, first; /* first: a task of it */
	uint8_t *code;
	size_t n_code;
	uint64_t n, best_n; /* samples in its loops; of one call chain */
	uint64_t frame;	    /* of that */
	int32_t tids[THREADS];
	uint32_t n_threads;
};

struct search {
	struct query *q;
	const struct profile *p;
	struct spot spots[SPOTS];
	uint32_t n;
	uint64_t from_ns;
	bool pending, failed;
};

/* pause of x86; yield, wfe and isb of arm64. */
static bool is_pause(const uint8_t *code, size_t n, bool is_arm64, size_t at)
{
	static const uint8_t x86[] = {0xf3, 0x90}, arm64[][4] = {{0x3f, 0x20, 0x03, 0xd5},
								 {0x5f, 0x20, 0x03, 0xd5},
								 {0xdf, 0x3f, 0x03, 0xd5}};

	if (!is_arm64)
		return at + sizeof(x86) <= n && !memcmp(code + at, x86, sizeof(x86));
	for (size_t i = 0; i < 3; i++)
		if (!(at % 4) && at + 4 <= n && !memcmp(code + at, arm64[i], 4))
			return true;
	return false;
}

static bool is_arm64(const struct query *q)
{
	return !strcmp(q->model->host->machine, "aarch64");
}

static bool is_in_loop(const struct search *s, const struct spot *t, uint64_t frame)
{
	uint64_t start = s->q->cache->funcs[t->func].start, at = frame - start;
	size_t from = at > AFTER ? (size_t)at - AFTER : 0;

	for (size_t i = from; at < t->n_code && i < at + BEFORE; i++)
		if (is_pause(t->code, t->n_code, is_arm64(s->q), i))
			return true;
	return false;
}

static void read_code(struct search *s, struct spot *t)
{
	const char *path;

	t->code = arena_alloc(&s->q->arena, CODE);
	s->failed |= !t->code;
	if (!t->code)
		return;
	enum usersym_answer a = query_user_bytes(s->q, s->q->cache->funcs[t->func].start, t->code,
						 CODE, &t->n_code, &path);
	s->pending |= a == USERSYM_PENDING;
	t->n_code = a == USERSYM_OK ? t->n_code : 0;
}

static struct spot *find_spot(struct search *s, int32_t pid, uint64_t frame)
{
	uint32_t func = query_func(s->q, frame);

	s->pending |= s->q->cache->funcs[func].unnamed == usersym_reason(USERSYM_PENDING);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->spots[i].pid == pid && s->spots[i].func == func)
			return &s->spots[i];
	if (!func || s->n == SPOTS)
		return NULL;
	struct spot *t = &s->spots[s->n++];
	*t = (struct spot){.pid = pid, .func = func};
	read_code(s, t);
	return t;
}

static bool is_spinning(const struct spot *t, int32_t tid)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->tids[i] == tid)
			return true;
	return false;
}

static void add_cell(struct search *s, const struct profile_cell *c)
{
	const struct task *task = &s->q->model->tasks->tasks[c->task];
	const struct stack_table *stacks = &s->p->stacks;
	uint64_t frame = stacks->stacks[c->stack].n ? stack_frames(stacks, c->stack)[0] : 0;

	if (!map_frame_is_user(frame) || map_frame_is_mark(frame) || map_frame_is_code(frame))
		return;
	struct spot *t = find_spot(s, task->pid, frame);
	if (!t || !is_in_loop(s, t, frame))
		return;
	t->first = t->n ? t->first : c->task;
	t->n += c->n;
	if (c->n > t->best_n) {
		t->best_n = c->n;
		t->frame = frame;
	}
	if (!is_spinning(t, task->tid) && t->n_threads < THREADS)
		t->tids[t->n_threads++] = task->tid;
}

static bool is_recent(const struct search *s, const struct preempted_thread *t)
{
	return t->last_ns >= s->from_ns && !map_frame_is_mark(t->frame);
}

static bool has_preempted(const struct search *s, int32_t pid)
{
	const struct preempted *p = s->q->model->preempted;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->threads[i].pid == pid && is_recent(s, &p->threads[i]))
			return true;
	return false;
}

/* A thread that one of those in the loop kept off its CPU, and that was not in it. */
static bool is_kept_off(struct search *s, const struct spot *t, const struct preempted_thread *one)
{
	return one->pid == t->pid && is_recent(s, one) && is_spinning(t, one->off_tid) &&
	       !(query_func(s->q, one->frame) == t->func && is_in_loop(s, t, one->frame));
}

static uint32_t looks_in(struct search *s, const struct spot *t, uint32_t func)
{
	const struct preempted *p = s->q->model->preempted;
	uint32_t looks = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (is_kept_off(s, t, &p->threads[i]) &&
		    (!func || query_func(s->q, p->threads[i].frame) == func))
			looks += p->threads[i].looks;
	return looks;
}

/* One of those in the function where most were seen. */
static const struct preempted_thread *kept_off(struct search *s, const struct spot *t,
					       struct verdict_spin *ret)
{
	const struct preempted *p = s->q->model->preempted;
	const struct preempted_thread *best = NULL;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct preempted_thread *one = &p->threads[i];
		uint32_t looks =
			is_kept_off(s, t, one) ? looks_in(s, t, query_func(s->q, one->frame)) : 0;
		if (looks < ret->looks || !looks ||
		    (looks == ret->looks && one->looks <= best->looks))
			continue;
		best = one;
		ret->looks = looks;
	}
	ret->all_looks = looks_in(s, t, 0);
	return best;
}

static bool is_call(const char *entry)
{
	for (int i = 0; i < ENTRY_KINDS; i++)
		if (entry == entry_text((enum entry_kind)i))
			return false;
	return true;
}

/* Samples of its threads, and those in system calls. */
static void count_calls(struct search *s, const struct spot *t, struct verdict_spin *ret)
{
	const struct stack_table *stacks = &s->p->stacks;

	for (size_t i = 0; i < s->p->n; i++) {
		const struct profile_cell *c = &s->p->cells[i];
		const struct task *task = &s->q->model->tasks->tasks[c->task];
		const uint64_t *frames = stack_frames(stacks, c->stack);
		uint32_t n = stack_kernel_part(frames, stacks->stacks[c->stack].n);
		if (task->pid != t->pid || !is_spinning(t, task->tid))
			continue;
		const char *call = n ? query_syscall(s->q, frames, n) : NULL;
		ret->samples += c->n;
		ret->calls += call && is_call(call) ? c->n : 0;
	}
}

static void look(struct search *s)
{
	s->n = 0;
	s->pending = false;
	s->p = query_profile(s->q);
	for (size_t i = 0; i < s->p->n; i++)
		if (has_preempted(s, s->q->model->tasks->tasks[s->p->cells[i].task].pid))
			add_cell(s, &s->p->cells[i]);
}

static void take(struct search *s, const struct spot *t, uint64_t hz, struct verdict_spin *ret)
{
	struct query *q = s->q;
	uint64_t ns = query_has_window(q) ? query_rate_ns(q) : query_elapsed(q->model);
	double cpus = ns ? (double)t->n / (double)hz / ((double)ns / 1e9) : 0;
	struct verdict_spin found = {
		.cpus = cpus, .threads = t->n_threads, .task = t->first, .pid = t->pid};
	struct query_origin at, kept;

	if (t->n < SAMPLES_LEAST || t->n_threads < 2 || cpus <= ret->cpus)
		return;
	const struct preempted_thread *one = kept_off(s, t, &found);
	if (!one)
		return;
	s->pending |= query_user_at(q, &t->frame, 1, &at);
	s->pending |= query_user_at(q, &one->frame, 1, &kept);
	found.at = at.at;
	found.kept_at = kept.at;
	found.kept_tid = one->tid;
	found.kept_comm = one->comm;
	*ret = found;
	count_calls(s, t, ret);
}

/* Samples of the time of CPUs or of their cycles, so many a second; 0: others are taken. */
static uint64_t sample_hz(struct query *q)
{
	const struct eventlist_event *e = query_recorded_main(q);
	const char *names = query_recorded_names(q);

	return e && e->is_time && e->freq && names && !strchr(names, ',') ? e->rate : 0;
}

int verdict_find_spin(struct query *q, bool average, struct verdict_spin *ret)
{
	uint64_t hz = q->model->preempted->n ? sample_hz(q) : 0, now_ns = q->model->now_ns;
	struct search *s = hz ? arena_alloc(&q->arena, sizeof(*s)) : NULL;

	*ret = (struct verdict_spin){0};
	if (!hz)
		return 0;
	if (!s)
		return -ENOMEM;
	*s = (struct search){.q = q};
	if (!average && now_ns > WINDOW_NS)
		s->from_ns = now_ns - WINDOW_NS;
	do {
		*ret = (struct verdict_spin){0};
		look(s);
		for (uint32_t i = 0; i < s->n; i++)
			take(s, &s->spots[i], hz, ret);
	} while (s->pending && !q->keeps && !s->failed && query_load_wait(q, LOAD_NS) &&
		 query_sync(q) == 0);
	return s->failed || q->cache->failed ? -ENOMEM : 0;
}

/* "spin.c:21 s_lock burns 1.9 CPUs in 3 threads of spin/123" */
const char *verdict_say_spin(struct judge *j, struct query_finding *f)
{
	const struct verdict_spin *s = &j->spin;
	struct arena *a = &j->q->arena;
	const char *comm = query_process_comm(j->q, s->task);
	char cpus[UNITS_BUF], samples[UNITS_BUF], calls[UNITS_BUF], pct[UNITS_BUF];

	f->name = s->at;
	f->because = arena_printf(
		a,
		"evidence: they kept %s/%" PRId32 " off its CPU in %s: %s%% of %" PRIu32
		" look%s that saw one kept off; %s of their %s samples are in system calls",
		s->kept_comm, s->kept_tid, s->kept_at ? s->kept_at : "?",
		units_pct(pct, 100.0 * s->looks / s->all_looks), s->all_looks,
		s->all_looks == 1 ? "" : "s", units_count(calls, s->calls),
		units_count(samples, s->samples));
	return arena_printf(a, "%s burns %s CPUs in %" PRIu32 " threads of %s/%" PRId32,
			    s->at ? s->at : "?", units_tasks(cpus, s->cpus * 1e9), s->threads,
			    comm ? comm : "-", s->pid);
}
