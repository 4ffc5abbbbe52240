// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums up each sleep in state D, from the switch that takes the task off its CPU to its wakeup, by
 * process and call chain. One that is not short has a record at its end as well (sleeprec.h).
 *
 * Nearly all switches and wakeups are of other tasks, so the first words that are read reject them:
 * the tracepoints hand out tasks whose members these programs may load directly. A sleep has its
 * place in the storage of its task, which is allocated when the programs begin or the task
 * is made, never at a switch, where the run queue is locked.
 *
 * A wakeup may come before its task has left the CPU, or after it has set its state, but before it
 * sleeps; or the task was preempted in between. The run queue still has it then, or the CPU: it has
 * not slept. Otherwise its own switch has been seen, so its begin is that of this sleep.
 *
 * The programs may be attached for others while sleeps are not measured: slept_state.level.
 * waits.bpf.c includes this file; sched.bpf.c has the programs of switches and wakeups.
 */
#include "kontend/sleeprec.h"
#include "user-shared.h"

struct raw_slept_state slept_state SEC(".data.slept") = {.level = RAW_SLEPT_OFF};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct raw_slept_now);
} sleep_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_SLEPT_CHAINS);
	__type(key, __u64);
	__type(value, struct raw_slept_chain);
} slept_chains SEC(".maps");

#define SUMS(map)                                                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, RAW_SLEPT);                                                    \
		__type(key, struct raw_slept_key);                                                 \
		__type(value, struct raw_slept_sum);                                               \
	} map SEC(".maps")

/*
 * Where chains and records are made, a place for each program: the kernel never runs one within
 * itself.
 */
struct raw_slept_room {
	struct raw_slept_chain chain;
	struct sleeprec record;
	__u64 missed, missed_reported;
};

enum { ROOM_SWITCH, ROOM_WAKING, ROOMS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROOMS);
	__type(key, __u32);
	__type(value, struct raw_slept_room);
} slept_rooms SEC(".maps");

SUMS(slept);
SUMS(slept_more); /* of processes that found no room there */

/* task_struct.__state */
enum { STATE_UNINTERRUPTIBLE = 2, STATE_NOLOAD = 0x400 };
struct task_struct___slept {
	unsigned int __state;
	unsigned in_iowait : 1;
	unsigned int on_cpu, on_rq; /* of one byte, unsigned, in 7.3 */
	struct sched_entity___locks se;
	struct task_struct *group_leader;
} CORE;

static __always_inline bool is_d(__u32 s)
{
	return (s & (STATE_UNINTERRUPTIBLE | STATE_NOLOAD)) == STATE_UNINTERRUPTIBLE;
}

/* In a PID namespace only its tasks are measured. */
static __always_inline bool is_inside(struct task_struct *t)
{
	return !config.slept.ns.level || !(ns_tid(t, &config.slept.ns) & NS_OUTSIDE);
}

static __always_inline struct raw_slept_room *slept_room(__u32 nth)
{
	return bpf_map_lookup_elem(&slept_rooms, &nth);
}

static __always_inline __u64 hash_of(const struct raw_slept_chain *c)
{
	__u64 h = c->n;

	/* Beyond these are those of an earlier chain. */
	for (__u32 i = 0; i < RAW_SLEPT_FRAMES && i < c->n; i++) {
		h = (h ^ c->frames[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

/* A chain of @len bytes, which is known from then on; 0: not known. */
static __always_inline __u64 keep_chain(struct raw_slept_chain *c, long len)
{
	__u64 hash;

	if (len <= 0)
		return 0;
	c->n = (__u32)len / sizeof(c->frames[0]);
	hash = hash_of(c);
	if (!bpf_map_lookup_elem(&slept_chains, &hash) &&
	    bpf_map_update_elem(&slept_chains, &hash, c, BPF_ANY) < 0)
		return 0;
	return hash;
}

/*
 * That of the task that leaves this CPU. If other programs are attached to the tracepoint, a frame
 * before the scheduler remains.
 */
static __always_inline __u64 chain_here(void *ctx)
{
	struct raw_slept_room *room = slept_room(ROOM_SWITCH);
	struct raw_slept_chain *c = room ? &room->chain : NULL;

	if (!c || slept_state.level >= RAW_SLEPT_LONG_CHAINS)
		return 0;
	return keep_chain(c, bpf_get_stack(ctx, c->frames, sizeof(c->frames), STACK_LEAD));
}

/* That of a task that sleeps. */
static __always_inline __u64 chain_of(struct task_struct *t)
{
	struct raw_slept_room *room = slept_room(ROOM_WAKING);
	struct raw_slept_chain *c = room ? &room->chain : NULL;

	return c ? keep_chain(c, bpf_get_task_stack(t, c->frames, sizeof(c->frames), 0)) : 0;
}

/* For the record that the sleep has if it is long enough. */
static __always_inline void take_user(struct raw_slept_now *now)
{
	const struct frames_room *room;
	const __u32 nth = FRAMES_OF_SWITCH;
	__u32 n;

	now->n_user = 0;
	now->user = WAITREC_USER_NONE;
	if (!config.user_frames || !config.slept.min_ns)
		return;
	now->user = WAITREC_USER_SAVED;
	if (slept_state.level != RAW_SLEPT_ALL)
		return;
	n = (__u32)frames_take(nth, &now->user);
	room = bpf_map_lookup_elem(&frames_rooms, &nth);
	for (__u32 i = 0; room && i < RAW_SLEPT_USER && i < n; i++)
		now->frames[i] = room->record.frames[i];
	now->n_user = room ? n : 0;
}

/* @prev leaves its CPU, and was not preempted. */
static __always_inline void sleep_begins(void *ctx, struct task_struct___slept *prev)
{
	struct raw_slept_now *now;

	if (!is_d(prev->__state) || slept_state.level >= RAW_SLEPT_OFF ||
	    !is_inside((void *)prev) || !is_asked_for((void *)prev, &config.slept.ns))
		return;
	now = bpf_task_storage_get(&sleep_of, (void *)prev, 0, 0);
	if (!now) {
		__sync_fetch_and_add(&slept_state.dropped, 1);
		return;
	}
	__u64 from_ns = bpf_ktime_get_ns();
	now->kind = BPF_CORE_READ_BITFIELD(prev, in_iowait) ? RAW_SLEPT_IO : RAW_SLEPT_DISK;
	now->chain = chain_here(ctx);
	take_user(now);
	now->epoch = slept_state.epoch;
	now->since_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&slept_state.busy_ns, now->since_ns - from_ns);
}

/* Its row, which is made if there is room for one. */
static __always_inline struct raw_slept_sum *sum_in(void *map, const struct raw_slept_key *key,
						    struct task_struct *leader)
{
	struct raw_slept_sum *sum = bpf_map_lookup_elem(map, key);
	struct raw_slept_sum first = {0};

	if (sum)
		return sum;
	if (leader)
		BPF_CORE_READ_STR_INTO(&first.comm, leader, comm);
	/* Another CPU may have made it meanwhile. */
	bpf_map_update_elem(map, key, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

static __always_inline void add(struct raw_slept_sum *sum, __u64 ns)
{
	__u64 most = sum->max_ns;

	__sync_fetch_and_add(&sum->sleeps, 1);
	__sync_fetch_and_add(&sum->total_ns, ns);
	/* CPUs that end sleeps of one row at the same time are few. */
	for (int i = 0; i < 8 && ns > most; i++)
		most = __sync_val_compare_and_swap(&sum->max_ns, most, ns);
	sum->waker = ns_tid((void *)bpf_get_current_task(), &config.slept.ns);
	bpf_get_current_comm(sum->waker_comm, sizeof(sum->waker_comm));
}

/* The task that slept, and the one that has woken it. */
static __always_inline void fill_tasks(struct sleeprec *r, struct task_struct *t)
{
	struct task_struct *waker = (void *)bpf_get_current_task();

	r->pid = ns_pid(t, &config.slept.ns);
	r->tid = ns_tid(t, &config.slept.ns);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	r->waker_pid = ns_pid(waker, &config.slept.ns);
	r->waker_tid = ns_tid(waker, &config.slept.ns);
	bpf_get_current_comm(r->waker_comm, sizeof(r->waker_comm));
}

/* Returns the number of frames. */
static __always_inline __u32 fill_frames(struct sleeprec *r, __u64 chain)
{
	const struct raw_slept_chain *c = chain ? bpf_map_lookup_elem(&slept_chains, &chain) : NULL;

	if (!c)
		return 0;
	for (int i = 0; i < RAW_SLEPT_FRAMES; i++)
		r->frames[i] = c->frames[i];
	return c->n < RAW_SLEPT_FRAMES ? c->n : RAW_SLEPT_FRAMES;
}

static __always_inline void report(void *ctx, struct task_struct *t,
				   const struct raw_slept_now *now, __u64 ns)
{
	const __u64 lead = sizeof(__u32), head = offsetof(struct sleeprec, frames) - lead;
	struct raw_slept_room *room = slept_room(ROOM_WAKING);

	if (!room)
		return;
	struct sleeprec *r = &room->record;
	r->magic = SLEEPREC_MAGIC;
	r->begin_ns = now->since_ns;
	r->length_ns = ns;
	r->kind = now->kind == RAW_SLEPT_IO ? SLEEPREC_IO : SLEEPREC_DISK;
	r->missed = (__u32)(room->missed - room->missed_reported);
	fill_tasks(r, t);
	__u32 n = fill_frames(r, now->chain);
	r->n_frames = (__u16)n;
	r->user = now->user;
	for (__u32 i = 0; i < RAW_SLEPT_USER && i < now->n_user; i++) {
		__u32 at = n + i;

		barrier_var(at); /* the same register for test and use, or the verifier forgets */
		if (at < SLEEPREC_FRAMES + SLEEPREC_USER)
			r->frames[at] = now->frames[i];
	}
	r->n_user = (__u16)now->n_user;
	__u64 size = head + (n + r->n_user) * sizeof(r->frames[0]);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(*r) - lead)
		return;
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic, size) == 0) {
		room->missed_reported += r->missed;
		__sync_fetch_and_add(&slept_state.records, 1);
	} else {
		room->missed++;
		__sync_fetch_and_add(&slept_state.missed, 1);
	}
}

static __always_inline void end_sleep(void *ctx, struct task_struct___slept *t,
				      struct raw_slept_now *now)
{
	__u64 until_ns = bpf_ktime_get_ns(), ns = until_ns - now->since_ns;

	if (!now->chain && ns >= config.slept.long_ns)
		now->chain = chain_of((void *)t);
	struct raw_slept_key key = {now->chain, ns_pid((void *)t, &config.slept.ns), now->kind};
	struct raw_slept_sum *sum = sum_in(&slept, &key, t->group_leader);

	if (!sum) {
		key.pid = 0;
		sum = sum_in(&slept_more, &key, NULL);
	}
	if (sum)
		add(sum, ns);
	else
		__sync_fetch_and_add(&slept_state.dropped, 1);
	if (config.slept.min_ns && ns >= config.slept.min_ns)
		report(ctx, (void *)t, now, ns);
	now->since_ns = 0;
	__sync_fetch_and_add(&slept_state.busy_ns, bpf_ktime_get_ns() - until_ns);
}

/* @t is woken, or its state is set back before it slept. */
static __always_inline void sleep_ends(void *ctx, struct task_struct___slept *t)
{
	struct raw_slept_now *now;

	if (!is_d(t->__state) || slept_state.level >= RAW_SLEPT_OFF || t->on_cpu)
		return;
	if (t->on_rq && !(bpf_core_field_exists(t->se.sched_delayed) && t->se.sched_delayed))
		return;
	now = bpf_task_storage_get(&sleep_of, (void *)t, 0, 0);
	if (now && now->since_ns && now->epoch == slept_state.epoch)
		end_sleep(ctx, t, now);
}

/* Of locks of programs: user.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct raw_user_now);
} user_of SEC(".maps");

/* False: there was no memory. */
static __always_inline bool give_storage(struct task_struct *t)
{
	bool has = true;

	if (config.sleeps && !bpf_task_storage_get(&sleep_of, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		has = false;
	if (config.users && !bpf_task_storage_get(&user_of, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		has = false;
	return has;
}

SEC("tp_btf/task_newtask")
int new_task(__u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0];

	if (is_inside(t))
		give_storage(t);
	return 0;
}

/* The task is read once: for Linux 6.1 each load of it may be none. */
SEC("iter/task")
int old_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t)
		return 0;
	if (give_storage(t))
		slept_state.given++;
	else
		slept_state.refused++;
	return 0;
}

/* Sleeps that last: tasks, and their time until now. */
SEC("iter/task")
int sleeping_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct raw_slept_now *now;

	if (!t)
		return 0;
	now = bpf_task_storage_get(&sleep_of, t, 0, 0);
	if (!now || !now->since_ns || now->epoch != slept_state.epoch)
		return 0;
	slept_state.now++;
	slept_state.now_ns += bpf_ktime_get_ns() - now->since_ns;
	return 0;
}
