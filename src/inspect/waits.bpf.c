// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks, written into perf's rings where they begin and where they end: as perf's own
 * events of the two tracepoints do, at a fraction of their cost; and who has the lock, read where a
 * wait begins, right behind the record of that, be it ours or perf's.
 */
#include "kernel-cgroup.h"
#include "waits-chain.h"
#include "waits-owner.h"
#include "waits-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct waits_config config = {0};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, WAITS_IDS);
} ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

struct css_set {
	struct cgroup_subsys_state *subsys[1];
} CORE;

struct task_struct___cgroups {
	struct css_set *cgroups;
} CORE;

enum cgroup_subsys_id { perf_event_cgrp_id = 1 };

static __always_inline bool is_wanted(__u64 pid_tid)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = (__u32)pid_tid, pid = pid_tid >> 32;

	if (config.by_cpu &&
	    (cpu >= WAITS_CPUS || !(config.cpus[cpu / 64 % (WAITS_CPUS / 64)] >> cpu % 64 & 1)))
		return false;
	switch (config.whose) {
	case WAITS_TIDS:
		return bpf_map_lookup_elem(&ids, &tid);
	case WAITS_PIDS:
		return bpf_map_lookup_elem(&ids, &pid);
	case WAITS_CGROUP:
		return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
	default:
		return true;
	}
}

/* That by which perf counts: its controller's. */
static __always_inline __u64 cgroup_here(void)
{
	struct task_struct___cgroups *t = (void *)bpf_get_current_task();
	struct css_set *set = BPF_CORE_READ(t, cgroups);
	struct cgroup_subsys_state *css = NULL;
	__u32 nth = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);

	bpf_probe_read_kernel(
		&css, sizeof(css),
		(void *)((__u64)set + bpf_core_field_offset(set->subsys) + nth * sizeof(css)));
	return BPF_CORE_READ(css, cgroup, kn, id);
}

static __always_inline void tell_begin(struct bpf_raw_tracepoint_args *ctx, struct stack_work *w,
				       __u32 tid)
{
	__u32 flags = (__u32)ctx->args[1];
	struct stack_known *k = stack_here(ctx, w, flags, config.frames);
	__u32 n;

	if (!k)
		return;
	k->rec.magic = WAITREC_BEGIN_MAGIC;
	k->rec.lock = ctx->args[0];
	k->rec.cgroup = cgroup_here();
	k->rec.flags = flags;
	k->rec.tid = (int)tid;
	k->rec.missed = w->missed;
	w->missed = 0;
	n = k->rec.n_frames;
	if (n > WAITREC_FRAMES)
		n = WAITREC_FRAMES;
	bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &k->rec.magic,
			      sizeof(k->rec) - sizeof(k->rec.size) - sizeof(k->rec.frames) + n * 8);
}

static __always_inline void tell_owner(struct bpf_raw_tracepoint_args *ctx)
{
	struct ownerrec r = {0};

	if (owner_read(&r, ctx->args[0], (__u32)ctx->args[1]))
		bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r, sizeof(r));
}

SEC("raw_tp/contention_begin")
int see_begin(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 pid_tid = bpf_get_current_pid_tgid();
	__u32 zero = 0;
	struct stack_work *w = bpf_map_lookup_elem(&works, &zero);

	if (!w || !is_wanted(pid_tid))
		return 0;
	if (w->busy) {
		w->missed++;
		return 0;
	}
	w->busy = 1;
	if (config.waits)
		tell_begin(ctx, w, (__u32)pid_tid);
	if (config.owners)
		tell_owner(ctx);
	w->busy = 0;
	return 0;
}

SEC("raw_tp/contention_end")
int see_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 pid_tid = bpf_get_current_pid_tgid();
	struct waitrec_end r = {
		.magic = WAITREC_END_MAGIC,
		.lock = ctx->args[0],
		.ret = (int)ctx->args[1],
		.tid = (int)pid_tid,
	};

	if (is_wanted(pid_tid))
		bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r.magic,
				      sizeof(r) - sizeof(r.size));
	return 0;
}

SEC("raw_tp/sched_process_fork")
int see_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid), zero = 0;
	__u8 is_one = 1;

	if (from == to || !bpf_map_lookup_elem(&ids, &from))
		return 0;
	if (bpf_map_update_elem(&ids, &to, &is_one, BPF_ANY)) {
		struct stack_work *w = bpf_map_lookup_elem(&works, &zero);
		if (w)
			w->missed++;
	}
	return 0;
}

/* Long after its end, until which it may wait. */
SEC("raw_tp/sched_process_free")
int see_gone(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(t, tgid), tid = BPF_CORE_READ(t, pid);

	if (pid == tid)
		bpf_map_delete_elem(&ids, &pid);
	return 0;
}
