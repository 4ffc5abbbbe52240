// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the scheduler treats holders of locks that do not sleep, and the tasks that wait for them:
 * policy and priorities, the task that has the CPU meanwhile, and the cgroup whose cpu.max keeps
 * them off. One pass over all tasks finds those that user space asks for.
 */
#include "kernel/because.h"
#include "kernel/locks.h"
#include "kernel/ns.h"
#include "kernel/walk.h"
#include "read-path.h"
#include "read-throttled.h"
#include "runs-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_runs_config config = {0};
struct raw_runs_state state = {0};

ARRAY(runs, struct raw_run, RAW_RUNS);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u32); /* index + 1 */
	__uint(max_entries, RAW_RUNS);
} runs_by_thread SEC(".maps");

struct task_struct___runs {
	unsigned int policy, rt_priority;
	int prio, static_prio, normal_prio, nr_cpus_allowed;
} CORE;

struct rq___runs {
	struct task_struct *curr;
	unsigned long long clock;
} CORE;

struct cfs_rq___runs {
	struct rq *rq;
	struct task_group___cap *tg;
	unsigned long long throttled_clock;
} CORE;

struct cfs_bandwidth___runs {
	long long period;
	unsigned long long quota;
} CORE;

struct task_group___runs {
	struct cfs_bandwidth___runs cfs_bandwidth;
} CORE;

enum { NICE_0 = 120 };

/* A directory, and the task in whose row its path goes. */
struct climb {
	__u64 node;
	__u32 nth;
};

static __always_inline struct rq___runs *run_queue(struct task_struct *t)
{
	if (!bpf_core_field_exists(t->se.cfs_rq))
		return NULL;
	return (void *)BPF_CORE_READ(t, se.cfs_rq, rq);
}

static __always_inline void read_off(struct task_struct *t, struct raw_run_off *off)
{
	struct rq___runs *rq = run_queue(t);
	struct task_struct *other = rq ? BPF_CORE_READ(rq, curr) : NULL;
	struct task_struct___runs *sched = (void *)other;

	if (!other || other == t || !BPF_CORE_READ(other, pid) ||
	    BPF_CORE_READ(other, tgid) == (int)config.self)
		return;
	off->pid = ns_pid(other, &config.ns);
	off->tid = ns_tid(other, &config.ns);
	off->policy = BPF_CORE_READ(sched, policy);
	off->rt_priority = BPF_CORE_READ(sched, rt_priority);
	off->prio = BPF_CORE_READ(sched, prio);
	BPF_CORE_READ_STR_INTO(&off->comm, other, comm);
}

static long put_limit(__u32 i, struct climb *c)
{
	struct raw_run *r = bpf_map_lookup_elem(&runs, &c->nth);

	return r ? put_group_name(&r->limit, &c->node) : 1;
}

static __always_inline void read_group(__u64 group, __u32 nth, struct raw_run *r)
{
	struct task_group___cap *tg = (void *)group;
	struct task_group___runs *bandwidth = (void *)group;
	struct climb c = {.node = (__u64)BPF_CORE_READ(tg, css.cgroup, kn), .nth = nth};

	if (bpf_core_field_exists(bandwidth->cfs_bandwidth)) {
		r->quota = BPF_CORE_READ(bandwidth, cfs_bandwidth.quota);
		r->period = (__u64)BPF_CORE_READ(bandwidth, cfs_bandwidth.period);
	}
	if (c.node)
		bpf_loop(TREE_DEPTH, put_limit, &c, 0);
}

static __always_inline void read_limit(struct task_struct *t, __u32 nth, struct raw_run *r)
{
	struct cfs_rq___runs *q = (void *)throttled_queue(t);
	struct rq___runs *rq = run_queue(t);
	__u64 since, now;

	if (!q)
		return;
	r->limited = 1;
	read_group((__u64)BPF_CORE_READ(q, tg), nth, r);
	if (!rq || !bpf_core_field_exists(q->throttled_clock))
		return;
	since = BPF_CORE_READ(q, throttled_clock);
	now = BPF_CORE_READ(rq, clock);
	r->throttled = since && now > since ? now - since : 0;
}

static __always_inline void note_run(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;
	struct task_struct___runs *sched = (void *)t;
	__u32 tid = (__u32)ns_tid(t, &config.ns);
	__u32 *at = bpf_map_lookup_elem(&runs_by_thread, &tid);

	if (!at)
		return;
	__u32 i = *at - 1;
	struct raw_run *r = bpf_map_lookup_elem(&runs, &i);
	if (!r || r->seen || !bpf_core_field_exists(task->on_cpu))
		return;
	r->policy = BPF_CORE_READ(sched, policy);
	r->rt_priority = BPF_CORE_READ(sched, rt_priority);
	r->prio = BPF_CORE_READ(sched, prio);
	r->normal_prio = BPF_CORE_READ(sched, normal_prio);
	r->nice = BPF_CORE_READ(sched, static_prio) - NICE_0;
	r->cpus = (__u32)BPF_CORE_READ(sched, nr_cpus_allowed);
	r->cpu = last_cpu(t);
	r->on_cpu = BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu);
	r->runnable = !r->on_cpu && !BPF_CORE_READ(task, __state);
	if (r->runnable) {
		read_limit(t, i, r);
		read_off(t, &r->off);
	}
	r->seen = 1;
}

SEC("iter/task")
int see_runs(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (t)
		note_run(t);
	return 0;
}

__noinline int see_run(__u64 task)
{
	note_run((void *)task);
	return 0;
}

WALK_TASKS(walk_runs, see_run, state.torn)
