// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders that their lock does not name: readers of a rwsem, except one, and writers of a
 * percpu-rwsem. No event reports their release. A task that waited for such a lock and got it
 * enters itself, a reader only if others wait, and the stream reports it (HOLDREC_GOT). Three
 * things end that: the lock's words show that no reader, or no writer, has it any more; the task
 * waits for it again; or the task has been back in user space, where no task holds a lock of the
 * kernel (HOLDREC_GONE). The last one shows at a switch of tasks: the registers of user space, at
 * the top of the kernel's stack, are then those of another call. Threads of the kernel have none,
 * and are not entered.
 *
 * A percpu-rwsem names its writer while the writer waits until earlier readers are through. After
 * that the writer is followed until it is back in user space, if it has slept in that wait: then
 * the call in which it has the lock is known. A writer that releases the lock wakes the waiting
 * tasks, which names it where it was not known before; from its next switch on it is no longer
 * followed (HOLDREC_UNFOLLOWED). follow.bpf.c includes this file.
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

/*
 * Of the task that runs here: it has got the lock, or is not known to have it any more. Global, as
 * owner_read() is.
 */
__noinline int follow_report_unnamed(struct bpf_raw_tracepoint_args *ctx CTX_ARG,
				     enum holdrec_what what, __u64 lock, enum follow_kind kind)
{
	struct follow_cpu *c = follow_here();
	struct follow_short room = {0};
	struct holdrec *r = (void *)&room;

	if (!c || !follow_may(c, bpf_ktime_get_ns(),
			      what == HOLDREC_GOT ? FOLLOW_RUNNING_MOST : FOLLOW_OFF_MOST, 1))
		return 0;
	r->what = what;
	r->state = what == HOLDREC_GOT ? HOLDREC_RUNNING : HOLDREC_UNKNOWN;
	r->lock = lock;
	r->hint = kind == FOLLOW_READER;
	follow_say(ctx, &room, bpf_get_current_task());
	return 0;
}

static __always_inline bool follow_has_queue(__u64 lock)
{
	struct rw_semaphore *s = (void *)lock;

	return bpf_core_field_exists(s->owner) &&
	       word_at(lock + bpf_core_field_offset(s->count)) & RWSEM_WAITERS;
}

/* It has the lock now. FOLLOW_NONE: it is not followed. */
static __always_inline enum follow_kind follow_got_unnamed(__u64 lock, __u32 tid, __u64 task,
							   __u32 flags)
{
	bool is_percpu = flags & LCB_PERCPU, reads = flags & LCB_READ;
	enum follow_kind kind = is_percpu ? FOLLOW_PCPU_GOT : FOLLOW_READER;
	struct follow_task *e;
	__u64 call;
	bool is_new;

	if (reads == is_percpu || (reads && !follow_has_queue(lock)))
		return FOLLOW_NONE;
	call = follow_call_here();
	e = call ? follow_enter(task, tid, lock, kind, &is_new) : NULL;
	if (!e)
		return FOLLOW_NONE;
	e->kind[e->lock[0] != lock] = kind;
	e->call = call;
	return kind;
}

/* @nth of its locks: does that one still say that the task, which leaves its CPU, may have it? */
static __always_inline void follow_check_one(void *ctx, struct follow_task *e, __u8 *kind,
					     __u64 lock, __u64 call)
{
	bool is_same = e->call && e->call == call;
	bool is_past = *kind == FOLLOW_PCPU && !follow_has_percpu(lock, e->task);

	if (is_past && is_same && follow_is_blocked(lock)) {
		*kind = FOLLOW_PCPU_GOT;
	} else if (is_past || *kind == FOLLOW_PCPU_LET_GO) {
		follow_report_unnamed(ctx, HOLDREC_UNFOLLOWED, lock, *kind);
		*kind = FOLLOW_NONE;
	} else if ((*kind == FOLLOW_READER || *kind == FOLLOW_PCPU_GOT) && !is_same) {
		follow_report_unnamed(ctx, HOLDREC_GONE, lock, *kind);
		*kind = FOLLOW_NONE;
	}
}

static __always_inline void follow_check(void *ctx, struct follow_task *e)
{
	__u64 call;

	if (e->kind[0] < FOLLOW_PCPU && e->kind[1] < FOLLOW_PCPU)
		return;
	call = follow_call_here();
	follow_check_one(ctx, e, &e->kind[0], e->lock[0], call);
	follow_check_one(ctx, e, &e->kind[1], e->lock[1], call);
	if (e->kind[0] == FOLLOW_PCPU || e->kind[1] == FOLLOW_PCPU)
		e->call = call;
}

/*
 * A task that waits to read a percpu-rwsem is woken by the one that runs here: the writer, as it
 * lets go. Tasks that wait to write may be woken by the last of the readers of before.
 */
static __always_inline void follow_lets_go(void *ctx, const struct follow_wait *w)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 task = bpf_get_current_task();
	struct follow_reported *reported = follow_reported_of(w->lock);
	struct follow_cpu *c = follow_here();
	struct follow_short room = {0};
	struct holdrec *r = (void *)&room;
	struct follow_task *e;
	bool is_new;
	__u32 nth;

	if (!reported || !c || !tid || !(w->flags & LCB_READ))
		return;
	e = follow_enter(task, tid, w->lock, FOLLOW_PCPU_LET_GO, &is_new);
	if (!e)
		return;
	nth = e->lock[0] != w->lock;
	if (!is_new && e->kind[nth] == FOLLOW_PCPU_LET_GO)
		return; /* it wakes another one */
	e->kind[nth] = FOLLOW_PCPU_LET_GO;
	/* If it is named again it has it again. */
	if (reported->lock == w->lock)
		reported->owner = 0;
	if (!follow_may(c, bpf_ktime_get_ns(), FOLLOW_OFF_MOST, 1))
		return;
	r->what = HOLDREC_RELEASED;
	r->state = HOLDREC_RUNNING;
	r->lock = w->lock;
	follow_say(ctx, &room, task);
}
