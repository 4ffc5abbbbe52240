// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks, where they begin and where they end, and where the kernel has it, who lets go of
 * a lock meanwhile: in records as perf's own events of the tracepoints would have them, at a
 * fraction of their cost; and who has the lock, read where a wait begins, right behind the record
 * of that, be it ours or perf's.
 */
#include "chain.bpf.c"
#include "kernel/cgroup.h"
#include "kernel/locks.h"
#include "kernel/ns.h"
#include "kernel/user.h"
#include "kontend/userlock.h"
#include "locks/read-asked.h"

#include "kontend/holdrec.h"
#include "kontend/ownerrec.h"
#include "kontend/taskrec.h"

char license_text[] SEC("license") = "GPL";

#define FRAMES_NS (&config.slept.ns)
#include "frames.bpf.c"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, 1); /* who loads it knows whether tasks will be named */
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

/* The programs' own of each CPU: struct waits_cpu, in an array of its own, which readers map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* user space sets the number of CPUs, and gives the pattern */
	__type(key, __u32);
	__type(value, __u32);
} own SEC(".maps");

struct css_set {
	struct cgroup_subsys_state *subsys[1];
} CORE;

struct task_struct___cgroups {
	struct css_set *cgroups;
} CORE;

/*
 * The owner of a lock: read where the kernel reports that a task begins to wait for it. Of the
 * readers of a rwsem the kernel remembers only one, which may have gone meanwhile: a hint.
 */
/* include/trace/events/lock.h */
enum { LCB_SPIN = 1, LCB_READ = 2, LCB_WRITE = 4, LCB_RT = 8, LCB_PERCPU = 16, LCB_MUTEX = 32 };

enum { FLAG_BITS = 7, READER_OWNED = 1 };

/* Of the count of a rwsem. */
enum { RWSEM_WRITER = 1, RWSEM_WAITERS = 2, RWSEM_READER_BITS = 8 };

/* Of a waiter in a queue: distance of its task, from its begin, and from its place in the list. */
#define offsetof_task(type) bpf_core_field_offset(((type *)0)->task)
#define listed_task(type) (offsetof_task(type) - bpf_core_field_offset(((type *)0)->list))

/* In place, where this kernel can: that takes nanoseconds, and a call of the helper twenty. */
static __always_inline __u64 word_at(__u64 addr)
{
	__u64 v = 0;

	if (config.word_type)
		return *(const __u64 *)rdonly_cast(addr, config.word_type);
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline int number_at(__u64 addr)
{
	int v = 0;

	if (config.word_type)
		return *(const int *)rdonly_cast(addr, config.word_type);
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/*
 * The rt-mutex of a lock by which it is known who has it; 0: there is none. A writer who waits for
 * readers has it himself, and the kernel remembers none of them.
 */
static __always_inline __u64 rt_mutex_of(__u64 lock, __u32 flags)
{
	if (flags & LCB_WRITE)
		return 0;
	if (!(flags & LCB_READ))
		return lock;
	return rt_mutex_within() ? lock + rt_mutex_within() : 0;
}

/*
 * Is a wait for @lock within an unfinished one of the same task? A reader on PREEMPT_RT waits for
 * the rt-mutex of the lock, which is reported as well.
 */
static __always_inline bool rt_is_within(__u64 lock, __u64 outer, __u32 outer_flags)
{
	return rt_mutex_within() && outer_flags == (LCB_RT | LCB_READ) &&
	       lock == outer + rt_mutex_within();
}

static __always_inline bool rt_owner_of(__u64 lock, __u32 flags, __u64 *ret)
{
	__u64 mutex = rt_mutex_of(lock, flags);

	if (!mutex || !bpf_core_field_exists(((struct rt_mutex_base *)0)->owner))
		return false;
	mutex += bpf_core_field_offset(((struct rt_mutex_base *)0)->owner);
	*ret = word_at(mutex) & ~(__u64)RT_WAITERS;
	return true;
}

/*
 * A task that waits for a percpu-rwsem does so because of a writer. The lock names it while it
 * waits until earlier readers are through, which is when most other waiters come.
 */
static __always_inline bool percpu_owner_of(__u64 lock, __u64 *ret)
{
	struct percpu_rw_semaphore *s = (void *)lock;

	if (!bpf_core_field_exists(s->writer.task))
		return false;
	*ret = word_at(lock + bpf_core_field_offset(s->writer.task));
	return *ret != 0;
}

/* The word of a rwsem names a reader also after the last one has let go of it. */
static __always_inline bool rwsem_is_free(__u64 lock)
{
	struct rw_semaphore *s = (void *)lock;
	__u64 count = word_at(lock + bpf_core_field_offset(s->count));

	return !(count & RWSEM_WRITER) && !(count >> RWSEM_READER_BITS);
}

/* Into *@ret the task, or 0 for none. False: the lock does not show its owner. */
static __always_inline bool owner_of(__u64 lock, __u32 flags, __u64 *ret, unsigned int *ret_hint)
{
	struct rw_semaphore *s = (void *)lock;
	struct semaphore *sem = (void *)lock;
	struct mutex *m = (void *)lock;
	__u64 word;

	if (flags & LCB_RT)
		return rt_owner_of(lock, flags, ret);
	if (flags & LCB_PERCPU)
		return percpu_owner_of(lock, ret);
	if (flags & LCB_MUTEX) {
		if (!bpf_core_field_exists(m->owner))
			return false;
		*ret = word_at(lock + bpf_core_field_offset(m->owner)) & ~(__u64)FLAG_BITS;
		return true;
	}
	if (!flags && bpf_core_field_exists(sem->last_holder)) {
		*ret_hint = 1;
		*ret = word_at(lock + bpf_core_field_offset(sem->last_holder));
		return true;
	}
	if (!(flags & (LCB_READ | LCB_WRITE)) || flags & LCB_SPIN ||
	    !bpf_core_field_exists(s->owner))
		return false;
	word = word_at(lock + bpf_core_field_offset(s->owner));
	*ret_hint = word & READER_OWNED;
	*ret = word & ~(__u64)FLAG_BITS;
	if (*ret_hint && rwsem_is_free(lock))
		*ret = *ret_hint = 0;
	return true;
}

/* Where the first waiter in the queue of a mutex or a rwsem keeps its task; 0: there is none. */
static __always_inline __u64 first_waiter(__u64 lock, __u32 flags)
{
	struct rw_semaphore *s = (void *)lock;
	struct mutex *m = (void *)lock;
	__u64 list, first;

	if (flags & LCB_MUTEX) {
		if (bpf_core_field_exists(m->first_waiter)) {
			first = word_at(lock + bpf_core_field_offset(m->first_waiter));
			return first ? first + offsetof_task(struct mutex_waiter) : 0;
		}
		if (!bpf_core_field_exists(m->wait_list))
			return 0;
		list = lock + bpf_core_field_offset(m->wait_list);
		first = word_at(list);
		return first && first != list ? first + listed_task(struct mutex_waiter) : 0;
	}
	if (bpf_core_field_exists(s->first_waiter)) {
		first = word_at(lock + bpf_core_field_offset(s->first_waiter));
		return first ? first + offsetof_task(struct rwsem_waiter) : 0;
	}
	if (!bpf_core_field_exists(s->wait_list))
		return 0;
	list = lock + bpf_core_field_offset(s->wait_list);
	first = word_at(list);
	return first && first != list ? first + listed_task(struct rwsem_waiter) : 0;
}

/*
 * The task that is to take a free lock. A task that releases one wakes the first in its queue;
 * tasks that do not wait may be faster. The entry is on that task's stack: it is true if the queue
 * begins there still.
 */
static __always_inline __u64 next_of(__u64 lock, __u32 flags)
{
	__u64 at, task;

	if (flags & (LCB_RT | LCB_PERCPU) || !(flags & (LCB_MUTEX | LCB_READ | LCB_WRITE)))
		return 0;
	at = first_waiter(lock, flags);
	task = at ? word_at(at) : 0;
	return task && first_waiter(lock, flags) == at ? task : 0;
}

/* The owner of a lock when a wait for it begins: read once, for all reports on it. */
struct lock_owner {
	__u64 task;
	__u64 next; /* where no task has it: which is to take it; 0: not known */
	__u32 is;   /* enum waitrec_owner */
	__u32 host; /* its number in the initial namespace */
	__u32 idle; /* of a wait that ends: idle_begin() at its begin; 0: its begin was reported */
	int pid, tid;
	__u64 par; /* of such a one: parclock.h, at its begin */
};

/*
 * A global function, as others below: the kernel verifies it once and by itself. Inlined it
 * verified everything that follows again for each way through it, which was half of the time that
 * starting took. Such a function has five arguments at most, checks pointers to memory for NULL,
 * returns a number, and takes no call chain, as it would be a frame of that. Frames of nested
 * functions share 512 bytes of stack, each rounded up to 32 before Linux 6.13.
 */
__noinline int owner_read(struct lock_owner *o, __u64 lock, __u32 flags)
{
	struct task_struct *t;
	__u32 hint = 0;

	if (!o || !owner_of(lock, flags, &o->task, &hint))
		return 0;
	o->is = hint ? WAITREC_READ : WAITREC_OWNED;
	/* A reader that lets go takes its name out of the word; others may have the lock still. */
	if (!o->task && !hint)
		o->next = next_of(lock, flags);
	if (o->next)
		o->is = WAITREC_HANDED;
	t = (void *)(o->task ? o->task : o->next);
	if (!t)
		return 0;
	o->host = number_at((__u64)t + bpf_core_field_offset(t->pid));
	o->tid = (int)o->host;
	o->pid = number_at((__u64)t + bpf_core_field_offset(t->tgid));
	if (config.ns.level) {
		o->tid = ns_tid(t, &config.ns);
		o->pid = ns_pid(t, &config.ns);
	}
	/* The values are of a moment: the task may be gone, and its memory another task's. */
	if (o->tid <= 0)
		o->is = WAITREC_NOT_SAID;
	return 0;
}

static __always_inline bool is_wanted(__u64 pid_tid)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = (__u32)pid_tid, pid = pid_tid >> 32;

	if (config.by_cpu &&
	    (cpu >= WAITS_CPUS || !(config.cpus[cpu / 64 % (WAITS_CPUS / 64)] >> cpu % 64 & 1)))
		return false;
	switch (config.scope) {
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

#include "idle.bpf.c"

/* That by which perf counts: its controller's. */
static __always_inline __u64 cgroup_here(void)
{
	struct task_struct___cgroups *t = (void *)bpf_get_current_task_btf();
	__u32 nth = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	struct css_set *set = t->cgroups;
	struct cgroup_subsys_state *css;

	if (!set)
		return 0;
	css = *(struct cgroup_subsys_state **)((char *)set + bpf_core_field_offset(set->subsys) +
					       nth * sizeof(css));
	return css->cgroup->kn->id;
}

/* The state of this CPU; NULL: its ring has no reader. */
static __always_inline struct waits_cpu *waits_here(__u32 cpu)
{
	void *map = bpf_map_lookup_elem(&own, &cpu);
	const __u32 first = 0;

	return map ? bpf_map_lookup_elem(map, &first) : NULL;
}

/* The reader looks by itself now and then: this is for when that is too late. */
static __always_inline void publish(void *ctx, const struct ring_place *p, __u32 size)
{
	const __u64 magic = WAITREC_WAKE_MAGIC;
	__u64 head = ring_publish(p->ring, size);

	/* Where no CPU is idle the reader may get one only tens of milliseconds later. */
	if (head - p->ring->woken < p->bytes / 4)
		return;
	p->ring->woken = head;
	bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, (void *)&magic, sizeof(magic));
}

/* The waiter, the time and the CPU. */
static __always_inline void report_who(struct ring_record *rec, __u64 pid_tid, __u32 cpu)
{
	rec->pid = pid_tid >> 32;
	rec->tid = (__u32)pid_tid;
	if (config.ns.level) {
		struct task_struct *t = (void *)bpf_get_current_task();
		rec->pid = (__u32)ns_pid(t, &config.ns);
		rec->tid = (__u32)ns_tid(t, &config.ns);
	}
	rec->time = bpf_ktime_get_ns();
	rec->cpu = cpu;
}

/*
 * Raw data of @size bytes, at most @most, into a ring of ours. All kinds of them begin as struct
 * holdrec does, with the length that perf puts before them. False: there is no room.
 */
static __always_inline bool put_raw(void *ctx, const struct ring_place *p, const void *from,
				    __u64 size, __u64 most, __u32 cpu)
{
	struct ring_record *rec = ring_has_room(p) ? ring_next(p) : NULL;
	__u32 all;

	if (!rec)
		return false;
	report_who(rec, bpf_get_current_pid_tgid(), cpu);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > most || bpf_probe_read_kernel(&rec->holder, size, from))
		return false;
	all = ring_lead(p, rec, RING_LEAD + (__u32)size);
	rec->holder.size = all - RING_LEAD - sizeof(rec->holder.size);
	publish(ctx, p, all);
	return true;
}

/*
 * The same into the ring of this CPU. False, too, if there is none, or if this interrupts a program
 * that writes to it. @counts: that there is no room counts as a wait that was missed.
 */
static __always_inline bool put_own(void *ctx, const void *from, __u64 size, __u64 most,
				    bool counts)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct waits_cpu *c = waits_here(cpu);

	if (!c || !c->ring.id || c->ring.busy)
		return false;
	const struct ring_place p = {&c->ring, c->data, config.ring_bytes};
	c->ring.busy = 1;
	bool is_done = put_raw(ctx, &p, from, size, most, cpu);
	if (counts && !is_done) {
		p.ring->missed++;
		p.ring->gap = 1;
	}
	c->ring.busy = 0;
	return is_done;
}

/* Half of the ring is for what no chain replaces. */
static __always_inline bool has_room_for_frames(const struct waits_cpu *c)
{
	return c->ring.head - RING_READ(c->ring.tail) < config.ring_bytes / 2;
}

#include "inodes.bpf.c"
#include "on.bpf.c"

#include "on-put.bpf.c"

/*
 * The frames of the program, after the @n of the kernel at @to: how many. A wait that spins is as
 * short as they would take.
 */
static __always_inline __u32 user_frames(const struct waits_cpu *c, __u32 flags, __u64 *to, __u32 n,
					 __u32 *ret_is)
{
	__u32 taken;

	*ret_is = WAITREC_USER_NONE;
	if (!config.user_frames)
		return 0;
	*ret_is = WAITREC_USER_SPINS;
	if ((flags & (LCB_SPIN | LCB_MUTEX)) == LCB_SPIN)
		return 0;
	*ret_is = WAITREC_USER_SAVED;
	if (!has_room_for_frames(c))
		return 0;
	*ret_is = WAITREC_USER_NONE;
	taken = (__u32)frames_take(FRAMES_OF_WAITS, ret_is);
	barrier_var(n); /* the same register for test and use, or the verifier forgets */
	if (n > WAITREC_FRAMES || taken > WAITREC_USER)
		return 0;
	frames_put(FRAMES_OF_WAITS, taken, to, n);
	return taken;
}

/* @n frames of the kernel are in the record, and after them @n_user of the program. */
static __always_inline void report_begin(struct bpf_raw_tracepoint_args *ctx,
					 const struct ring_place *p, struct ring_record *rec,
					 const struct lock_owner *o, __u32 n, __u32 n_user,
					 __u32 user)
{
	__u32 has_on = put_on(rec->begin.frames, n + n_user, WAITREC_ALL, user);
	__u32 words = n + n_user + (has_on ? WAITREC_ON_WORDS : 0);
	__u32 size = ring_lead(p, rec, RING_BEGIN + words * sizeof(rec->begin.frames[0]));
	__u32 missed = p->ring->missed;

	rec->begin.size = size - RING_LEAD - sizeof(rec->begin.size);
	rec->begin.magic = WAITREC_BEGIN_MAGIC;
	rec->begin.lock = ctx->args[0];
	rec->begin.cgroup = cgroup_here();
	rec->begin.flags = (__u32)ctx->args[1];
	rec->begin.tid = (int)rec->tid;
	rec->begin.missed = missed;
	rec->begin.n_frames = (__u16)n;
	rec->begin.n_user = (__u16)n_user;
	rec->begin.owner_pid = o->pid;
	rec->begin.owner_tid = o->tid;
	rec->begin.owner = (__u16)o->is;
	rec->begin.owner_asked = (__u8)((config.owners ? WAITREC_OWNERS_ASKED : 0) | has_on);
	rec->begin.user = (__u8)user;
	rec->begin.held = idle_begin((void *)bpf_get_current_task_btf(), rec->time);
	rec->begin.par = par_here((__u32)(bpf_get_current_pid_tgid() >> 32), rec->time);
	/* An interrupt may have added to it just now. */
	if (missed)
		__sync_fetch_and_add(&p->ring->missed, -missed);
	publish(ctx, p, size);
}

static __always_inline void report_end(struct bpf_raw_tracepoint_args *ctx,
				       const struct ring_place *p, struct ring_record *rec,
				       __u32 began)
{
	__u32 size = ring_lead(p, rec, RING_END);

	rec->end.size = size - RING_LEAD - sizeof(rec->end.size);
	rec->end.magic = WAITREC_END_MAGIC;
	rec->end.lock = ctx->args[0];
	rec->end.ret = (int)ctx->args[1];
	rec->end.tid = (int)rec->tid;
	rec->end.idle = idle_at(rec->time);
	rec->end.began = began;
	rec->end.par = par_here((__u32)(bpf_get_current_pid_tgid() >> 32), rec->time);
	publish(ctx, p, size);
}

static __always_inline void report_release(struct bpf_raw_tracepoint_args *ctx,
					   const struct ring_place *p, struct ring_record *rec)
{
	__u32 size = ring_lead(p, rec, RING_RELEASE);

	rec->release.size = size - RING_LEAD - sizeof(rec->release.size);
	rec->release.magic = WAITREC_RELEASE_MAGIC;
	rec->release.lock = ctx->args[0];
	rec->release.tid = (int)rec->tid;
	rec->release.pad = 0;
	publish(ctx, p, size);
}

/* Where perf reports waits, and waits are to be summed up by owners. */
static __always_inline void report_owner(struct bpf_raw_tracepoint_args *ctx,
					 const struct lock_owner *o)
{
	struct task_struct *t = (void *)o->task;
	struct ownerrec r = {.magic = OWNERREC_MAGIC,
			     .lock = ctx->args[0],
			     .pid = t ? o->pid : 0,
			     .tid = t ? o->tid : 0,
			     .hint = o->is == WAITREC_READ};

	if (o->is == WAITREC_NOT_SAID)
		return;
	if (t)
		BPF_CORE_READ_STR_INTO(&r.comm, t, comm);
	bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r, sizeof(r));
}

/* Where perf reports waits. */
static __always_inline void report_frames(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 nth = FRAMES_OF_WAITS, flags = (__u32)ctx->args[1];
	const __u64 lead = sizeof(__u32), head = offsetof(struct waitrec_frames, frames) - lead;
	struct frames_room *room = bpf_map_lookup_elem(&frames_rooms, &nth);
	__u32 user = WAITREC_USER_NONE, n;
	__u64 size;

	/* A mutex begins to spin before it sleeps, and a task that spins for another lock may be
	 * an interrupted one. */
	if (!room || (flags & (LCB_SPIN | LCB_MUTEX)) == LCB_SPIN || flags == LCB_MUTEX)
		return;
	n = (__u32)frames_take(nth, &user);
	if (user == WAITREC_USER_NONE)
		return;
	room->record.magic = WAITREC_FRAMES_MAGIC;
	room->record.lock = ctx->args[0];
	room->record.n_user = (__u16)n;
	room->record.user = user;
	room->record.has_on = put_on(room->record.frames, n, WAITREC_USER, user) != 0;
	n += room->record.has_on ? WAITREC_ON_WORDS : 0;
	size = head + n * sizeof(room->record.frames[0]);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size <= sizeof(room->record) - lead)
		bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &room->record.magic, size);
	on_name(ctx);
}

static __always_inline void report_task(void *ctx, const struct taskrec *r)
{
	if (r->tid & NS_OUTSIDE)
		bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, (void *)r, sizeof(*r));
}

enum what { BEGIN, END, RELEASE };

/* The record that is next, with who and when in it; NULL: there is no room, which is counted. */
static __always_inline struct ring_record *start_record(const struct ring_place *p, __u64 pid_tid,
							__u32 cpu)
{
	struct ring_record *rec = ring_has_room(p) ? ring_next(p) : NULL;

	if (!rec) {
		p->ring->missed++;
		p->ring->gap = 1;
		return NULL;
	}
	report_who(rec, pid_tid, cpu);
	return rec;
}

/*
 * @nested: it is that of an interrupt, which has found the CPU's chains busy, too. Of an end @o has
 * what the clock of idle CPUs showed at the begin.
 */
static __always_inline void report_wait(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *c,
					enum what what, const struct lock_owner *o, bool nested,
					__u64 pid_tid, __u32 cpu)
{
	const struct ring_place usual = {&c->ring, c->data, config.ring_bytes};
	const struct ring_place inner = {&c->nested, c->nested_data, WAITS_NESTED};
	const struct ring_place *p = nested ? &inner : &usual;
	struct ring_record *rec = start_record(p, pid_tid, cpu);
	__u32 flags = (__u32)ctx->args[1], n, n_user, user;

	if (!rec)
		return;
	if (what == END) {
		report_end(ctx, p, rec, o->idle);
	} else if (what == RELEASE) {
		report_release(ctx, p, rec);
	} else if (nested) {
		report_begin(ctx, p, rec, o, stack_unwind(ctx, rec->begin.frames, config.frames), 0,
			     config.user_frames ? WAITREC_USER_SPINS : WAITREC_USER_NONE);
	} else {
		n = stack_here(ctx, stack_work(c), rec, flags, config.frames);
		n_user = user_frames(c, flags, rec->begin.frames, n, &user);
		report_begin(ctx, p, rec, o, n, n_user, user);
	}
}

#include "short.bpf.c"

/* @c: NULL, or its ring is not busy. */
static __always_inline void see_wait(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *c,
				     enum what what, struct lock_owner *o, __u64 pid_tid)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (!c || !c->ring.id)
		return;
	c->ring.busy = 1;
	if (!config.shorts || short_wants(ctx, c, what, o, pid_tid, cpu))
		report_wait(ctx, c, what, o, false, pid_tid, cpu);
	c->ring.busy = 0;
	if (config.user_frames)
		on_name(ctx);
}

#include "follow.bpf.c"

#include "filelocks.bpf.c"
#include "slept.bpf.c"
#include "user.bpf.c"

#include "sched.bpf.c"

static __always_inline void see_one(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
				    enum what what, bool follows)
{
	__u64 pid_tid = bpf_get_current_pid_tgid();
	enum follow_kind got = FOLLOW_NONE;
	struct lock_owner o = {0};

	/* Wherever it began. */
	if (follows && what == END)
		got = follow_end(ctx, (__u32)pid_tid);
	if (!is_wanted(pid_tid))
		return;
	if (what == BEGIN && inode_may_have(ctx->args[0], (__u32)ctx->args[1]))
		inode_see(ctx);
	if (what == BEGIN)
		owner_read(&o, ctx->args[0], (__u32)ctx->args[1]);
	if (config.waits)
		see_wait(ctx, w, what, &o, pid_tid);
	else if (config.owners && what == BEGIN)
		report_owner(ctx, &o);
	if (config.user_frames && !config.waits && what == BEGIN)
		report_frames(ctx);
	if (follows && what == BEGIN)
		follow_begin(ctx, &o, (__u32)pid_tid);
	if (got)
		follow_report_unnamed(ctx, HOLDREC_GOT, ctx->args[0], got);
}

/* Where waits may be summed up events are counted, and now and then one is timed. */
static __always_inline void see_timed(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
				      enum what what)
{
	struct short_control *ctl = config.shorts ? short_control_here() : NULL;
	struct short_cpu *c = ctl ? short_here(bpf_get_smp_processor_id()) : NULL;
	__u64 from;

	if (!c) {
		see_one(ctx, w, what, config.follow);
		return;
	}
	from = c->events++ % SHORT_TIMED ? 0 : bpf_ktime_get_ns();
	/* Waits that are only counted are not followed; but those that began before have ended. */
	see_one(ctx, w, what, config.follow && !(what == BEGIN && ctl->counts));
	if (from) {
		c->timed_ns += bpf_ktime_get_ns() - from;
		c->timed++;
	}
}

/* Not 0: locks are at addresses of whole words. */
static __always_inline __u64 event_of(const struct bpf_raw_tracepoint_args *ctx, enum what what)
{
	return ctx->args[0] + what;
}

/* If another program runs on this CPU, this is an event of an interrupt, for see_nested(). */
static __always_inline void see_event(struct bpf_raw_tracepoint_args *ctx, enum what what)
{
	struct waits_cpu *w = config.waits ? waits_here(bpf_get_smp_processor_id()) : NULL;

	if (w && (w->ring.entered || w->ring.busy))
		return;
	if (w)
		w->ring.entered = 1;
	see_timed(ctx, w, what);
	if (!w)
		return;
	ring_saw(&w->ring, event_of(ctx, what));
	w->ring.entered = 0;
}

SEC("raw_tp/contention_begin")
int see_begin(struct bpf_raw_tracepoint_args *ctx)
{
	see_event(ctx, BEGIN);
	return 0;
}

SEC("raw_tp/contention_end")
int see_end(struct bpf_raw_tracepoint_args *ctx)
{
	see_event(ctx, END);
	return 0;
}

/* Loaded and attached only where the kernel has the tracepoint: from 7.x on. */
SEC("raw_tp/contended_release")
int see_release(struct bpf_raw_tracepoint_args *ctx)
{
	see_event(ctx, RELEASE);
	return 0;
}

#include "nested.bpf.c"

SEC("raw_tp/sched_process_fork")
int see_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);
	__u32 cpu = bpf_get_smp_processor_id();
	__u8 is_one = 1;

	if (from == to || !bpf_map_lookup_elem(&ids, &from))
		return 0;
	if (bpf_map_update_elem(&ids, &to, &is_one, BPF_ANY)) {
		struct waits_cpu *c = waits_here(cpu);
		if (c)
			c->ring.missed++;
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

#include "names.bpf.c"
