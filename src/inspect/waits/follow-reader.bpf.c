// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers that waited for a rwsem and got it, while others wait. The lock's word names one reader
 * at most, and no event tells when a reader lets go. So each reader that gets it is entered by
 * itself, and the stream tells so (HOLDREC_GOT). Three things end that: no reader has the lock any
 * more; the reader waits for it again; or the reader has been back in user space, where no task
 * holds a lock of the kernel. The last one shows at a switch of tasks: the registers of user space,
 * which stand at the top of the kernel's stack, are then those of another call. Threads of the
 * kernel have none, and are not entered. follow.bpf.c includes this file.
 */
struct pt_regs___follow_x86 {
	unsigned long r13, r12, bp, bx, dx, si, di, orig_ax, ip, sp;
} CORE;

struct user_pt_regs___follow {
	__u64 regs[31], sp, pc;
} CORE;

struct pt_regs___follow_arm64 {
	struct user_pt_regs___follow user_regs;
	__u64 orig_x0;
} CORE;

static __always_inline __u64 call_mix(__u64 h, __u64 word)
{
	return (h ^ word) * 0x9e3779b97f4a7c15ull;
}

static __always_inline __u64 call_of_x86(const struct pt_regs___follow_x86 *r)
{
	__u64 ip = BPF_CORE_READ(r, ip), h = call_mix(ip, BPF_CORE_READ(r, sp));

	h = call_mix(h, BPF_CORE_READ(r, orig_ax));
	h = call_mix(h, BPF_CORE_READ(r, di));
	h = call_mix(h, BPF_CORE_READ(r, si));
	h = call_mix(h, BPF_CORE_READ(r, dx));
	h = call_mix(h, BPF_CORE_READ(r, bx));
	h = call_mix(h, BPF_CORE_READ(r, bp));
	h = call_mix(h, BPF_CORE_READ(r, r12));
	h = call_mix(h, BPF_CORE_READ(r, r13));
	return ip ? h | 1 : 0;
}

static __always_inline __u64 call_of_arm64(const struct pt_regs___follow_arm64 *r)
{
	__u64 pc = BPF_CORE_READ(r, user_regs.pc), h = call_mix(pc, BPF_CORE_READ(r, user_regs.sp));

	h = call_mix(h, BPF_CORE_READ(r, orig_x0));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[1]));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[2]));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[8]));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[19]));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[20]));
	h = call_mix(h, BPF_CORE_READ(r, user_regs.regs[21]));
	return pc ? h | 1 : 0;
}

/* A number of the call by which the task that runs here entered the kernel; 0: by none. */
static __always_inline __u64 follow_call_here(void)
{
	struct pt_regs___follow_x86 *x86 = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___follow_arm64 *arm64 = (void *)x86;

	if (bpf_core_field_exists(x86->orig_ax))
		return call_of_x86(x86);
	return bpf_core_field_exists(arm64->orig_x0) ? call_of_arm64(arm64) : 0;
}

/* That the task which runs here has got the lock, or that it is not known to have it any more. */
static __always_inline void follow_tell_reader(void *ctx, enum holdrec_what what, __u64 lock)
{
	struct follow_cpu *c = follow_here();
	struct follow_short room = {0};
	struct holdrec *r = (void *)&room;

	if (!c || !follow_may(c, bpf_ktime_get_ns(),
			      what == HOLDREC_GOT ? FOLLOW_RUNNING_MOST : FOLLOW_OFF_MOST, 1))
		return;
	r->what = what;
	r->state = what == HOLDREC_GOT ? HOLDREC_RUNNING : HOLDREC_UNKNOWN;
	follow_holder(r, c, (void *)bpf_get_current_task(), lock, 1);
	follow_write(ctx, c, r, FOLLOW_SHORT);
}

/* It has the lock now; true: it is followed, and that is to be told, after the end of its wait. */
static __always_inline bool follow_got_read(__u64 lock, __u32 tid, __u64 task)
{
	struct rw_semaphore *s = (void *)lock;
	struct follow_task *e;
	__u64 call;
	bool is_new;

	if (!bpf_core_field_exists(s->owner) ||
	    !(word_at(lock + bpf_core_field_offset(s->count)) & RWSEM_WAITERS))
		return false;
	call = follow_call_here();
	e = call ? follow_enter(task, tid, lock, FOLLOW_READER, &is_new) : NULL;
	if (!e)
		return false;
	e->kind[e->lock[0] != lock] = FOLLOW_READER;
	e->call = call;
	return true;
}

/* The task that runs here leaves its CPU: what it got in an earlier call it has no more. */
static __always_inline void follow_check_call(void *ctx, struct follow_task *e)
{
	bool first = e->kind[0] == FOLLOW_READER, second = e->kind[1] == FOLLOW_READER;

	if ((!first && !second) || e->call == follow_call_here())
		return;
	if (first) {
		follow_tell_reader(ctx, HOLDREC_GONE, e->lock[0]);
		e->kind[0] = FOLLOW_NONE;
	}
	if (second) {
		follow_tell_reader(ctx, HOLDREC_GONE, e->lock[1]);
		e->kind[1] = FOLLOW_NONE;
	}
}
