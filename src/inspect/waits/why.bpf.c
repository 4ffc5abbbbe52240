// SPDX-License-Identifier: GPL-2.0-only
/*
 * The activity of chosen tasks, and of those that wake them: a record (runrec.h) each time that one
 * comes to a CPU again. All other tasks cost three loads at a switch and one at a wakeup: a byte
 * for the lower bits of a thread's number says that the table of tasks need not be searched.
 *
 * A task that wakes a chosen one is followed from then on, so that its own sleeps before its next
 * wakeup are known, and likewise those that wake it; each for a bounded time, and so many of them.
 * The table is allocated before: at a switch the run queue is locked, and nothing may be.
 *
 * A wakeup may come before its task has left the CPU, or to a task that has only set its state: it
 * has not slept then. While a chosen task waits for a CPU, each CPU keeps which tasks it ran last:
 * when the task gets one, it is known who had that one, and for how long.
 */
#include "kernel/arch.h"
#include "kernel/base.h"
#include "kernel/locks.h"
#include "kernel/ns.h"
#include "kernel/user.h"
#include "kernel/words.h"
#include "kontend/userlock.h"
#include "why-shared.h"

#include "kontend/runrec.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_why_config config = {0};
struct raw_why_state state SEC(".data.why") = {0};
unsigned char marks[RAW_WHY_MARKS] SEC(".data.marks") = {0};

#define FRAMES_NS (&config.ns)
#include "frames.bpf.c"
#include "on.bpf.c"

enum { STACK_LEAD = 2 /* frames: the program, and who calls it */ };

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, RAW_WHY_IDS);
} ids SEC(".maps");

enum does { RUNS, WAITS, SLEEPS };

/* A followed task. */
struct why_task {
	__u64 until_ns; /* 0: it is chosen, and followed to its end */
	__u32 does;	/* enum does */
	__u32 was_open; /* this was reported already */
	struct runrec r;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32); /* its number in the initial namespace */
	__type(value, struct why_task);
	__uint(max_entries, RAW_WHY_TASKS);
} tasks SEC(".maps");

/* Where an entry begins: of a switch, of a wakeup, of a new task, of the walk of all tasks. */
enum { ROOM_WAKER, ROOM_NEW, ROOM_WALK, ROOMS };

struct why_room {
	struct why_task task;
	struct on_work on; /* of a task that the walk finds: on_here() is a switch's */
	__u64 missed, missed_reported;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROOMS);
	__type(key, __u32);
	__type(value, struct why_room);
} rooms SEC(".maps");

/* task_struct.__state */
enum { STATE_S = 1, STATE_D = 2, STATE_STOPPED = 4, STATE_TRACED = 8, STATE_DEAD = 0x80 };
enum { STATE_NOLOAD = 0x400 };
struct task_struct___why {
	unsigned int __state;
	unsigned in_iowait : 1;
	int pid, tgid;
	unsigned int on_cpu, on_rq; /* of one byte, unsigned, in 7.3 */
	struct sched_entity___locks se;
} CORE;

static __always_inline struct why_room *room_at(__u32 nth)
{
	return bpf_map_lookup_elem(&rooms, &nth);
}

static __always_inline struct why_task *followed(int pid)
{
	__u32 key = (__u32)pid;

	return marks[key % RAW_WHY_MARKS] ? bpf_map_lookup_elem(&tasks, &key) : NULL;
}

/* Marks stay: tasks whose numbers have the same lower bits share them. */
static __always_inline struct why_task *add(int pid, const struct why_task *from)
{
	__u32 key = (__u32)pid;

	if (bpf_map_update_elem(&tasks, &key, from, BPF_NOEXIST)) {
		__sync_fetch_and_add(&state.dropped, 1);
		return NULL;
	}
	marks[key % RAW_WHY_MARKS] = 1;
	return bpf_map_lookup_elem(&tasks, &key);
}

static __always_inline void forget(int pid, const struct why_task *w)
{
	__u32 key = (__u32)pid;
	bool is_waker = w->until_ns != 0;

	if (bpf_map_delete_elem(&tasks, &key) == 0 && is_waker)
		__sync_fetch_and_add(&state.wakers, -1ull);
}

/* One that ends loses its numbers, and may run after that: it keeps those that it had. */
static __always_inline void name(struct runrec *r, struct task_struct *t)
{
	int tid = ns_tid(t, &config.ns);

	if (!r->tid || !(tid & NS_OUTSIDE)) {
		r->pid = ns_pid(t, &config.ns);
		r->tid = tid;
	}
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
}

static __always_inline void report(void *ctx, struct why_task *w, __u32 flags)
{
	const __u64 lead = sizeof(__u32), head = offsetof(struct runrec, frames) - lead;
	struct why_room *room = room_at(ROOM_WAKER);
	struct runrec *r = &w->r;

	if (!room)
		return;
	r->magic = RUNREC_MAGIC;
	r->flags = (r->flags & RUNREC_BEFORE) | flags | (w->until_ns ? 0 : RUNREC_CHOSEN);
	r->cpu = bpf_get_smp_processor_id();
	r->missed = (__u32)(room->missed - room->missed_reported);
	__u64 size = head + (r->n_frames + r->n_user + r->n_waker_frames) * sizeof(r->frames[0]);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(*r) - lead)
		return;
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic, size) == 0) {
		room->missed_reported += r->missed;
		__sync_fetch_and_add(&state.records, 1);
	} else {
		room->missed++;
		__sync_fetch_and_add(&state.missed, 1);
	}
}

static __always_inline __u32 state_of(struct task_struct___why *t)
{
	__u32 s = t->__state;

	if (s & STATE_DEAD)
		return RUNREC_ENDED;
	if (s & (STATE_STOPPED | STATE_TRACED))
		return RUNREC_STOPPED;
	if ((s & (STATE_D | STATE_NOLOAD)) == STATE_D)
		return BPF_CORE_READ_BITFIELD(t, in_iowait) ? RUNREC_IO : RUNREC_DISK;
	return s ? RUNREC_ASLEEP : RUNREC_READY;
}

/* The tasks that had this CPU lately, while a chosen task waited for one. */
struct why_slice {
	__u64 to_ns; /* it had it from the end of the one before on */
	int pid, tid;
	char comm[16];
};

enum { SLICES = 32 };

struct why_cpu {
	__u64 n; /* ever */
	struct why_slice slices[SLICES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_cpu);
} cpus SEC(".maps");

static __always_inline void set_does(struct why_task *w, __u32 does)
{
	if (!w->until_ns && (w->does == WAITS) != (does == WAITS))
		__sync_fetch_and_add(&state.waiting, does == WAITS ? 1 : -1ull);
	w->does = does;
}

static __always_inline void end_slice(struct task_struct___why *t)
{
	const __u32 first = 0;
	struct why_cpu *c = bpf_map_lookup_elem(&cpus, &first);

	if (!c)
		return;
	struct why_slice *s = &c->slices[c->n++ % SLICES];
	s->to_ns = bpf_ktime_get_ns();
	s->pid = ns_pid((void *)t, &config.ns);
	s->tid = ns_tid((void *)t, &config.ns);
	BPF_CORE_READ_STR_INTO(&s->comm, (struct task_struct *)t, comm);
}

/* Where there are too many, the one with the least time goes. */
static __always_inline void add_by(struct runrec *r, const struct why_slice *s, __u64 ns)
{
	struct runrec_by *least = &r->by[0], *to = NULL;

	for (int i = 0; i < RUNREC_BYS && !to; i++) {
		struct runrec_by *by = &r->by[i];
		if (!by->ns || by->tid == s->tid)
			to = by;
		least = by->ns < least->ns ? by : least;
	}
	if (!to && least->ns < ns) {
		to = least;
		to->ns = 0;
	}
	if (!to)
		return;
	if (!to->ns)
		__builtin_memcpy(to->comm, s->comm, sizeof(to->comm));
	to->pid = s->pid;
	to->tid = s->tid;
	to->ns += ns;
}

/* Those that had this CPU meanwhile. */
static __always_inline void find_who_had_it(struct runrec *r, __u64 from, __u64 now)
{
	const __u32 first = 0;
	struct why_cpu *c = bpf_map_lookup_elem(&cpus, &first);

	if (!c)
		return;
	for (__u32 i = 1; i <= SLICES && i <= c->n; i++) {
		const struct why_slice *s = &c->slices[(c->n - i) % SLICES];
		__u64 begin = i < SLICES && i < c->n ? c->slices[(c->n - i - 1) % SLICES].to_ns : 0;
		begin = begin > from ? begin : from;
		if (s->to_ns <= begin)
			break;
		add_by(r, s, s->to_ns - begin);
	}
}

static __always_inline void clear_pause(struct runrec *r)
{
	r->off_ns = r->woken_ns = r->in_ns = 0;
	r->n_frames = r->n_user = r->n_waker_frames = 0;
	r->user = WAITREC_USER_NONE;
	r->on = (struct runrec_on){0};
	r->waker_pid = r->waker_tid = 0;
	r->waker_comm[0] = 0;
	__builtin_memset(r->by, 0, sizeof(r->by));
}

struct inode___why {
	unsigned short i_mode;
} CORE;

struct path___why {
	struct dentry *dentry;
} CORE;

struct file___why {
	struct path___why f_path;
} CORE;

static __always_inline void put_on(struct runrec_on *to, const struct on_work *w)
{
	struct inode___why *inode = (void *)w->inode;
	struct file___why *file = (void *)w->file;

	to->kind = (unsigned short)w->on.kind;
	to->value = w->on.value;
	to->dev = w->on.dev;
	if (!file)
		return;
	to->mode = BPF_CORE_READ(inode, i_mode);
	bpf_probe_read_kernel_str(to->name, sizeof(to->name),
				  BPF_CORE_READ(file, f_path.dentry, d_name.name));
}

static __always_inline void take_user(struct runrec *r)
{
	__u32 is = WAITREC_USER_NONE, n;

	if (!config.user_frames)
		return;
	n = (__u32)frames_take(FRAMES_OF_WHY, &is);
	r->user = (unsigned short)is;
	r->n_user = n <= RUNREC_USER_FRAMES ? (unsigned short)n : 0;
	frames_put(FRAMES_OF_WHY, r->n_user, r->frames, r->n_frames);
}

/* @t leaves its CPU. */
static __always_inline void leave(void *ctx, struct task_struct___why *t, struct why_task *w,
				  bool is_preempted)
{
	struct runrec *r = &w->r;
	__u64 now = bpf_ktime_get_ns();
	long len = 0;

	clear_pause(r);
	r->off_ns = now;
	r->state = is_preempted ? RUNREC_READY : (unsigned short)state_of(t);
	w->was_open = 0;
	if (r->state == RUNREC_ENDED || (w->until_ns && w->until_ns < now)) {
		if (r->state == RUNREC_ENDED)
			report(ctx, w, 0);
		forget(t->pid, w);
		return;
	}
	set_does(w, r->state == RUNREC_READY ? WAITS : SLEEPS);
	if (w->does == SLEEPS)
		len = bpf_get_stack(ctx, r->frames, RUNREC_SLEEP_FRAMES * sizeof(r->frames[0]),
				    STACK_LEAD);
	r->n_frames = len > 0 ? (unsigned short)(len / sizeof(r->frames[0])) : 0;
	if (w->does != SLEEPS)
		return;
	struct on_work *on = on_read() ? on_here() : NULL;
	if (on)
		put_on(&r->on, on);
	take_user(r);
}

/* @t comes to a CPU. */
static __always_inline void come(void *ctx, struct task_struct *t, struct why_task *w)
{
	bool had_left = w->does != RUNS;
	struct runrec *r = &w->r;
	__u64 now = bpf_ktime_get_ns();

	name(r, t);
	r->in_ns = now;
	/* That it was woken was not seen. */
	if (w->does == SLEEPS)
		r->woken_ns = now;
	if (w->does == WAITS)
		find_who_had_it(r, r->woken_ns ? r->woken_ns : r->off_ns, now);
	set_does(w, RUNS);
	if (had_left && (!w->until_ns || now - r->off_ns >= config.least_ns))
		report(ctx, w, 0);
	clear_pause(r);
	r->flags = 0;
	r->on_ns = now;
	w->was_open = 0;
}

SEC("tp_btf/sched_switch")
int why_switch(__u64 *ctx)
{
	struct task_struct___why *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct why_task *w = followed(prev->pid);

	if (state.waiting)
		end_slice(prev);
	if (w && prev->pid)
		leave(ctx, prev, w, ctx[0]);
	w = followed(next->pid);
	if (w && next->pid)
		come(ctx, (void *)next, w);
	return 0;
}

/* It waited for that to be measured: its time begins now. */
static __always_inline void begin_command(struct why_task *w)
{
	clear_pause(&w->r);
	w->r.flags = 0;
	w->r.state = RUNREC_READY;
	w->r.off_ns = bpf_ktime_get_ns();
	w->was_open = 0;
	set_does(w, WAITS);
}

/* The task on this CPU has woken a followed task, or an interrupt has that came meanwhile. */
static __always_inline void follow_waker(void)
{
	struct task_struct___why *t = (void *)bpf_get_current_task_btf();
	struct why_room *room = room_at(ROOM_WAKER);
	__u64 until_ns = bpf_ktime_get_ns() + config.waker_ns;
	struct why_task *w = t->pid ? followed(t->pid) : NULL;

	if (w && w->until_ns)
		w->until_ns = until_ns;
	if (w || !t->pid || !room || state.wakers >= RAW_WHY_WAKERS)
		return;
	__builtin_memset(&room->task, 0, offsetof(struct why_task, r.frames));
	room->task.until_ns = until_ns;
	room->task.does = RUNS;
	name(&room->task.r, (void *)t);
	if (add(t->pid, &room->task))
		__sync_fetch_and_add(&state.wakers, 1);
}

SEC("tp_btf/sched_waking")
int why_waking(__u64 *ctx)
{
	struct task_struct___why *t = (void *)ctx[0];
	struct task_struct *waker;
	struct why_task *w = followed(t->pid);
	long len;

	if (!w || w->does != SLEEPS)
		return 0;
	if (t->on_rq && !(bpf_core_field_exists(t->se.sched_delayed) && t->se.sched_delayed))
		return 0;
	struct runrec *r = &w->r;
	waker = (void *)bpf_get_current_task();
	r->waker_pid = ns_pid(waker, &config.ns);
	if (r->flags & RUNREC_BEFORE && r->waker_pid == config.self) {
		begin_command(w);
		return 0;
	}
	r->woken_ns = bpf_ktime_get_ns();
	r->waker_tid = ns_tid(waker, &config.ns);
	bpf_get_current_comm(r->waker_comm, sizeof(r->waker_comm));
	__u32 n = r->n_frames + r->n_user;
	n = n < RUNREC_SLEEP_FRAMES + RUNREC_USER_FRAMES ? n
							 : RUNREC_SLEEP_FRAMES + RUNREC_USER_FRAMES;
	len = bpf_get_stack(ctx, r->frames + n, RUNREC_WAKER_FRAMES * sizeof(r->frames[0]),
			    STACK_LEAD);
	r->n_waker_frames = len > 0 ? (unsigned short)(len / sizeof(r->frames[0])) : 0;
	set_does(w, WAITS);
	w->was_open = 0;
	follow_waker();
	return 0;
}

/* Threads of chosen processes, and processes that these start, are chosen, too. */
SEC("tp_btf/task_newtask")
int why_new(__u64 *ctx)
{
	struct task_struct___why *t = (void *)ctx[0];
	struct task_struct___why *parent = (void *)bpf_get_current_task_btf();
	__u32 from = (__u32)parent->tgid, to = (__u32)t->tgid;
	struct why_room *room = room_at(ROOM_NEW);
	const __u8 is_one = 1;

	if (config.threads || !room || !marks[(__u32)parent->pid % RAW_WHY_MARKS] ||
	    !bpf_map_lookup_elem(&ids, &from))
		return 0;
	if (from != to && bpf_map_update_elem(&ids, &to, &is_one, BPF_ANY))
		__sync_fetch_and_add(&state.dropped, 1);
	__builtin_memset(&room->task, 0, offsetof(struct why_task, r.frames));
	room->task.does = WAITS;
	room->task.r.off_ns = bpf_ktime_get_ns();
	name(&room->task.r, (void *)t);
	if (add(t->pid, &room->task))
		__sync_fetch_and_add(&state.waiting, 1);
	return 0;
}

SEC("tp_btf/sched_process_free")
int why_gone(__u64 *ctx)
{
	struct task_struct___why *t = (void *)ctx[0];
	__u32 pid = (__u32)t->tgid;

	if (t->pid == t->tgid && marks[pid % RAW_WHY_MARKS])
		bpf_map_delete_elem(&ids, &pid);
	return 0;
}

/* The activity of chosen tasks when measuring begins. */
SEC("iter/task")
int why_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_struct___why *t = (void *)task;
	struct why_room *room = room_at(ROOM_WALK);

	if (!task || !room)
		return 0;
	__u32 id = (__u32)(config.threads ? BPF_CORE_READ(t, pid) : BPF_CORE_READ(t, tgid));
	int pid = BPF_CORE_READ(t, pid);
	if (!bpf_map_lookup_elem(&ids, &id))
		return 0;
	struct why_task *w = &room->task;
	struct runrec *r = &w->r;
	__u64 now = bpf_ktime_get_ns();
	long len = 0;

	__builtin_memset(w, 0, offsetof(struct why_task, r.frames));
	name(r, task);
	r->flags = RUNREC_BEFORE;
	r->state = (unsigned short)state_of(t);
	if (r->state == RUNREC_ENDED || BPF_CORE_READ(t, __state) & STATE_DEAD)
		return 0;
	w->does = r->state != RUNREC_READY		     ? SLEEPS
		  : BPF_CORE_READ_BITFIELD_PROBED(t, on_cpu) ? RUNS
							     : WAITS;
	if (w->does == RUNS)
		r->on_ns = now;
	else
		r->off_ns = now;
	if (w->does == SLEEPS)
		len = bpf_get_task_stack(task, r->frames,
					 RUNREC_SLEEP_FRAMES * sizeof(r->frames[0]), 0);
	r->n_frames = len > 0 ? (unsigned short)(len / sizeof(r->frames[0])) : 0;
	if (w->does == SLEEPS && on_of(&room->on, (void *)task))
		put_on(&r->on, &room->on);
	if (add(pid, w) && w->does == WAITS)
		__sync_fetch_and_add(&state.waiting, 1);
	return 0;
}

struct look {
	void *ctx;
	__u64 now, least_ns;
};

struct bpf_map;

static long look_at(struct bpf_map *map, const __u32 *key, struct why_task *w, struct look *l)
{
	__u64 since = w->r.woken_ns ? w->r.woken_ns : w->r.off_ns ? w->r.off_ns : w->r.on_ns;

	if (w->was_open || !since || l->now < since || l->now - since < l->least_ns)
		return 0;
	w->was_open = 1;
	report(l->ctx, w, RUNREC_OPEN);
	return 0;
}

/* Run by user space now and then: what lasts; the last time, with an argument, all. */
SEC("raw_tp/why_look")
int why_look(struct bpf_raw_tracepoint_args *ctx)
{
	struct look l = {ctx, bpf_ktime_get_ns(), ctx->args[0] ? 0 : config.open_ns};

	bpf_for_each_map_elem(&tasks, look_at, &l, 0);
	return 0;
}
