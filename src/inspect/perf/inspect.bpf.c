// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads perf events, contexts and breakpoint slots out of the running kernel, without locks and
 * without changing anything. Programs are run on demand (test_run, iterators), never attached to
 * anything that happens.
 *
 * Lists are walked while others change them. All that is followed is read by probe reads, which
 * fail where there is nothing; freed events stay readable until the grace period ends, in which
 * the programs run. A walk counts as whole when it came back to the list's head; `torn` counts the
 * others, and user space walks again.
 */
#include "kernel/perf.h"

#include "kernel/walk-files.h"
#include "read-event.h"
#include "read-task.h"
#include "shared.h"

enum { TYPE_BREAKPOINT = 5 }; /* PERF_TYPE_BREAKPOINT */

char license_text[] SEC("license") = "GPL";

/* One object each, so that user space finds them at the front of their sections. */
const volatile struct raw_config config = {0};
struct raw_state state = {0};

ARRAY(events, struct raw_event, RAW_EVENTS);
ARRAY(contexts, struct raw_context, RAW_CONTEXTS);
ARRAY(holders, struct raw_holder, RAW_HOLDERS);
ARRAY(cpus, struct raw_cpu, RAW_CPUS);
ARRAY(again, struct raw_again, RAW_AGAIN);

/* Our descriptors of the CPUs' events: number to CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} own_fds SEC(".maps");

/* Of several passes each takes what hashes to its number: lists may change from one to the next. */
static __always_inline bool is_of_pass(__u64 addr)
{
	__u32 n = state.passes;

	return n <= 1 || (__u32)(addr * 0x9e3779b97f4a7c15ull >> 32) % n == state.pass;
}

/* Is it asked for, and not found elsewhere? */
static __always_inline bool is_wanted(__u32 type, __u32 flags)
{
	if (type != TYPE_BREAKPOINT)
		return !state.only_breakpoints;
	/* It is in the breakpoints' own list as well. */
	return !(state.has_pmu_list && flags & RAW_OF_CONTEXT);
}

/*
 * Global functions are verified once, however many programs and loops call them; their arguments
 * must be plain numbers.
 */
__noinline int put_event(__u64 addr, __u32 flags)
{
	struct perf_event *e = (void *)addr;
	struct attr_front a = {0};

	if (!is_of_pass(addr))
		return 0;
	bpf_probe_read_kernel(&a, sizeof(a), (char *)e + bpf_core_field_offset(e->attr));
	if (!is_wanted(a.type, flags))
		return 0;
	__u32 i = state.n_events;
	struct raw_event *r = bpf_map_lookup_elem(&events, &i);
	if (!r) {
		state.dropped_events++;
		return 0;
	}
	r->addr = addr;
	r->flags = flags;
	take_attr(r, &a);
	state.n_events = i + 1;
	if (r->type == TYPE_BREAKPOINT && !state.bp_pmu)
		state.bp_pmu = (__u64)BPF_CORE_READ(e, pmu);
	read_counts(r, e);
	read_context_of(r, e);
	read_names(r, e);
	read_tasks(r, e);
	read_cgroup(r, e);
	return 0;
}

struct walk {
	__u64 head, node, offset;
	__u32 flags;
};

static long walk_step(__u32 i, struct walk *w)
{
	__u64 next = 0;

	if (!w->node || w->node == w->head)
		return 1;
	put_event(w->node - w->offset, w->flags);
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)w->node))
		return 1;
	w->node = next;
	return 0;
}

/* Every event of the list at @head, whose links are @offset into the events. */
__noinline int walk_list(__u64 head, __u64 offset, __u32 flags)
{
	struct walk w = {.head = head, .offset = offset, .flags = flags};

	if (bpf_probe_read_kernel(&w.node, sizeof(w.node), (void *)head)) {
		state.torn++;
		return 0;
	}
	if (w.node == head)
		return 0;
	bpf_loop(RAW_WALK, walk_step, &w, 0);
	if (w.node != w.head)
		state.torn++;
	return 0;
}

static __always_inline void record_context(__u64 addr, int cpu, int pid, int tid)
{
	struct perf_event_context *c = (void *)addr;
	__u32 i = state.n_contexts;
	struct raw_context *r = bpf_map_lookup_elem(&contexts, &i);

	if (!r) {
		state.dropped_contexts++;
		return;
	}
	state.n_contexts = i + 1;
	r->addr = addr;
	r->cpu = cpu;
	r->pid = pid;
	r->tid = tid;
	r->comm[0] = 0;
	r->rotates = 0;
	r->events = BPF_CORE_READ(c, nr_events);
	r->active = BPF_CORE_READ(c, is_active);
	r->time = context_time(c);
	if (bpf_core_field_exists(c->rotate_necessary))
		r->rotates = BPF_CORE_READ(c, rotate_necessary);
}

__noinline int put_context(__u64 addr, int cpu, int pid, int tid)
{
	/* Those of CPUs are few, and each pass has to know them. */
	if (!state.only_breakpoints && (cpu >= 0 || is_of_pass(addr)))
		record_context(addr, cpu, pid, tid);
	walk_list(addr + bpf_core_field_offset(((struct perf_event_context *)0)->event_list),
		  bpf_core_field_offset(((struct perf_event *)0)->event_entry), RAW_OF_CONTEXT);
	return 0;
}

/* Own descriptors: what perf files are, and which events to start from. */
SEC("iter/task_file")
int learn(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;

	if (!t || !f || ns_pid(t, &config.ns) != config.self)
		return 0;
	__u32 fd = ctx->fd;
	__u32 *cpu = bpf_map_lookup_elem(&own_fds, &fd);
	if (cpu) {
		__u64 i = *cpu;
		barrier_var(i);
		if (i < RAW_CPUS) {
			state.fops = (__u64)f->f_op;
			state.anchors[i] = (__u64)f->private_data;
		}
	}
	if ((int)ctx->fd == state.bp_fd)
		state.bp_pmu = (__u64)BPF_CORE_READ((struct perf_event *)f->private_data, pmu);
	return 0;
}

/* Once on each CPU: its per-CPU section, from the run queue of the running task. */
SEC("raw_tp")
int learn_base(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *t = (void *)bpf_get_current_task();
	struct raw_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (!bpf_core_field_exists(t->se.cfs_rq))
		return 0; /* a kernel without FAIR_GROUP_SCHED */
	struct rq *rq = BPF_CORE_READ(t, se.cfs_rq, rq);
	if (c && config.off_runqueues != RAW_NO_OFFSET && BPF_CORE_READ(rq, cpu) == (int)cpu)
		c->base = (__u64)rq - config.off_runqueues;
	return 0;
}

static __always_inline int copy(void *to, __u32 size, __u64 from)
{
	return bpf_probe_read_kernel(to, size, (void *)from) != 0;
}

static long read_cpu(__u32 cpu, void *ctx)
{
	struct raw_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (!c || cpu >= config.n_cpus)
		return 1;
	if (!c->base)
		return 0;
	int failed = 0;
	if (config.info_size && config.info_size <= sizeof(c->info))
		failed |= copy(c->info, config.info_size, c->base + config.off_info);
	for (int k = 0; k < RAW_POOLS; k++) {
		__u32 size = config.regs_size[k];
		if (!size || size > sizeof(c->regs[k]))
			continue;
		failed |= copy(c->regs[k], size, c->base + config.off_regs[k]);
	}
	if (config.off_dr7 != RAW_NO_OFFSET)
		failed |= copy(&c->dr7, sizeof(c->dr7), c->base + config.off_dr7);
	c->failed = failed;
	return 0;
}

SEC("raw_tp")
int read_cpus(void *ctx)
{
	bpf_loop(RAW_CPUS, read_cpu, NULL, 0);
	return 0;
}

/* 6.15 and later: every breakpoint event there is, however it was made. */
SEC("raw_tp")
int read_breakpoints(void *ctx)
{
	struct pmu *p = (void *)state.bp_pmu;

	if (!bpf_core_field_exists(p->events) || !p)
		return 0;
	state.has_pmu_list = 1;
	walk_list((__u64)p + bpf_core_field_offset(p->events),
		  bpf_core_field_offset(((struct perf_event *)0)->pmu_list), 0);
	return 0;
}

static long read_cpu_context(__u32 cpu, void *ctx)
{
	__u64 i = cpu;

	barrier_var(i);
	if (i >= config.n_cpus || i >= RAW_CPUS)
		return 1;
	struct perf_event *e = (void *)state.anchors[i];
	if (e)
		put_context((__u64)BPF_CORE_READ(e, ctx), (int)cpu, 0, 0);
	return 0;
}

SEC("raw_tp")
int read_cpu_contexts(void *ctx)
{
	bpf_loop(RAW_CPUS, read_cpu_context, NULL, 0);
	return 0;
}

static __always_inline void name_context(struct task_struct *t)
{
	__u32 i = state.n_contexts - 1;
	struct raw_context *r = bpf_map_lookup_elem(&contexts, &i);

	if (r)
		BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
}

/* Pointers that a probe read gave are plain numbers, as put_context() needs them. */
static __always_inline void task_context(struct task_struct *t, struct perf_event_context *c)
{
	__u32 before = state.n_contexts;

	if (!c)
		return;
	put_context((__u64)c, -1, ns_pid(t, &config.ns), ns_tid(t, &config.ns));
	if (state.n_contexts != before)
		name_context(t);
}

/* Breakpoints of a tracer that are switched off are in no context's list before 6.15. */
static __always_inline void put_ptrace(struct task_struct *t)
{
	int n = ptrace_slots(t);

#pragma unroll
	for (int i = 0; i < PTRACE_MOST; i++) {
		__u64 event = i < n ? ptrace_event(t, i) : 0;

		if (event)
			put_event(event, 0);
	}
}

static __always_inline int read_task_contexts(struct task_struct *t)
{
	if (bpf_core_field_exists(((struct perf_event *)0)->pmu_ctx)) {
		task_context(t, BPF_CORE_READ(t, perf_event_ctxp));
	} else {
		struct task_struct___two *two = (void *)t;
		task_context(t, BPF_CORE_READ(two, perf_event_ctxp[0]));
		task_context(t, BPF_CORE_READ(two, perf_event_ctxp[1]));
	}
	if (!state.has_pmu_list)
		put_ptrace(t);
	return 0;
}

SEC("iter/task")
int read_tasks_contexts(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t ? read_task_contexts(t) : 0;
}

__noinline int see_task(__u64 task)
{
	return read_task_contexts((void *)task);
}

WALK_TASKS(walk_tasks_contexts, see_task, state.torn)

/*
 * Before 6.2 each PMU has a context of its own on each CPU; those of software events are found by
 * ours, the others by their events.
 */
static __always_inline void read_context_of_pmu(struct raw_holder *r, struct perf_event *e)
{
	struct perf_event_context *c = BPF_CORE_READ(e, ctx);

	r->ctx = 0;
	r->cpu = -1;
	if (bpf_core_field_exists(e->pmu_ctx) || !c || BPF_CORE_READ(c, task))
		return;
	r->ctx = (__u64)c;
	r->cpu = BPF_CORE_READ(e, cpu);
}

/*
 * Holders of perf descriptors. An event whose task has exited is in no context's list any more, but
 * keeps its resources as long as a task holds it.
 */
static __always_inline int read_holder(struct task_struct *t, struct file *f, __u32 fd)
{
	/* By a probe read, so that it is a plain number. */
	__u64 addr = (__u64)BPF_CORE_READ(f, private_data);
	struct perf_event *e = (void *)addr;
	__u32 type = BPF_CORE_READ(e, attr.type);
	if (!is_of_pass(addr) || (state.only_breakpoints && type != TYPE_BREAKPOINT))
		return 0;
	__u32 i = state.n_holders;
	struct raw_holder *r = bpf_map_lookup_elem(&holders, &i);
	if (!r) {
		state.dropped_holders++;
		return 0;
	}
	state.n_holders = i + 1;
	r->event = addr;
	r->id = BPF_CORE_READ(e, id);
	r->type = type;
	read_context_of_pmu(r, e);
	r->pid = ns_pid(t, &config.ns);
	r->fd = (int)fd;
	BPF_CORE_READ_STR_INTO(&r->comm, t, group_leader, comm);
	if (!state.only_breakpoints && BPF_CORE_READ(e, state) <= STATE_EXIT)
		put_event(addr, 0);
	return 0;
}

SEC("iter/task_file")
int read_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;

	if (!t || !f || !state.fops || (__u64)f->f_op != state.fops)
		return 0;
	return read_holder(t, f, ctx->fd);
}

__noinline int see_file(__u64 task, __u64 file, __u32 fd)
{
	struct file *f = (void *)file;

	if (!state.fops || (__u64)BPF_CORE_READ(f, f_op) != state.fops)
		return 0;
	return read_holder((void *)task, f, fd);
}

WALK_FILES(walk_holders, see_file, state.torn)

static long read_one_again(__u32 i, void *ctx)
{
	struct raw_again *a = bpf_map_lookup_elem(&again, &i);

	if (!a || i >= state.n_again)
		return 1;
	struct perf_event *e = (void *)a->addr;
	if (!a->id)
		put_context(a->addr, a->cpu, 0, 0);
	else if (BPF_CORE_READ(e, id) == a->id && BPF_CORE_READ(e, state) <= STATE_EXIT)
		put_event(a->addr, 0);
	return 0;
}

/*
 * Reads the contexts that user space names, and events that are in no list since their task has
 * exited. They may be freed by now, and others be in their place.
 */
SEC("raw_tp")
int read_again(void *ctx)
{
	bpf_loop(RAW_AGAIN, read_one_again, NULL, 0);
	return 0;
}
