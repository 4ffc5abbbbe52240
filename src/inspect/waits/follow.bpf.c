// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows tasks that have a sleeping lock for which others wait: when and why they leave their CPU,
 * are woken, and run again (holdrec.h). waits.bpf.c includes this file.
 *
 * A task that begins to wait enters the owner of the lock, as the lock names it, into an array; a
 * task that gets a lock for which others wait enters itself. Both are plain stores, as there may be
 * very many. At a switch of tasks two bytes show whether the array has either task; only then the
 * lock's own word is read, to check whether the task still has the lock. If not, the entry is
 * removed. As both checks use the same word, an entry that two writers have torn reports nothing
 * wrong.
 *
 * The scheduler's tracepoints (sched.bpf.c) are looked at only while there are waits longer than
 * the threshold: user space sees that by `waiting`, where each waiting task has its place, and by
 * the count of finished waits (follow.c).
 *
 * Records are bounded: so many a CPU in a slice of time; the rest is counted. Records of tasks off
 * the CPU take precedence over records of running owners, and each reported leave is followed by a
 * report of the return.
 */
#include "follow-holds.bpf.c"

/* Records. */

/*
 * May one more record of a kind with at most @most in a slice be written? Those left out while
 * holders are followed are counted.
 */
static __always_inline bool follow_may(struct follow_cpu *c, __u64 now, __u32 most, __u32 follows)
{
	if (now - c->slice_ns >= FOLLOW_SLICE_NS) {
		c->slice_ns = now;
		c->used = c->handed = 0;
	}
	if (c->used >= most) {
		c->counts.missed += follows;
		return false;
	}
	c->used++;
	return true;
}

/* Hand-overs are frequent: they leave room for the other kinds. */
static __always_inline bool follow_may_hand(struct follow_cpu *c, __u64 now, __u32 follows)
{
	if (now - c->slice_ns < FOLLOW_SLICE_NS && c->handed >= FOLLOW_HANDED_MOST) {
		c->counts.missed += follows;
		return false;
	}
	if (!follow_may(c, now, FOLLOW_OFF_MOST, follows))
		return false;
	c->handed++;
	return true;
}

static __always_inline void follow_other(struct holdrec *r, struct task_struct *t)
{
	r->other_tid = ns_tid(t, &config.ns);
	r->other_pid = ns_pid(t, &config.ns);
	if (r->other_tid)
		BPF_CORE_READ_STR_INTO(&r->other_comm, t, comm);
}

static __always_inline void follow_holder(struct holdrec *r, struct follow_cpu *c,
					  struct task_struct *t, __u64 lock, __u32 hint)
{
	__u32 missed = (__u32)c->counts.missed;

	r->magic = HOLDREC_MAGIC;
	r->lock = lock;
	r->hint = hint;
	r->tid = ns_tid(t, &config.ns);
	r->pid = ns_pid(t, &config.ns);
	r->missed = missed - c->missed_reported;
	r->idle = idle_at(bpf_ktime_get_ns());
	c->missed_reported = missed;
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
}

/* A wakeup by an interrupt may come while another record is written. */
static __always_inline bool follow_put_own(void *ctx, const struct holdrec *r, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct waits_cpu *w = waits_here(cpu);
	bool is_inner = w && w->ring.busy;

	if (!w || !w->ring.id || (is_inner && w->nested.busy))
		return false;
	/* One place, or both take stack, of which the functions that call this leave little. */
	const struct ring_place p = {is_inner ? &w->nested : &w->ring,
				     is_inner ? w->nested_data : w->data,
				     is_inner ? WAITS_NESTED : config.ring_bytes};
	p.ring->busy = 1;
	bool is_done = put_raw(ctx, &p, r, size, sizeof(*r), cpu);
	p.ring->busy = 0;
	return is_done;
}

static __always_inline bool follow_put_perf(void *ctx, struct holdrec *r, __u64 size)
{
	size -= FOLLOW_LEAD;
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(*r) - FOLLOW_LEAD)
		return false;
	return bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic, size) == 0;
}

/* @size: of the record from its begin. */
static __always_inline void follow_write(void *ctx, struct follow_cpu *c, struct holdrec *r,
					 __u64 size)
{
	if (config.waits ? follow_put_own(ctx, r, size) : follow_put_perf(ctx, r, size))
		c->counts.records++;
	else
		c->counts.missed++;
}

/*
 * Writes a record without frames that has what, state, lock, hint and the other task in it, of the
 * holder @task; 0: of no task. Global, as owner_read() is.
 */
__noinline int follow_say(struct bpf_raw_tracepoint_args *ctx CTX_ARG, struct follow_short *room,
			  __u64 task)
{
	struct follow_cpu *c = follow_here();
	struct holdrec *r = (void *)room;

	if (!c || !room)
		return 0;
	if (task)
		follow_holder(r, c, (void *)task, r->lock, r->hint);
	follow_write(ctx, c, r, FOLLOW_SHORT);
	return 0;
}

/* Writes a record that is of no task. Global, as owner_read() is. */
__noinline int follow_mark(struct bpf_raw_tracepoint_args *ctx CTX_ARG, enum holdrec_what what)
{
	struct follow_short room = {0};
	struct holdrec *r = (void *)&room;

	r->magic = HOLDREC_MAGIC;
	r->what = what;
	return follow_say(ctx, &room, 0);
}

static __always_inline __u32 follow_state_of(struct task_struct___follow *t, __u32 state)
{
	if (state == TASK_RUNS || state & TASK_IS_WAKING)
		return HOLDREC_RUNNABLE;
	return BPF_CORE_READ_BITFIELD_PROBED(t, in_iowait) ? HOLDREC_IO : HOLDREC_ASLEEP;
}

/* Which holders there are. */

static __always_inline bool follow_keeps(const struct follow_task *e, __u64 lock)
{
	return e->lock[0] == lock || e->lock[1] == lock;
}

/*
 * @e is of a task that has a lock; it is no longer reported, as another one takes its place.
 * Global, as owner_read() is.
 */
__noinline int follow_displace(const struct follow_task *e)
{
	struct follow_cpu *c = follow_here();
	__u32 hint;

	if (c && e && e->task && follow_still(e, &hint) < FOLLOW_KEEP)
		c->counts.missed++;
	return 0;
}

/* NULL: it has no place. True in @ret_is_new: the entry had not been of this task and lock. */
static __always_inline struct follow_task *follow_enter(__u64 task, __u32 tid, __u64 lock,
							enum follow_kind kind, bool *ret_is_new)
{
	struct follow_task *e = follow_entry(tid);
	struct follow_marks *m = follow_marks();
	__u32 hint;

	*ret_is_new = false;
	if (!e || !m)
		return NULL;
	if (e->task == task && follow_keeps(e, lock)) {
		/* It has it again. */
		if (kind == FOLLOW_PCPU && e->kind[e->lock[0] != lock] == FOLLOW_PCPU_LET_GO)
			e->kind[e->lock[0] != lock] = kind;
		return e;
	}
	*ret_is_new = true;
	if (e->task != task) {
		follow_displace(e);
		e->task = 0;
		e->lock[0] = lock;
		e->kind[0] = kind;
		e->lock[1] = e->kind[1] = 0;
		e->state = HOLDREC_UNKNOWN;
		e->call = 0;
		e->task = task;
	} else if (follow_has(e->lock[0], e->kind[0], task, &hint)) {
		e->lock[1] = lock;
		e->kind[1] = kind;
	} else {
		e->lock[0] = lock;
		e->kind[0] = kind;
	}
	m->marks[tid & (FOLLOW_TASKS - 1)] = 1;
	return e;
}

#include "follow-unnamed.bpf.c"

/*
 * Into a record the task that has the CPU on which @task is ready to run, as far as is known.
 * Global, as owner_read() is.
 */
__noinline int follow_instead(struct follow_short *room, __u64 task)
{
	struct task_struct___follow *t = (void *)task;
	struct follow_cpu *c;
	const __u32 first = 0;

	if (!room || !bpf_core_field_exists(t->thread_info.cpu))
		return 0;
	c = bpf_map_lookup_percpu_elem(&follow_cpus, &first, BPF_CORE_READ(t, thread_info.cpu));
	if (c && c->curr && c->curr_epoch == following.epoch && c->curr != task)
		follow_other((void *)room, (void *)c->curr);
	return 0;
}

/* A lock for which another task waits has this owner: report it if it is new. */
static __always_inline void follow_seen(void *ctx, struct follow_state *s, struct follow_task *e,
					__u64 lock, __u32 hint, bool is_known,
					struct follow_short *room)
{
	struct task_struct___follow *t = (void *)e->task;
	struct follow_reported *reported = follow_reported_of(lock);
	struct holdrec *r = (void *)room;
	__u64 owner = e->task | hint, now;
	struct follow_cpu *c;
	bool is_reported;

	r->what = HOLDREC_SEEN;
	r->state = HOLDREC_RUNNING;
	if (!reported)
		return;
	is_reported =
		reported->lock == lock && reported->owner == owner && reported->epoch == s->epoch;
	/* Tasks that are followed already are reported anyway; here it may be between the switch
	 * and its first step. */
	if (!is_known && !BPF_CORE_READ_BITFIELD_PROBED(t, on_cpu))
		r->state = follow_state_of(t, BPF_CORE_READ(t, __state));
	else if (is_known && e->state && e->epoch == s->epoch)
		r->state = e->state;
	if (is_reported && (r->state == HOLDREC_RUNNING || (e->state && e->epoch == s->epoch)))
		return;
	c = follow_here();
	now = bpf_ktime_get_ns();
	if (!c ||
	    !follow_may(c, now, r->state == HOLDREC_RUNNING ? FOLLOW_RUNNING_MOST : FOLLOW_OFF_MOST,
			s->on))
		return;
	reported->lock = lock;
	reported->owner = owner;
	reported->epoch = s->epoch;
	if (r->state != HOLDREC_RUNNING) {
		e->state = r->state;
		e->epoch = s->epoch;
		e->since_ns = now;
	}
	r->lock = lock;
	r->hint = hint;
	if (r->state == HOLDREC_RUNNABLE)
		follow_instead(room, e->task);
	follow_say(ctx, room, e->task);
}

/* No task has the lock: the one that is to take it, if that is news. */
static __always_inline void follow_handed(void *ctx, struct follow_state *s,
					  const struct lock_owner *o, __u64 lock, bool by_record,
					  struct follow_short *room)
{
	struct task_struct___follow *t = (void *)o->next;
	struct follow_reported *reported = follow_reported_of(lock);
	struct follow_cpu *c = follow_here();
	__u64 owner = o->next | FOLLOW_REPORTED_HANDED;
	struct holdrec *r = (void *)room;

	if (!reported || !c || !o->next ||
	    (reported->lock == lock && reported->owner == owner && reported->epoch == s->epoch))
		return;
	if (!by_record && !follow_may_hand(c, bpf_ktime_get_ns(), s->on))
		return;
	reported->lock = lock;
	reported->owner = owner;
	reported->epoch = s->epoch;
	if (by_record)
		return;
	r->what = HOLDREC_HANDED;
	r->state = BPF_CORE_READ_BITFIELD_PROBED(t, on_cpu)
			   ? HOLDREC_RUNNING
			   : follow_state_of(t, BPF_CORE_READ(t, __state));
	r->lock = lock;
	follow_say(ctx, room, o->next);
}

/*
 * @by_record: the record of the begin names who is to take a free lock. Global, as owner_read() is.
 */
__noinline int follow_owner(struct bpf_raw_tracepoint_args *ctx CTX_ARG, const struct lock_owner *o,
			    __u64 lock, __u32 flags, bool by_record)
{
	struct follow_state *s = &following;
	struct follow_short room = {0};
	struct follow_task *e;
	bool is_new, is_known;

	if (!o || o->is == WAITREC_NOT_SAID)
		return 0;
	if (!o->task) {
		follow_handed(ctx, s, o, lock, by_record, &room);
		return 0;
	}
	e = follow_enter(o->task, o->host, lock, follow_kind_of(flags), &is_new);
	/* The owner is reported even where it is not followed. */
	if (!e)
		return 0;
	is_known = !is_new && s->on && e->known == s->epoch;
	if (s->on)
		e->known = s->epoch;
	follow_seen(ctx, s, e, lock, o->is == WAITREC_READ, is_known, &room);
	return 0;
}

/* Where waits begin and where they end. */

static __always_inline void follow_begin(struct bpf_raw_tracepoint_args *ctx,
					 const struct lock_owner *o, __u32 tid)
{
	struct follow_wait *w;
	__u64 lock = ctx->args[0];
	__u32 flags = (__u32)ctx->args[1];

	if (follow_kind_of(flags) == FOLLOW_NONE)
		return;
	w = follow_wait_of(tid);
	if (w && w->tid == tid && rt_is_within(lock, w->lock, w->flags))
		return;
	/* A mutex that was spun for, and is slept for now, was waited for before. */
	if (w && (w->tid != tid || w->lock != lock)) {
		w->lock = lock;
		w->begin_ns = bpf_ktime_get_ns();
		w->flags = flags;
		w->tid = tid;
	}
	if (w)
		w->was_free = o->is != WAITREC_NOT_SAID && !o->task;
	follow_owner(ctx, o, lock, flags, config.waits != 0);
}

static __always_inline bool follow_has_waiters(__u64 lock, enum follow_kind kind, __u64 task)
{
	__u32 hint;

	return follow_has(lock, kind, task, &hint);
}

/*
 * The task has the lock now, as the end of its wait shows. Where the lock does not name it, the
 * result says by what it is followed, which is to be reported, too. Where perf's event reports the
 * end, and no other task waits, the model forgets the owner: the next waiter reports it again.
 */
static __always_inline enum follow_kind follow_got(__u64 lock, __u32 tid, __u32 flags)
{
	__u64 task = bpf_get_current_task();
	struct follow_reported *reported = follow_reported_of(lock);
	struct follow_state *s = &following;
	enum follow_kind kind = follow_kind_of(flags);
	bool is_named = !(flags & (LCB_READ | LCB_PERCPU)) && kind != FOLLOW_SEM, is_new;

	if (!reported)
		return FOLLOW_NONE;
	/* It was let in before the writer that was reported came. */
	if (kind == FOLLOW_PCPU && reported->lock == lock &&
	    follow_has_percpu(lock, reported->owner))
		return FOLLOW_NONE;
	reported->lock = lock;
	/* An owner after a reader is to be reported again. */
	reported->owner = 0;
	reported->epoch = s->epoch;
	if (is_named && follow_has_waiters(lock, kind, task)) {
		reported->owner = task;
		follow_enter(task, tid, lock, kind, &is_new);
	} else if (is_named && config.waits) {
		reported->owner = task;
	}
	if (!s->on || (kind != FOLLOW_RWSEM && kind != FOLLOW_PCPU))
		return FOLLOW_NONE;
	return follow_got_unnamed(lock, tid, task, flags);
}

/* By what the task that has got the lock is followed, if that is to be reported:
 * follow_tell_unnamed(). */
static __always_inline enum follow_kind follow_end(struct bpf_raw_tracepoint_args *ctx, __u32 tid)
{
	struct follow_wait *w = follow_wait_of(tid);
	__u64 lock = ctx->args[0];

	/* That of a spinlock within the wait, say. */
	if (!w || w->tid != tid || w->lock != lock)
		return FOLLOW_NONE;
	w->tid = 0;
	if (bpf_ktime_get_ns() - w->begin_ns >= config.follow_ns)
		__sync_fetch_and_add(&following.n_long, 1);
	return (int)ctx->args[1] ? FOLLOW_NONE : follow_got(lock, tid, w->flags);
}

/* Where the scheduler takes a task off its CPU, and puts one there. */

static __always_inline void follow_forget(struct follow_task *e, struct follow_marks *m, __u32 tid)
{
	e->task = 0;
	m->marks[tid & (FOLLOW_TASKS - 1)] = 0;
}

/* Events report that it waits for a lock itself, until when, and for which. */
static __always_inline bool follow_waits(__u32 tid)
{
	struct follow_wait *w = follow_wait_of(tid);

	return w && w->tid == tid;
}

static __always_inline void follow_off(struct bpf_raw_tracepoint_args *ctx, struct follow_task *e,
				       __u32 epoch, __u32 nth, __u32 hint)
{
	struct task_struct *t = (void *)e->task;
	struct task_struct___follow *f = (void *)t;
	struct follow_cpu *c = follow_here();
	__u64 size = FOLLOW_SHORT;
	__u64 now = bpf_ktime_get_ns();
	struct holdrec *r;
	long len;

	if (!c || !follow_may(c, now, FOLLOW_OFF_MOST, 1))
		return;
	r = &c->rec;
	r->what = HOLDREC_OFF;
	r->state =
		ctx->args[0] & 1 ? HOLDREC_RUNNABLE : follow_state_of(f, BPF_CORE_READ(f, __state));
	r->n_frames = 0;
	r->other_comm[0] = 0;
	follow_holder(r, c, t, e->lock[nth & (FOLLOW_KEEP - 1)], hint);
	follow_other(r, (void *)ctx->args[2]);
	e->state = r->state;
	e->epoch = epoch;
	e->since_ns = now;
	if (r->state != HOLDREC_RUNNABLE) {
		len = bpf_get_stack(ctx, r->frames, sizeof(r->frames), STACK_LEAD);
		r->n_frames = len > 0 ? (__u32)len / sizeof(r->frames[0]) : 0;
		size += r->n_frames * sizeof(r->frames[0]);
	}
	follow_write(ctx, c, r, size);
}

static __always_inline void follow_leaves(struct bpf_raw_tracepoint_args *ctx,
					  struct follow_state *s, struct follow_marks *m, __u32 tid)
{
	struct task_struct___follow *t = (void *)ctx->args[1];
	struct follow_task *e = follow_entry(tid);
	__u32 hint = 0, nth;

	if (!e || e->task != ctx->args[1])
		return;
	/* It runs never again. The word of a lock may name it as a reader all the same. */
	if (BPF_CORE_READ(t, __state) & TASK_IS_DEAD) {
		follow_forget(e, m, tid);
		return;
	}
	follow_check(ctx, e);
	nth = follow_still(e, &hint);
	if (nth >= FOLLOW_KEEP)
		follow_forget(e, m, tid);
	/* A writer of a percpu-rwsem has it in the end of its wait. */
	else if (!follow_waits(tid) || e->kind[nth] == FOLLOW_PCPU)
		follow_off(ctx, e, s->epoch, nth, hint);
}

/*
 * The reported state of a task that was not on a CPU has ended: it runs, or may. @other: the task
 * that has woken it, or has kept it off the CPU; 0: not known. Global, as owner_read() is.
 */
__noinline int follow_back(struct bpf_raw_tracepoint_args *ctx CTX_ARG, struct follow_task *e,
			   enum holdrec_what what, __u64 other)
{
	struct follow_short room = {0};
	struct holdrec *r = (void *)&room;
	__u32 hint = 0, nth;

	if (!e)
		return 0;
	r->what = what;
	r->state = what == HOLDREC_ON ? HOLDREC_RUNNING : HOLDREC_RUNNABLE;
	e->state = what == HOLDREC_ON ? HOLDREC_UNKNOWN : HOLDREC_RUNNABLE;
	nth = follow_still(e, &hint);
	r->lock = nth == 1 ? e->lock[1] : e->lock[0];
	r->hint = hint;
	e->since_ns = bpf_ktime_get_ns();
	if (other)
		follow_other(r, (void *)other);
	follow_say(ctx, &room, e->task);
	return 0;
}

/*
 * Has @prev, which had the CPU right before, kept the task off it for most of the time? It is not
 * always the one that took it: tasks of the kernel often come first, for a moment.
 */
static __always_inline bool follow_kept_off(const struct follow_task *e,
					    struct task_struct___follow *prev)
{
	__u64 ran = BPF_CORE_READ(prev, se.sum_exec_runtime) -
		    BPF_CORE_READ(prev, se.prev_sum_exec_runtime);

	return e->state == HOLDREC_RUNNABLE && ran >= (bpf_ktime_get_ns() - e->since_ns) / 2;
}

static __always_inline void follow_comes(struct bpf_raw_tracepoint_args *ctx,
					 struct follow_state *s, __u32 tid)
{
	struct follow_task *e = follow_entry(tid);

	if (e && e->task == ctx->args[2] && e->state && e->epoch == s->epoch)
		follow_back(ctx, e, HOLDREC_ON,
			    follow_kept_off(e, (void *)ctx->args[1]) ? bpf_get_current_task() : 0);
}

/*
 * A task that waits falls asleep: maybe again, as another one took the lock before it. It is read
 * again who has the lock, if that was not known or the wait is long.
 */
static __always_inline void follow_sleeps(struct bpf_raw_tracepoint_args *ctx,
					  struct follow_wait *w)
{
	struct task_struct___follow *t = (void *)ctx->args[1];
	struct lock_owner o = {0};
	__u64 now;

	if (ctx->args[0] & 1 || BPF_CORE_READ(t, __state) == TASK_RUNS)
		return;
	now = bpf_ktime_get_ns();
	if (!w->was_free && now - w->begin_ns < config.follow_ns)
		return;
	owner_read(&o, w->lock, w->flags);
	w->was_free = o.is != WAITREC_NOT_SAID && !o.task;
	follow_owner(ctx, &o, w->lock, w->flags, false);
}

/* The task that leaves the CPU is current still. */
static __always_inline void follow_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct follow_state *s = &following;
	bool leaves, comes, waits;

	if (!s->on)
		return;
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u32 next = BPF_CORE_READ((struct task_struct *)ctx->args[2], pid);
	struct follow_marks *m = follow_marks();
	struct follow_wait *w = follow_wait_of(tid);
	struct follow_cpu *c = follow_here();
	if (!m || !c || !w)
		return;
	c->curr = ctx->args[2];
	c->curr_epoch = s->epoch;
	leaves = m->marks[tid & (FOLLOW_TASKS - 1)];
	comes = m->marks[next & (FOLLOW_TASKS - 1)];
	waits = tid && w->tid == tid;
	if (waits)
		follow_sleeps(ctx, w);
	if (leaves)
		follow_leaves(ctx, s, m, tid);
	if (comes)
		follow_comes(ctx, s, next);
}

/* A task that waits may go on: the lock is its own in a moment, and until then of no task. */
static __always_inline void follow_wakes(struct bpf_raw_tracepoint_args *ctx,
					 struct follow_state *s, struct follow_wait *w)
{
	struct follow_short room = {0};
	struct lock_owner o = {0};

	owner_read(&o, w->lock, w->flags);
	if (o.is != WAITREC_HANDED)
		return;
	w->was_free = 1;
	follow_handed(ctx, s, &o, w->lock, false, &room);
}

/*
 * Where the kernel decides that a task may run: the task on this CPU has woken it, or an interrupt
 * that has come meanwhile. The tracepoint sched_wakeup is often passed on another CPU only, where
 * the waker is unknown.
 */
static __always_inline void follow_waking(struct bpf_raw_tracepoint_args *ctx,
					  struct task_struct *t)
{
	struct follow_state *s = &following;
	struct follow_task *e;
	bool waits;

	if (!s->on)
		return;
	__u32 tid = BPF_CORE_READ(t, pid);
	struct follow_wait *w = follow_wait_of(tid);
	struct follow_marks *m = follow_marks();
	if (!m || !w)
		return;
	waits = w->tid == tid;
	if (!waits && !m->marks[tid & (FOLLOW_TASKS - 1)])
		return;
	e = follow_entry(tid);
	if (waits && w->flags & LCB_PERCPU)
		follow_lets_go(ctx, w);
	else if (waits)
		follow_wakes(ctx, s, w);
	if (e && e->task == (__u64)t && e->epoch == s->epoch &&
	    (e->state == HOLDREC_ASLEEP || e->state == HOLDREC_IO))
		follow_back(ctx, e, HOLDREC_WOKEN, bpf_get_current_task());
}

/* User space begins and ends it; at the begin, owners are reported for waits that continue. */

struct follow_looks {
	void *ctx;
	__u64 now, older_ns; /* of waits that have lasted so long */
};

static long follow_look(__u64 i, void *arg)
{
	struct follow_wait *w = follow_wait_of((__u32)i);
	const struct follow_looks *l = arg;
	struct lock_owner o = {0};

	if (!w || !w->tid || w->begin_ns + l->older_ns > l->now)
		return 0;
	owner_read(&o, w->lock, w->flags);
	follow_owner(l->ctx, &o, w->lock, w->flags, false);
	return 0;
}

SEC("raw_tp/say_follow")
int say_follow(struct bpf_raw_tracepoint_args *ctx)
{
	struct follow_looks looks = {.ctx = ctx, .now = bpf_ktime_get_ns()};
	struct follow_state *s = &following;

	/* Long waits may be for others by now than when they began. */
	if (ctx->args[0] == FOLLOW_LOOK) {
		looks.older_ns = config.follow_ns;
		bpf_loop(FOLLOW_WAITS, follow_look, &looks, 0);
		return 0;
	}
	s->on = 0;
	follow_mark(ctx, ctx->args[0] == FOLLOW_BEGIN ? HOLDREC_BEGUN : HOLDREC_STOPPED);
	if (ctx->args[0] != FOLLOW_BEGIN)
		return 0;
	s->epoch++;
	s->on = 1;
	bpf_loop(FOLLOW_WAITS, follow_look, &looks, 0);
	return 0;
}
