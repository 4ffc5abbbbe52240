// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clock that runs while at least one CPU is idle: what it shows at the end of a wait, less what
 * it showed at the begin, is for how long a CPU was idle that the task could have used
 * (idleclock.h). waits.bpf.c includes this file.
 *
 * Only switches from and to the idle task do anything. They count the idle CPUs of their group of
 * 16, and only the first and the last of a group touch what all CPUs share: how many groups have
 * one, and the clock. The clock is a sum from which the present time is taken when a CPU becomes
 * idle, and to which it is added when none is idle any more. Both are additions, so that no order
 * of CPUs that do so at once makes it wrong. A reader between the two steps of one would see a time
 * that cannot be, and takes none.
 *
 * Which CPUs are idle at the begin is seen on each of them, where no switch can come in between.
 */
#include "idle-shared.h"

#include "kontend/idleclock.h"

struct idle_state idle_state SEC(".data.idle") = {.pad = {1}};

enum { IDLE_TRIES = 32 };

/* Returns what it was. If so many others came first each time the clock stops for good. */
static __always_inline __u64 idle_add(unsigned long long *to, __u64 n)
{
	__u64 had = *(volatile unsigned long long *)to, was;

	for (int i = 0; i < IDLE_TRIES; i++) {
		was = __sync_val_compare_and_swap(to, had, had + n);
		if (was == had)
			return had;
		had = was;
	}
	idle_state.broken = 1;
	return had;
}

static __always_inline void idle_count(bool idle)
{
	__u64 had = idle_add(&idle_state.groups, idle ? 1 : -1);
	__u64 now;

	if (had != (idle ? 0 : 1))
		return;
	now = bpf_ktime_get_ns();
	__sync_fetch_and_add(&idle_state.sum, idle ? -now : now);
}

static __always_inline void idle_set(__u32 cpu, bool idle)
{
	struct idle_group *g = &idle_state.group[cpu / IDLE_GROUP & (IDLE_GROUPS - 1)];
	__u8 *known = &g->idle[cpu & (IDLE_GROUP - 1)];
	__u64 had;

	if (*known == idle)
		return;
	*known = idle;
	had = idle_add(&g->n, idle ? 1 : -1);
	if (had == (idle ? 0 : 1))
		idle_count(idle);
}

static __always_inline void idle_switch(struct task_struct___user *prev,
					struct task_struct___user *next)
{
	bool was = !prev->pid, is = !next->pid;

	if (was != is)
		idle_set(bpf_get_smp_processor_id(), is);
}

/* The clock at @now, for a record; 0: not known. */
static __always_inline __u32 idle_at(__u64 now)
{
	const volatile struct idle_state *s = &idle_state;
	__u64 groups, ns, since;

	if (!config.idle || !(since = s->since_ns) || s->broken)
		return 0;
	groups = s->groups;
	ns = s->sum + (groups ? now : 0);
	return ns <= now - since ? idleclock_short(ns) : 0;
}

struct task_struct___allowed {
	int nr_cpus_allowed;
} CORE;

/* The same where the wait of a task begins: 0 also of one that may not use all CPUs. */
static __always_inline __u32 idle_begin(struct task_struct *t, __u64 now)
{
	struct task_struct___allowed *task = (void *)t;

	if (!config.idle || (__u32)task->nr_cpus_allowed < idle_state.n_online)
		return 0;
	return idle_at(now);
}

#include "par.bpf.c"

/* Run by user space: is this CPU idle, or which thread runs? Or @args[1] is offline. */
SEC("raw_tp/look_idle")
int look_idle(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct___user *t = (void *)bpf_get_current_task_btf();

	if (ctx->args[0] == IDLE_LOOK_GONE)
		idle_set((__u32)ctx->args[1], false);
	else
		idle_set(bpf_get_smp_processor_id(), !t->pid);
	if (ctx->args[0] == IDLE_LOOK_HERE)
		par_look(t);
	return 0;
}
