// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has the lock that a task begins to wait for: read where the kernel says that it does, right
 * behind perf's own record of that, and written into the same ring. Of a rwsem that readers have
 * the kernel remembers but one of them, who may have gone meanwhile: a hint.
 */
#include "kernel-locks.h"

#include "../../include/kontend/ownerrec.h"
#include "owner-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct owner_config config = {0};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, OWNER_TIDS);
} tids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

/* include/trace/events/lock.h */
enum { LCB_SPIN = 1, LCB_READ = 2, LCB_WRITE = 4, LCB_RT = 8, LCB_PERCPU = 16, LCB_MUTEX = 32 };

enum { FLAG_BITS = 7, READER_OWNED = 1 };

static __always_inline __u64 word_at(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/* Into *@ret the task, or 0 for nobody. False: a lock that does not say. */
static __always_inline bool owner_of(__u64 lock, __u32 flags, __u64 *ret, unsigned int *ret_hint)
{
	struct rw_semaphore *s = (void *)lock;
	struct semaphore *sem = (void *)lock;
	struct mutex *m = (void *)lock;
	__u64 word;

	if (flags & LCB_MUTEX) {
		if (!bpf_core_field_exists(m->wait_list))
			return false; /* of PREEMPT_RT */
		*ret = word_at(lock + bpf_core_field_offset(m->owner)) & ~(__u64)FLAG_BITS;
		return true;
	}
	if (!flags && bpf_core_field_exists(sem->last_holder)) {
		*ret_hint = 1;
		*ret = word_at(lock + bpf_core_field_offset(sem->last_holder));
		return true;
	}
	if (!(flags & (LCB_READ | LCB_WRITE)) || flags & (LCB_SPIN | LCB_RT | LCB_PERCPU) ||
	    !bpf_core_field_exists(s->wait_list))
		return false;
	word = word_at(lock + bpf_core_field_offset(s->owner));
	*ret_hint = word & READER_OWNED;
	*ret = word & ~(__u64)FLAG_BITS;
	return true;
}

static __always_inline bool is_wanted(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), cpu = bpf_get_smp_processor_id();

	if (config.by_cpu &&
	    (cpu >= OWNER_CPUS || !(config.cpus[cpu / 64 % (OWNER_CPUS / 64)] >> cpu % 64 & 1)))
		return false;
	return !config.by_tid || bpf_map_lookup_elem(&tids, &tid);
}

SEC("raw_tp/contention_begin")
int see_owner(struct bpf_raw_tracepoint_args *ctx)
{
	struct ownerrec r = {.magic = OWNERREC_MAGIC, .lock = ctx->args[0]};
	struct task_struct *t;
	__u64 owner = 0;

	if (!is_wanted() || !owner_of(r.lock, (__u32)ctx->args[1], &owner, &r.hint))
		return 0;
	t = (void *)owner;
	if (t) {
		r.tid = BPF_CORE_READ(t, pid);
		if (r.tid <= 0)
			return 0;
		r.pid = BPF_CORE_READ(t, tgid);
		BPF_CORE_READ_STR_INTO(&r.comm, t, comm);
	}
	bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r, sizeof(r));
	return 0;
}
