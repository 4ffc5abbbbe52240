// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a session and the one entry for events. Kinds of events that change tasks or
 * counters are handled here; waits are paired in pair.c, summed in account.c, and kept within
 * bounds in fold.c. Everything is a function of the sequence of events and ticks, so a recording
 * and the live session it was made in end up in the same state.
 */
#include "file-holds.h"
#include "internal.h"
#include "kontend/cfiset.h"
#include "kontend/ended.h"
#include "kontend/funcset.h"
#include "kontend/lockname.h"
#include "kontend/mem.h"
#include "kontend/mmlevel.h"
#include "kontend/wait-on.h"
#include "tables.h"
#include "wait-lost.h"
#include "wait-phases.h"
#include "wait-user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Size of the log of holds, for each cell: ten ticks, in which each cell is a block. */
enum { HELD_WORDS = 16 };

/* Cells of how long mmap_locks were held: call paths of tasks. */
enum { MAX_CPUS = 8192, MM_HELD = 8192 };

void model_use_tables(struct model *m, struct model_tables *t)
{
	m->tables = t;
	m->limits = &t->limits;
	m->host = &t->host;
	m->tasks = &t->tasks;
	m->locks = &t->locks;
	m->stacks = &t->stacks;
	m->waits = &t->waits;
	m->untracked = &t->untracked;
	m->file_holds = &t->file_holds;
	m->past = &t->past;
	m->cells = &t->cells;
	m->held = &t->held;
	m->handed = &t->handed;
	m->mm_held = &t->mm_held;
	m->holds = &t->holds;
	m->blame = &t->blame;
	m->queues = &t->queues;
	m->blocked = &t->blocked;
	m->preempted = &t->preempted;
	m->sleeps = &t->sleeps;
	m->runs = &t->runs;
	m->user_releases = &t->user_releases;
	m->user_seen = &t->user_seen;
	m->ons = &t->ons;
	m->types = t->types;
	m->damage = &t->damage;
	m->loss = &t->loss;
	m->before = &t->before;
	m->shorts = &t->shorts;
	m->looks = &t->looks;
	m->n_series = &t->n_series;
	m->wait_series = &t->wait_series;
	m->waiting_series = &t->waiting_series;
	m->rotation = &t->rotation;
	m->profile = &t->profile;
	m->mmlocks = &t->mmlocks;
	m->snapshots = &t->snapshots;
	m->snapshots_before = &t->snapshots_before;
	m->n_snapshots = t->n_snapshots;
}

static int init_tables(struct model *m)
{
	const struct model_limits *l = m->limits;

	if (task_table_init(m->tasks, l->tasks) || lock_table_init(m->locks, l->locks) ||
	    stack_table_init(m->stacks, l->stacks) || wait_pool_init(m->waits) ||
	    cell_table_init(m->cells, l->cells, l->hist_groups) ||
	    cell_table_init(m->held, l->held, l->held + l->held / 2) ||
	    cell_table_init(m->handed, l->held, l->held + l->held / 2) ||
	    cell_table_init(m->mm_held, MM_HELD, MM_HELD + MM_HELD / 2) ||
	    profile_init(m->profile) || mmlock_init(m->mmlocks))
		return -ENOMEM;
	if (l->samples) {
		m->profile->max = l->samples;
		m->profile->stacks.max = l->sample_stacks;
	}
	m->cells->recent.max = l->recent;
	m->cells->heat.max = l->heat;
	m->cells->heat.each = HEAT_EACH;
	m->profile->recent.max = l->recent / 8;
	m->held->recent.max = l->held && l->recent ? l->held * HELD_WORDS : 0;
	m->blame->max = l->blame;
	m->blame->recent.max = l->blame && l->recent ? l->blame * 4 : 0;
	m->handed->recent.max = m->held->recent.max;
	return 0;
}

int model_init(struct model *m, const struct model_limits *limits)
{
	struct model_tables *t = mem_calloc(1, sizeof(*t));

	*m = (struct model){0};
	if (!t)
		return -ENOMEM;
	model_use_tables(m, t);
	*m->limits = limits ? *limits : model_limits_of(0);
	m->looks->due_ns = UINT64_MAX;
	m->lock_names = lockname_set_new(m->limits->locks);
	m->funcs = funcset_new();
	m->cfi = cfiset_new();
	if (m->lock_names && m->funcs && m->cfi && init_tables(m) == 0)
		return 0;
	model_deinit(m);
	return -ENOMEM;
}

void model_deinit(struct model *m)
{
	if (!m->tables)
		return;
	task_table_deinit(m->tasks);
	lock_table_deinit(m->locks);
	stack_table_deinit(m->stacks);
	wait_pool_deinit(m->waits);
	untracked_table_deinit(m->untracked);
	file_holds_deinit(m->file_holds);
	cell_table_deinit(m->cells);
	cell_table_deinit(m->held);
	cell_table_deinit(m->handed);
	cell_table_deinit(m->mm_held);
	mem_free(m->holds->v);
	mem_free(m->holds->done);
	blame_deinit(m->blame);
	lockqueues_deinit(m->queues);
	blocked_deinit(m->blocked);
	sleeps_deinit(m->sleeps);
	runs_deinit(m->runs);
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		series_deinit(&m->cpus[i].n_series);
		series_deinit(&m->cpus[i].wait_series);
	}
	mem_free(m->cpus);
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		series_deinit(&m->types[i].wait_series);
	series_deinit(m->n_series);
	series_deinit(m->wait_series);
	series_deinit(m->waiting_series);
	snapshot_set_deinit(m->snapshots);
	rotation_deinit(m->rotation);
	profile_deinit(m->profile);
	mmlock_deinit(m->mmlocks);
	snapshot_set_deinit(m->snapshots_before);
	ended_free(m->ended);
	lockname_set_unref(m->lock_names);
	funcset_unref(m->funcs);
	cfiset_unref(m->cfi);
	mem_free(m->tables);
	*m = (struct model){0};
}

static int add_cpus(struct model *m, uint32_t n)
{
	struct model_cpu *cpus = mem_resize(m->cpus, n, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	m->cpus = cpus;
	for (; m->n_cpus < n; m->n_cpus++)
		m->cpus[m->n_cpus] = (struct model_cpu){0};
	return 0;
}

struct model_cpu *model_add_cpu(struct model *m, uint32_t cpu)
{
	if (cpu >= MAX_CPUS || add_cpus(m, cpu + 1))
		return NULL;
	return &m->cpus[cpu];
}

struct model_cpu *model_cpu(struct model *m, uint32_t cpu)
{
	return cpu < m->n_cpus ? &m->cpus[cpu] : model_add_cpu(m, cpu);
}

/* The address space is gone: its last thread has exited, or executes another program. */
static void end_process(struct model *m, int32_t pid, uint64_t time_ns, const char *comm)
{
	map_spaces_clear(&m->profile->spaces, pid);
	lock_lifetime_end(m, pid, time_ns, comm);
	mmlock_end(m->mmlocks, pid, comm);
}

static int end_task(struct model *m, const struct event *ev)
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);
	bool is_known = t != NULL;

	mmlock_exit(m->mmlocks, ev->tid);
	pair_untracked_gone(m, ev->tid);
	if (t) {
		uint32_t index = *t;
		pair_task_gone(m, index);
		task_end(m->tasks, index, ev->time);
	}
	/* Threads may go on after their leader. */
	if (is_known ? task_process_has_ended(m->tasks, ev->pid) : ev->pid == ev->tid)
		end_process(m, ev->pid, ev->time, task_exited_comm(m->tasks, ev->pid));
	uint32_t most = m->limits->ended ? m->limits->ended : m->limits->tasks / 2;
	return m->tasks->n_ended > most ? fold_ended(m) : 0;
}

static int begin_task(struct model *m, const struct event *ev)
{
	const uint32_t *old = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);

	if (old)
		pair_task_gone(m, *old);
	pair_untracked_gone(m, ev->tid);
	/* A task that creates another one waits for nothing meanwhile. */
	const uint32_t *parent = map64_get(&m->tasks->by_tid, (uint32_t)ev->fork.ptid);
	if (parent)
		m->tasks->tasks[*parent].reported_ns = ev->time;
	if (ev->pid != ev->fork.ppid &&
	    map_spaces_fork(&m->profile->spaces, ev->pid, ev->fork.ppid))
		return -ENOMEM;
	return task_fork(m->tasks, ev);
}

/* As below, but for gaps of all events except waits. */
static void begin_gap_of_others(struct model *m, uint32_t cpu, uint64_t until_ns)
{
	/* Both halves of these are of one CPU: of one ring, in which nothing is within a gap. */
	rotation_lost(m->rotation, cpu == PAIR_ANY_CPU ? until_ns : 0);
	mmlock_lost(m->mmlocks, until_ns);
	lockname_lost(m->lock_names, until_ns);
}

/* From now on, and before @until_ns, records of @cpu are missing: whatever is paired may not fit.
 */
static void begin_gap(struct model *m, uint32_t cpu, uint64_t until_ns)
{
	pair_lost(m, cpu, until_ns);
	begin_gap_of_others(m, cpu, until_ns);
}

static int lose(struct model *m, const struct event *ev)
{
	struct model_cpu *cpu = model_cpu(m, ev->cpu);
	uint64_t known = ev->lost.n < m->lost_ahead ? ev->lost.n : m->lost_ahead;

	m->lost_ahead -= known;
	m->damage->lost += ev->lost.n - known;
	loss_add_gap(m, ev->time, ev->lost.n);
	task_lost(m->tasks);
	if (cpu) {
		cpu->lost += ev->lost.n;
		cpu->unreported = !ev->lost.n && !m->lost_tally;
	}
	begin_gap(m, cpu ? ev->cpu : PAIR_ANY_CPU, ev->lost.until);
	return 0;
}

/*
 * Total losses of each event, as reported at the end: mostly reported where they happened, except
 * the last ones, after which no record could report them. The totals come before records that the
 * merge still holds, so they apply to those: anything may be missing there, on whatever CPU. Losses
 * that are reported there are among those.
 */
static int record_counter_losses(struct model *m, const struct event *ev)
{
	m->lost_tally += ev->lost.n;
	m->loss->of_profile += ev->lost.of_profile ? ev->lost.n : 0;
	for (uint32_t i = 0; i < m->n_cpus; i++)
		m->cpus[i].unreported = false;
	if (m->lost_tally <= m->damage->lost)
		return 0;
	m->lost_ahead += m->lost_tally - m->damage->lost;
	loss_add_gap(m, m->now_ns, m->lost_tally - m->damage->lost);
	m->damage->lost = m->lost_tally;
	if (!ev->lost.of_profile)
		begin_gap(m, PAIR_ANY_CPU, UINT64_MAX);
	return 0;
}

static int name_task(struct model *m, const struct event *ev)
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);

	if (ev->comm.exec) {
		const char *comm = t ? m->tasks->tasks[*t].comm : NULL;
		end_process(m, ev->pid, ev->time, comm);
	}
	return task_comm(m->tasks, ev);
}

static int map_code(struct model *m, const struct event *ev)
{
	int code = map_spaces_add(&m->profile->spaces, ev);
	uint8_t *keep;
	size_t n;

	if (code < 0 || !map_spaces_crowded(&m->profile->spaces))
		return code;
	m->generation++;
	code = profile_end_objects(m->profile, &keep, &n);
	if (keep) {
		map_frames_forget(m->stacks->frames, m->stacks->n_frames, keep, n);
		sleeps_forget_objects(m->sleeps, keep, n);
		blocked_forget_objects(m->blocked, keep, n);
		runs_forget_objects(m->runs, keep, n);
		preempted_forget_objects(m->preempted, keep, n);
	}
	mem_free(keep);
	return code;
}

uint32_t model_stack(struct model *m, const uint64_t *frames, uint32_t n)
{
	uint64_t named[STACK_MAX_FRAMES];

	n = n < STACK_MAX_FRAMES ? n : STACK_MAX_FRAMES;
	return stack_get(m->stacks, ksyms_chain(&m->profile->ksyms, frames, n, named), n);
}

/* Frames of the tracing belong to no task: they depend on the other users of the tracepoint. */
uint32_t model_traced(const struct model *m, const uint64_t *frames, uint32_t n)
{
	uint32_t i = 0;

	while (m->tracing && i + 1 < n &&
	       m->tracing->function(m->tracing, frames[i]) == MODEL_FUNCTION_TRACING)
		i++;
	return i;
}

enum lock_type model_lock_type(const struct model *m, uint32_t flags, const uint64_t *frames,
			       uint32_t n)
{
	enum lock_type type = locktype_from_flags(flags);

	if (type != LOCK_SPINLOCK || !m->tracing || !n)
		return type;
	uint64_t waits = frames[model_traced(m, frames, n)];
	return m->tracing->function(m->tracing, waits) == MODEL_FUNCTION_RESILIENT ? LOCK_RQSPINLOCK
										   : type;
}

/* That of a mode: whose lock it is says the task. */
static struct cell *mm_cell(struct model *m, const struct event *ev)
{
	const struct cell_key key = {.lock = m->mmlocks->last_write ? LOCK_RWSEM_W : LOCK_RWSEM_R,
				     .stack = m->mmlocks->last_stack,
				     .task = task_get_quickly(m->tasks, ev->pid, ev->tid),
				     .owner = OWNER_NONE};
	struct cell *c = cell_get(m->mm_held, key);

	if (c)
		return c;
	cell_fold(m->mm_held, m->now_ns, fold_coarse_lock, m->locks);
	return cell_get(m->mm_held, key);
}

static int mm_event(struct model *m, const struct event *ev)
{
	struct mmlocks *l = m->mmlocks;
	uint32_t stack = STACK_OTHER;

	if (ev->mm.n_frames) {
		fold_if_full(m);
		stack = model_stack(m, ev->mm.frames, ev->mm.n_frames);
	}
	int code = mmlock_event(l, ev, &m->tasks->names->pool, stack);
	if (!l->how->paths || l->last_end != MMLOCK_ENDS_HOLD)
		return code;
	struct cell *c = mm_cell(m, ev);
	return c ? cell_add(m->mm_held, c, l->last_ns, l->last_ns, ev->time) : -ENOMEM;
}

static int take_sample(struct model *m, const struct event *ev)
{
	uint32_t task = task_get_sampled(m->tasks, ev->pid, ev->tid);

	blame_sample(m, ev, task);
	return profile_sample(m->profile, ev, m->tasks, task);
}

struct runs_lock model_waits_for(const struct model *m, uint32_t wait)
{
	const struct wait *w = &m->waits->waits[wait];
	struct runs_lock ret = {0};

	if (!wait)
		return ret;
	ret.lock = w->lock + 1;
	/* One of several readers is not known to have held it all the time. */
	const uint32_t owner = w->reported & OWNER_HINT ? TASK_OTHER : cell_owner_task(w->reported);
	if (owner == TASK_OTHER)
		return ret;
	const struct task *t = &m->tasks->tasks[owner];
	ret.holder = (struct runs_who){.pid = t->pid, .tid = t->tid};
	snprintf(ret.holder.comm, sizeof(ret.holder.comm), "%s", t->comm);
	return ret;
}

/* The task that runs again has not reported the end of its wait for a lock yet. */
static int run_event(struct model *m, const struct event *ev)
{
	/* Before the table is used: a task that is new makes it grow. */
	const uint32_t index = task_get_quickly(m->tasks, ev->pid, ev->tid);
	const struct task *t = &m->tasks->tasks[index];
	const struct runs_lock lock = model_waits_for(m, t->depth ? t->waits[t->depth - 1] : 0);

	return runs_event(m->runs, ev, &lock, &m->profile->spaces);
}

static int apply_other(struct model *m, const struct event *ev)
{
	m->loss->others += ev->kind != EVENT_LOST && ev->kind != EVENT_LOST_SAMPLES;
	switch (ev->kind) {
	case EVENT_COMM:
		return name_task(m, ev);
	case EVENT_MMAP:
		return map_code(m, ev);
	case EVENT_KSYMBOL:
		return ksyms_event(&m->profile->ksyms, ev);
	case EVENT_SAMPLE:
		return take_sample(m, ev);
	case EVENT_DEFERRED:
		return profile_deferred(m->profile, ev);
	case EVENT_FORK:
		return begin_task(m, ev);
	case EVENT_EXIT:
		return end_task(m, ev);
	case EVENT_OWNER:
		return pair_owner(m, ev);
	case EVENT_FRAMES:
		wait_user_event(m, ev);
		return 0;
	case EVENT_HOLDER:
		return blame_holder(m, ev);
	case EVENT_INODE:
		return lock_lifetime_inode(m, ev);
	case EVENT_SLEEP:
		return sleeps_event(m->sleeps, ev, &m->profile->spaces);
	case EVENT_RUN:
		return run_event(m, ev);
	case EVENT_USER:
		return user_wait(m, ev);
	case EVENT_RELEASE:
		if (m->held->max)
			release_event(m, ev);
		return 0;
	case EVENT_CGROUP:
		return task_cgroup_name(m->tasks, ev->cg.id, ev->cg.path);
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		return ev->lost.until ? lose(m, ev) : record_counter_losses(m, ev);
	case EVENT_TIMER_ENTRY:
	case EVENT_TIMER_EXIT:
	case EVENT_SWITCH:
		return rotation_event(m->rotation, ev);
	case EVENT_MM_START:
	case EVENT_MM_ACQUIRED:
	case EVENT_MM_RELEASED:
		return mm_event(m, ev);
	case EVENT_THROTTLE:
		m->damage->throttled++;
		m->loss->throttled += !ev->lost.of_profile;
		return 0;
	default:
		return 0;
	}
}

/* Did it happen while it was measured? Some other records are older. */
static bool is_measured(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_CONTENTION_BEGIN:
	case EVENT_CONTENTION_END:
	case EVENT_RELEASE:
	case EVENT_SAMPLE:
	case EVENT_TIMER_ENTRY:
	case EVENT_TIMER_EXIT:
	case EVENT_MM_START:
	case EVENT_MM_ACQUIRED:
	case EVENT_MM_RELEASED:
		return ev->time != 0;
	default:
		return false;
	}
}

/* A file's header may have another time than its samples: then these decide. */
static void find_start(struct model *m, const struct event *ev)
{
	struct record_host *h = m->host;

	if (event_may_be_of_before(ev))
		return;
	m->start_known = is_measured(ev);
	if (m->start_known && h->clock_ns > ev->time) {
		h->wall_ns -= h->wall_ns ? h->clock_ns - ev->time : 0;
		h->clock_ns = ev->time;
	}
	if (m->start_known ? !m->start_ns || ev->time < m->start_ns : !m->start_ns && ev->time)
		m->start_ns = m->zero_ns = m->bucket_ns = m->now_ns = ev->time;
}

static void note_now(struct model *m, uint64_t time_ns)
{
	if (time_ns <= m->now_ns)
		return;
	m->now_ns = time_ns;
	if (time_ns >= m->looks->due_ns)
		looks_settle(m);
}

static void note_time(struct model *m, const struct event *ev)
{
	if (!m->start_known)
		find_start(m, ev);
	note_now(m, ev->time);
}

/* A task that waits for a reader-writer lock while asking for an mmap_lock waits for that one. */
static void learn_offset(struct model *m, const struct event *ev)
{
	if (*locktype_mode(locktype_from_flags(ev->begin.flags)))
		mmlock_contended(m->mmlocks, ev->tid, ev->begin.lock);
}

int model_apply(struct model *m, const struct event *ev)
{
	int r;

	note_time(m, ev);
	m->last_wait = 0;
	switch (ev->kind) {
	case EVENT_CONTENTION_BEGIN:
		m->n_events++;
		fold_if_full(m);
		r = pair_begin(m, ev);
		if (m->mmlocks->n_tasks && !m->mmlocks->lock_offset)
			learn_offset(m, ev);
		break;
	case EVENT_CONTENTION_END:
		m->n_events++;
		r = pair_end(m, ev);
		break;
	default:
		return apply_other(m, ev);
	}
	if (ev->cpu < m->n_cpus) {
		struct model_cpu *cpu = &m->cpus[ev->cpu];
		cpu->seen = true;
		cpu->last_event_ns = ev->time;
	}
	return r;
}

void model_tick(struct model *m, uint64_t time_ns)
{
	model_round(m, time_ns);
	m->n_ticks++;
	pair_tick(m);
	account_tick(m, time_ns);
	loss_tick(m, time_ns);
	profile_tick(m->profile, m->bucket_ns, time_ns);
	rotation_tick(m->rotation, m->n_ticks);
	mmlock_tick(m->mmlocks);
	m->rate_ns = time_ns > m->bucket_ns ? time_ns - m->bucket_ns : 0;
	m->bucket_ns = time_ns;
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		m->cpus[i].fill_used = m->cpus[i].fill_next;
		m->cpus[i].fill_next = 0;
	}
}

void model_round(struct model *m, uint64_t time_ns)
{
	if (!m->start_ns)
		m->start_ns = m->zero_ns = m->bucket_ns = time_ns;
	note_now(m, time_ns);
}

static void begin_at(struct model *m, uint64_t time_ns)
{
	m->start_ns = m->zero_ns = m->bucket_ns = m->now_ns = time_ns;
}

void model_start(struct model *m, uint64_t time_ns)
{
	begin_at(m, time_ns);
	m->start_known = true;
}

void model_host(struct model *m, const struct record_host *host)
{
	*m->host = *host;
	m->host->release[sizeof(host->release) - 1] = 0;
	m->host->machine[sizeof(host->machine) - 1] = 0;
	m->host->targets[sizeof(host->targets) - 1] = 0;
	m->host->method[sizeof(host->method) - 1] = 0;
	if (host->clock_ns)
		begin_at(m, host->clock_ns);
	/* In one go: a number from a file may be any. */
	if (host->cpus)
		model_cpu(m, host->cpus < MAX_CPUS ? host->cpus - 1 : MAX_CPUS - 1);
}

/*
 * Missing records may be younger than all applied ones, and a source reports neither when it
 * happened nor until when. A round with a later time ends it: the source reads its rings, announces
 * a round of before, and is at most two late.
 */
enum { ROUNDS_BEHIND = 3 };

static void lose_some(struct model *m, uint64_t n)
{
	loss_add_gap(m, m->now_ns, n);
	m->gap_rounds = ROUNDS_BEHIND;
	begin_gap(m, PAIR_ANY_CPU, UINT64_MAX);
}

static void end_by(uint64_t *until, uint64_t time_ns)
{
	if (*until > time_ns)
		*until = time_ns;
}

void model_settle(struct model *m, uint64_t time_ns)
{
	model_round(m, time_ns);
	if (!m->gap_rounds || --m->gap_rounds)
		return;
	end_by(&m->lost_until, time_ns);
	end_by(&m->rotation->lost_until, time_ns);
	end_by(&m->mmlocks->lost_until, time_ns);
	end_by(&m->lock_names->lost_ns, time_ns);
	for (uint32_t i = 0; i < m->n_cpus; i++)
		end_by(&m->cpus[i].lost_until, time_ns);
}

void model_end(struct model *m)
{
	looks_end(m);
}

void model_drop(struct model *m, const struct record_drop *drop)
{
	m->damage->dropped += drop->records;
	lose_some(m, drop->records);
}

void model_fill(struct model *m, uint32_t cpu, const struct record_fill *fill)
{
	struct model_cpu *c = model_cpu(m, cpu);

	if (!c)
		return;
	c->fill_size = fill->size_bytes;
	if (fill->used_bytes > c->fill_next)
		c->fill_next = fill->used_bytes;
	if (fill->used_bytes > c->fill_most)
		c->fill_most = fill->used_bytes;
}

void model_cpu_state(struct model *m, const struct record_cpu *state)
{
	struct model_cpu *c = model_cpu(m, state->cpu);

	if (c) {
		c->offline = state->online == RECORD_CPU_OFFLINE;
		c->seen = true;
	}
	if (state->online == RECORD_CPU_ONLINE || state->online == RECORD_CPU_REPORTED)
		loss_add_unknown(m, m->now_ns);
	if (state->online == RECORD_CPU_ONLINE)
		lose_some(m, 0);
	if (state->online == RECORD_CPU_WAITS_WHOLE) {
		m->gap_rounds = ROUNDS_BEHIND;
		begin_gap_of_others(m, PAIR_ANY_CPU, UINT64_MAX);
	}
}

void model_zero(struct model *m)
{
	cell_table_clear(m->cells);
	cell_table_clear(m->mm_held);
	holds_zero(m);
	blame_zero(m);
	lockqueue_zero(m);
	blocked_zero(m->blocked);
	sleeps_zero(m->sleeps);
	*m->preempted = (struct preempted){0};
	runs_zero(m->runs);
	user_seen_zero(m->user_seen);
	wait_ons_zero(m->ons);
	for (uint32_t i = 0; i < m->n_cpus; i++)
		m->cpus[i].contended = m->cpus[i].total_ns = m->cpus[i].spin_ns =
			m->cpus[i].fill_most = 0;
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		m->types[i].contended = m->types[i].total_ns = m->types[i].waited_ns = 0;
	for (size_t i = 0; i < m->locks->n; i++)
		m->locks->locks[i].rcu_ns = m->locks->locks[i].readers_ns = 0;
	wait_phases_zero(m);
	wait_lost_zero(m);
	m->n_failed = 0;
	m->n_short = m->n_at_least = 0;
	memset(m->shorts->types, 0, sizeof(m->shorts->types));
	longest_recent_clear(m->past);
	rotation_zero(m->rotation);
	profile_zero(m->profile);
	mmlock_zero(m->mmlocks);
	if (m->ended)
		ended_zero(m->ended);
	m->zero_ns = m->now_ns;
	loss_begin_sums(m);
	m->generation++;
}

void model_range(struct model *m)
{
	model_zero(m);
	loss_begin_range(m);
	*m->before = (struct model_before){
		.n_events = m->n_events, .n_ticks = m->n_ticks, .damage = *m->damage};
	for (uint32_t i = 0; i < m->n_cpus; i++)
		m->cpus[i].lost_before = m->cpus[i].lost;
}

struct model_damage model_damage(const struct model *m)
{
	enum { COUNTERS = sizeof(struct model_damage) / sizeof(uint64_t) };
	uint64_t now[COUNTERS], before[COUNTERS];
	struct model_damage ret;

	memcpy(now, m->damage, sizeof(now));
	memcpy(before, &m->before->damage, sizeof(before));
	for (size_t i = 0; i < COUNTERS; i++)
		now[i] -= before[i];
	memcpy(&ret, now, sizeof(ret));
	ret.unmatched = ret.unmatched_begin + ret.unmatched_end;
	return ret;
}

static size_t series_bytes(const struct series *s)
{
	return s->v ? SERIES_LEN * sizeof(*s->v) : 0;
}

static size_t map_bytes(const struct map64 *map)
{
	return map->slots ? (map->mask + 1) * sizeof(*map->slots) : 0;
}

static size_t all_series_bytes(const struct model *m)
{
	size_t n = series_bytes(m->n_series) + series_bytes(m->wait_series) +
		   series_bytes(m->waiting_series);

	for (size_t i = 0; i < m->locks->n; i++)
		n += series_bytes(&m->locks->locks[i].wait_series);
	for (uint32_t i = 0; i < m->n_cpus; i++)
		n += series_bytes(&m->cpus[i].n_series) + series_bytes(&m->cpus[i].wait_series);
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		n += series_bytes(&m->types[i].wait_series);
	return n;
}

size_t model_bytes(const struct model *m)
{
	return m->tasks->cap * sizeof(*m->tasks->tasks) + map_bytes(&m->tasks->by_tid) +
	       map_bytes(&m->tasks->exited) + m->tasks->names->pool.arena.used_bytes +
	       m->locks->cap * sizeof(*m->locks->locks) + map_bytes(&m->locks->index) +
	       map_bytes(&m->locks->others) + m->stacks->cap * sizeof(*m->stacks->stacks) +
	       m->stacks->cap_frames * sizeof(*m->stacks->frames) +
	       (m->stacks->mask + 1) * sizeof(*m->stacks->slots) + cell_bytes(m->cells) +
	       cell_bytes(m->held) + cell_bytes(m->handed) + cell_bytes(m->mm_held) +
	       m->holds->cap * sizeof(*m->holds->v) + m->holds->cap_done * sizeof(*m->holds->done) +
	       m->waits->cap * sizeof(*m->waits->waits) + map_bytes(&m->untracked->by_tid) +
	       m->untracked->cap * sizeof(*m->untracked->untracked) + m->n_cpus * sizeof(*m->cpus) +
	       m->snapshots->bytes + m->snapshots_before->bytes + rotation_bytes(m->rotation) +
	       profile_bytes(m->profile) + blame_bytes(m->blame) + lockqueues_bytes(m->queues) +
	       blocked_bytes(m->blocked) + sleeps_bytes(m->sleeps) + runs_bytes(m->runs) +
	       mmlock_bytes(m->mmlocks) + file_holds_bytes(m->file_holds) + all_series_bytes(m);
}
