// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that create breakpoints: seen at the end of perf_event_open(), and at the birth of tasks
 * that have inherited some; and tasks that were refused one, by perf_event_open() or ptrace(). No
 * event reports either, so the program is attached to the end of every system call, which costs
 * each of them, and is done on request only. At the same moments taken slots are counted as the
 * kernel does: those of the CPU, and besides them those of the task.
 */
#include "kernel/perf.h"

#include "created-shared.h"
#include "kernel/ns.h"
#include "locks/read-call.h"

enum {
	TYPE_BREAKPOINT = 5, /* PERF_TYPE_BREAKPOINT */
	BP_X = 4,
	EVENTS_MOST = 1024, /* of a task */
	NO_SPACE = -28,
};

char license_text[] SEC("license") = "GPL";

const volatile struct created_config config = {0};
struct created_state state = {0};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CREATED_PROCESSES);
	__type(key, struct created_key);
	__type(value, struct created_process);
} processes SEC(".maps");

struct task_struct___born {
	struct task_struct *group_leader;
	__u64 start_time;
} CORE;

/* The front of what a program hands over, as the kernel's interface has it. */
struct asked {
	__u32 type, size;
};

static __always_inline struct created_process *current_process(void)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct task_struct___born *leader = (void *)BPF_CORE_READ(t, group_leader);
	struct created_key key = {.tgid = BPF_CORE_READ(t, tgid)};
	struct created_process new = {0}, *p;

	key.start_ns = BPF_CORE_READ(leader, start_time);
	p = bpf_map_lookup_elem(&processes, &key);
	if (p)
		return p;
	new.pid = ns_pid(t, &config.ns);
	BPF_CORE_READ_STR_INTO(&new.comm, (struct task_struct *)leader, comm);
	bpf_map_update_elem(&processes, &key, &new, BPF_NOEXIST);
	return bpf_map_lookup_elem(&processes, &key);
}

/* Breakpoints of a task, by pool: valid on any CPU, and on `cpu` alone. */
struct count {
	__u64 node, head;
	__u32 n, any[CREATED_POOLS], on[CREATED_POOLS];
	int cpu;
};

static __always_inline __u32 pool_of(struct perf_event *e)
{
	return config.pools == 2 && !(BPF_CORE_READ(e, attr.bp_type) & BP_X);
}

static long count_event(__u32 i, struct count *c)
{
	struct perf_event *e = NULL;
	__u64 next = 0;

	if (!c->node || c->node == c->head)
		return 1;
	e = (void *)(c->node - bpf_core_field_offset(e->event_entry));
	if (BPF_CORE_READ(e, attr.type) == TYPE_BREAKPOINT) {
		int cpu = BPF_CORE_READ(e, cpu);
		__u32 second = pool_of(e);
		c->n++;
		if (second) {
			c->any[1] += cpu < 0;
			c->on[1] += cpu >= 0 && cpu == c->cpu;
		} else {
			c->any[0] += cpu < 0;
			c->on[0] += cpu >= 0 && cpu == c->cpu;
		}
	}
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)c->node))
		return 1;
	c->node = next;
	return 0;
}

static __always_inline void count_context(struct perf_event_context *ctx, struct count *c)
{
	if (!ctx)
		return;
	c->head = (__u64)ctx + bpf_core_field_offset(ctx->event_list);
	if (bpf_probe_read_kernel(&c->node, sizeof(c->node), (void *)c->head))
		return;
	bpf_loop(EVENTS_MOST, count_event, c, 0);
}

static __always_inline void count_task(struct task_struct *t, struct count *c)
{
	if (bpf_core_field_exists(((struct perf_event *)0)->pmu_ctx)) {
		count_context(BPF_CORE_READ(t, perf_event_ctxp), c);
	} else {
		struct task_struct___two *two = (void *)t;
		count_context(BPF_CORE_READ(two, perf_event_ctxp[0]), c);
		count_context(BPF_CORE_READ(two, perf_event_ctxp[1]), c);
	}
}

/* Slots of a task, to be added to those that CPUs have of their own. */
struct mark {
	__u32 pool, of_task;
};

static __always_inline void mark_cpu(__u64 cpu, __u32 pool, __u32 of_task)
{
	__u32 pinned = 0;

	barrier_var(cpu);
	if (cpu >= CREATED_CPUS || !state.bases[cpu])
		return;
	bpf_probe_read_kernel(&pinned, sizeof(pinned),
			      (void *)(state.bases[cpu] + config.off_info +
				       pool * config.info_stride + config.info_cpu_pinned));
	if (pinned + of_task <= state.most[cpu][pool ? 1 : 0])
		return;
	state.most[cpu][pool ? 1 : 0] = pinned + of_task;
}

static long mark_next(__u32 i, struct mark *m)
{
	if (i >= config.n_cpus)
		return 1;
	mark_cpu(i, m->pool, m->of_task);
	return 0;
}

/*
 * On all CPUs, if it can be more than ever: as long as no CPU has breakpoints of its own what the
 * task has is all there is.
 */
static __always_inline void mark_all(__u32 pool, __u32 of_task)
{
	struct mark m = {pool, of_task};

	if (pool >= config.pools || (!state.is_pinned && of_task <= state.most_of_task[pool & 1]))
		return;
	if (of_task > state.most_of_task[pool & 1])
		state.most_of_task[pool & 1] = of_task;
	bpf_loop(CREATED_CPUS, mark_next, &m, 0);
}

static __always_inline void mark_event(struct perf_event *e)
{
	struct task_struct *target = BPF_CORE_READ(e, hw.target);
	struct count c = {.cpu = BPF_CORE_READ(e, cpu)};
	__u32 pool = pool_of(e);

	if (!target) {
		state.is_pinned = 1;
		mark_cpu((__u32)c.cpu, pool, 0);
		return;
	}
	count_task(target, &c);
	if (c.cpu < 0)
		mark_all(pool, pool ? c.any[1] : c.any[0]);
	else
		mark_cpu((__u32)c.cpu, pool, pool ? c.any[1] + c.on[1] : c.any[0] + c.on[0]);
}

static __always_inline void mark_descriptor(__u64 fd)
{
	struct task_struct___files *t = (void *)bpf_get_current_task();
	struct files_struct *files = BPF_CORE_READ(t, files);
	struct fdtable *table = files ? BPF_CORE_READ(files, fdt) : NULL;
	struct file *f;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return;
	f = (void *)word_at((__u64)BPF_CORE_READ(table, fd) + fd * 8);
	if (f)
		mark_event(BPF_CORE_READ(f, private_data));
}

static __always_inline int see_open(__u64 attr, __s64 result)
{
	struct asked a = {0};
	struct created_process *p;

	if (bpf_probe_read_user(&a, sizeof(a), (void *)attr) || a.type != TYPE_BREAKPOINT)
		return 0;
	if (result < 0 && result != NO_SPACE)
		return 0;
	p = current_process();
	if (!p) {
		__sync_fetch_and_add(&state.dropped, 1);
	} else if (result < 0) {
		__sync_fetch_and_add(&p->refused, 1);
	} else {
		__sync_fetch_and_add(&p->opened, 1);
	}
	if (result >= 0 && config.pools)
		mark_descriptor((__u64)result);
	return 0;
}

/*
 * A debugger, to which nothing else than slots makes ptrace() say that there is no space. Its
 * breakpoints are not counted: the same call moves a breakpoint, or takes it away.
 */
static __always_inline int see_ptrace(__s64 result)
{
	struct created_process *p;

	if (result != NO_SPACE)
		return 0;
	p = current_process();
	if (p)
		__sync_fetch_and_add(&p->refused, 1);
	else
		__sync_fetch_and_add(&state.dropped, 1);
	return 0;
}

SEC("raw_tp")
int see_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	__u64 args[3] = {0};
	long long number;

	if (!read_arguments((void *)ctx->args[0], &number, args) ||
	    (number != config.perf_event_open && number != config.ptrace) || is_compat(t))
		return 0;
	if (number == config.ptrace)
		return see_ptrace((__s64)ctx->args[1]);
	return see_open(args[0], (__s64)ctx->args[1]);
}

SEC("raw_tp")
int see_birth(struct bpf_raw_tracepoint_args *ctx)
{
	struct count c = {.cpu = -1};
	struct created_process *p;

	count_task((void *)ctx->args[0], &c);
	if (!c.n)
		return 0;
	p = current_process();
	if (p)
		__sync_fetch_and_add(&p->inherited, c.n);
	else
		__sync_fetch_and_add(&state.dropped, c.n);
	mark_all(0, c.any[0]);
	mark_all(1, c.any[1]);
	return 0;
}
