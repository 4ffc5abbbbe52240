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
#include "kernel-perf.h"

#include "inspect-shared.h"

enum { TYPE_BREAKPOINT = 5 }; /* PERF_TYPE_BREAKPOINT */

char license_text[] SEC("license") = "GPL";

/* One object each, so that user space finds them at the front of their sections. */
const volatile struct raw_config config = {0};
struct raw_state state = {0};

#define ARRAY(map, item, n)                                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, n);                                                            \
		__type(key, __u32);                                                                \
		__type(value, item);                                                               \
	} map SEC(".maps")

ARRAY(events, struct raw_event, RAW_EVENTS);
ARRAY(contexts, struct raw_context, RAW_CONTEXTS);
ARRAY(holders, struct raw_holder, RAW_HOLDERS);
ARRAY(cpus, struct raw_cpu, RAW_CPUS);

/* Our descriptors of the CPUs' events: number to CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} own_fds SEC(".maps");

/* A task of the kernel's, or NULL; error pointers and the mark of dead owners are none. */
static __always_inline struct task_struct *some_task(struct task_struct *t)
{
	return (__s64)t < -4096 ? t : NULL;
}

static __always_inline void read_task(struct task_struct *t, int *pid, int *tid, char *comm)
{
	*pid = *tid = 0;
	comm[0] = 0;
	if (!t)
		return;
	*pid = BPF_CORE_READ(t, tgid);
	*tid = BPF_CORE_READ(t, pid);
	BPF_CORE_READ_STR_INTO((char(*)[16])comm, t, comm);
}

/* Loops of this kind are unrolled: whether 6.1 takes one depends on how the compiler lays it out.
 */
enum { PTRACE_MOST = 32 };

/* How many breakpoints a tracer can set in a task, and the one at @i. */
static __always_inline int ptrace_slots(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread.ptrace_bps))
		return 4;
	return bpf_core_field_exists(t->thread.debug.hbp_break) ? 32 : 0;
}

static __always_inline __u64 ptrace_event(struct task_struct *t, int i)
{
	__u64 at = (__u64)t, event = 0;

	if (bpf_core_field_exists(t->thread.ptrace_bps))
		at += bpf_core_field_offset(t->thread.ptrace_bps);
	else if (bpf_core_field_exists(t->thread.debug.hbp_break))
		at += bpf_core_field_offset(t->thread.debug.hbp_break); /* hbp_watch[] follows */
	if (bpf_probe_read_kernel(&event, sizeof(event), (void *)(at + (__u64)i * 8)))
		return 0;
	return event;
}

/* Is @e among the breakpoints that a tracer set in @t? */
static __always_inline bool is_ptrace(struct task_struct *t, struct perf_event *e)
{
	int n = ptrace_slots(t);

#pragma unroll
	for (int i = 0; i < PTRACE_MOST; i++)
		if (i < n && ptrace_event(t, i) == (__u64)e)
			return true;
	return false;
}

/* The front of struct perf_event_attr, which no kernel may change: one read instead of ten. */
struct attr_front {
	__u32 type, size;
	__u64 config, period, sample_type, read_format;
	__u64 disabled : 1, inherit : 1, pinned : 1, exclusive : 1, others : 60;
	__u32 wakeup, bp_type;
	__u64 bp_addr, bp_len;
};

static __always_inline void read_attr(struct raw_event *r, struct perf_event *e)
{
	struct attr_front a = {0};

	bpf_probe_read_kernel(&a, sizeof(a), (char *)e + bpf_core_field_offset(e->attr));
	r->type = a.type;
	r->config = a.config;
	r->bp_type = a.bp_type;
	r->bp_addr = a.bp_addr;
	r->bp_len = a.bp_len;
	if (a.pinned)
		r->flags |= RAW_PINNED;
	if (a.inherit)
		r->flags |= RAW_INHERIT;
	if (a.exclusive)
		r->flags |= RAW_EXCLUSIVE;
}

static __always_inline void read_counts(struct raw_event *r, struct perf_event *e)
{
	struct perf_event *parent = BPF_CORE_READ(e, parent);

	r->id = BPF_CORE_READ(e, id);
	r->parent = (__u64)parent;
	r->parent_id = parent ? BPF_CORE_READ(parent, id) : 0;
	r->leader = (__u64)BPF_CORE_READ(e, group_leader);
	r->state = BPF_CORE_READ(e, state);
	r->cpu = BPF_CORE_READ(e, cpu);
	r->oncpu = BPF_CORE_READ(e, oncpu);
	bpf_core_read(&r->count, sizeof(r->count), &e->count);
	r->enabled_ns = BPF_CORE_READ(e, total_time_enabled);
	r->running_ns = BPF_CORE_READ(e, total_time_running);
	r->tstamp = BPF_CORE_READ(e, tstamp);
}

static __always_inline void read_context_of(struct raw_event *r, struct perf_event *e)
{
	struct perf_event_context *c = BPF_CORE_READ(e, ctx);
	int rotates = 0;

	r->ctx = (__u64)c;
	r->ctx_time = BPF_CORE_READ(c, time);
	r->ctx_active = BPF_CORE_READ(c, is_active);
	r->ctx_events = BPF_CORE_READ(c, nr_events);
	if (bpf_core_field_exists(e->pmu_ctx))
		rotates = BPF_CORE_READ(e, pmu_ctx, rotate_necessary);
	else
		rotates = BPF_CORE_READ(c, rotate_necessary);
	if (rotates)
		r->flags |= RAW_ROTATES;
}

static __always_inline void read_names(struct raw_event *r, struct perf_event *e)
{
	struct trace_event_call *call = BPF_CORE_READ(e, tp_event);
	const char *name = NULL;

	bpf_probe_read_kernel_str(r->pmu, sizeof(r->pmu), BPF_CORE_READ(e, pmu, name));
	r->system[0] = r->name[0] = 0;
	if (!call)
		return;
	bpf_probe_read_kernel_str(r->system, sizeof(r->system), BPF_CORE_READ(call, class, system));
	/* TRACE_EVENT_FL_TRACEPOINT: the name is the tracepoint's. */
	if (BPF_CORE_READ(call, flags) & config.tracepoint_flag)
		name = BPF_CORE_READ(call, tp, name);
	else
		name = BPF_CORE_READ(call, name);
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), name);
}

static __always_inline void read_tasks(struct raw_event *r, struct perf_event *e)
{
	struct task_struct *owner = BPF_CORE_READ(e, owner);
	struct task_struct *target = some_task(BPF_CORE_READ(e, hw.target));
	struct task_struct *tracer = NULL;

	if ((__s64)owner == -1)
		r->flags |= RAW_KERNEL;
	read_task(some_task(owner), &r->owner_pid, &r->owner_tid, r->owner_comm);
	read_task(target, &r->target_pid, &r->target_tid, r->target_comm);
	/* Those of tracers are the kernel's own: no need to look for others among them. */
	if (target && r->flags & RAW_KERNEL && is_ptrace(target, e)) {
		r->flags |= RAW_PTRACE;
		if (BPF_CORE_READ(target, ptrace))
			tracer = some_task(BPF_CORE_READ(target, parent));
	}
	int tid;
	read_task(tracer, &r->tracer_pid, &tid, r->tracer_comm);
}

static __always_inline void read_cgroup(struct raw_event *r, struct perf_event *e)
{
	struct perf_cgroup *cgroup = NULL;

	r->cgroup[0] = 0;
	if (bpf_core_field_exists(e->cgrp))
		cgroup = BPF_CORE_READ(e, cgrp);
	if (!cgroup)
		return;
	r->flags |= RAW_CGROUP;
	bpf_probe_read_kernel_str(r->cgroup, sizeof(r->cgroup),
				  BPF_CORE_READ(cgroup, css.cgroup, kn, name));
}

/*
 * Global functions are verified once, however many programs and loops call them; their arguments
 * must be plain numbers.
 */
__noinline int put_event(__u64 addr, __u32 flags)
{
	struct perf_event *e = (void *)addr;
	__u32 i = state.n_events;
	struct raw_event *r = bpf_map_lookup_elem(&events, &i);

	if (!r) {
		state.dropped++;
		return 0;
	}
	r->addr = addr;
	r->flags = flags;
	read_attr(r, e);
	/* It is in the breakpoints' own list as well. */
	if (r->type == TYPE_BREAKPOINT && state.has_pmu_list && flags & RAW_OF_CONTEXT)
		return 0;
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

static long step(__u32 i, struct walk *w)
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
	bpf_loop(RAW_WALK, step, &w, 0);
	if (w.node != w.head)
		state.torn++;
	return 0;
}

__noinline int put_context(__u64 addr, int cpu, int pid, int tid)
{
	struct perf_event_context *c = (void *)addr;
	__u32 i = state.n_contexts;
	struct raw_context *r = bpf_map_lookup_elem(&contexts, &i);

	if (!r) {
		state.dropped++;
		return 0;
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
	r->time = BPF_CORE_READ(c, time);
	if (bpf_core_field_exists(c->rotate_necessary))
		r->rotates = BPF_CORE_READ(c, rotate_necessary);
	walk_list(addr + bpf_core_field_offset(c->event_list),
		  bpf_core_field_offset(((struct perf_event *)0)->event_entry), RAW_OF_CONTEXT);
	return 0;
}

/* Own descriptors: what perf files are, and which events to start from. */
SEC("iter/task_file")
int learn(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;

	if (!t || !f || t->tgid != config.self)
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

/* Once on each CPU: where its per-CPU section is, told by the run queue of the running task. */
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
	put_context((__u64)c, -1, t->tgid, t->pid);
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

SEC("iter/task")
int read_tasks_contexts(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t)
		return 0;
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

/*
 * Who has perf descriptors. An event whose task has exited is in no context's list any more, but
 * keeps what it has taken as long as somebody holds it.
 */
SEC("iter/task_file")
int read_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;
	__u32 i = state.n_holders;

	if (!t || !f || !state.fops || (__u64)f->f_op != state.fops)
		return 0;
	struct raw_holder *r = bpf_map_lookup_elem(&holders, &i);
	if (!r) {
		state.dropped++;
		return 0;
	}
	state.n_holders = i + 1;
	r->event = (__u64)f->private_data;
	if (BPF_CORE_READ((struct perf_event *)f->private_data, state) <= STATE_EXIT)
		put_event(r->event, 0);
	r->pid = t->tgid;
	r->fd = (int)ctx->fd;
	BPF_CORE_READ_STR_INTO(&r->comm, t, group_leader, comm);
	return 0;
}
