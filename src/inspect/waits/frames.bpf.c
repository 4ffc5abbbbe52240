// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains of programs, from the registers with which the current task has entered the kernel
 * outwards. The tables that say where a caller is found are read by user space, once for each place
 * in the code of a process (user-frames.c). A chain ends where it has not answered yet: from there
 * on the frame pointer is followed only to ask for the rules of what is found, too, as functions of
 * libraries do not keep it and their callers would be left out. So programs and libraries without
 * frame pointers are unwound as well, and nothing of a stack leaves the kernel but return
 * addresses. waits.bpf.c includes this file, and so does why.bpf.c, which shares its maps;
 * FRAMES_NS is their view of PID namespaces.
 */
#include "frames-shared.h"
#include "kernel/user.h"

#include "kontend/waitrec.h"

/* The programs that may interrupt each other have a room each. */
enum frames_room_of {
	FRAMES_OF_WAITS,
	FRAMES_OF_FILES,
	FRAMES_OF_SWITCH,
	FRAMES_OF_WHY,
	FRAMES_ROOMS
};

struct frames_walk {
	__u64 pc, sp, fp, link, space;
	__u32 n, depth;
	__u32 is;      /* enum waitrec_user */
	__u32 guesses; /* a rule is missing: no frame from here on counts */
};

/* In it the walk, too: Linux 6.1 has no room for one on the stack. */
struct frames_room {
	struct waitrec_frames record;
	struct frames_walk walk;
	__u64 period, spent_ns; /* in this period, for chains */
	__u64 mean_ns;		/* for one, lately */
	struct frames_counts counts;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FRAMES_ROOMS);
	__type(key, __u32);
	__type(value, struct frames_room);
} frames_rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FRAMES_RULES);
	__type(key, __u64);
	__type(value, struct frames_rule);
} frames_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, FRAMES_ASKS);
	__type(value, struct frames_ask);
} frames_asks SEC(".maps");

struct pt_regs___frames_x86 {
	unsigned long bp, ip, sp, orig_ax;
} CORE;

enum { ARM64_FP = 29, ARM64_LINK = 30, FRAMES_LEAST_PC = 4096 };

/* Bits of an address on arm64; the ones above may sign it. */
static const __u64 ARM64_ADDR = (1ull << 48) - 1;

struct frames_of {
	struct frames_room *room;
	struct task_struct___user *task;
};

/* False: it has none that can be walked. */
static __always_inline bool frames_start(struct frames_walk *f, struct task_struct___user *task)
{
	void *regs = (void *)bpf_task_pt_regs((void *)task);

	if (!user_is_program(task))
		return false;
	*f = (struct frames_walk){0};
	if (is_x86()) {
		struct pt_regs___frames_x86 *x = regs;
		f->pc = x->ip;
		f->sp = x->sp;
		f->fp = x->bp;
	} else if (is_arm64()) {
		struct pt_regs___user_arm64 *a = regs;
		f->pc = a->user_regs.pc;
		f->sp = a->user_regs.sp;
		f->fp = a->user_regs.regs[ARM64_FP];
		f->link = a->user_regs.regs[ARM64_LINK] & ARM64_ADDR;
	} else {
		return false;
	}
	/* A process that executes another program has another place for its stack. */
	f->space = userlock_mix(task->group_leader->start_boottime ^ (__u64)task->mm->start_stack
									     << 13);
	return true;
}

static __always_inline void frames_ask(const struct frames_of *o, __u64 key)
{
	const struct frames_walk *f = &o->room->walk;
	const struct frames_rule none = {.kind = FRAMES_ASKED};
	struct frames_ask ask = {.key = key,
				 .pc = f->pc - (f->depth > 1),
				 .pid = ns_pid((void *)o->task, FRAMES_NS),
				 .tid = ns_tid((void *)o->task, FRAMES_NS)};

	if (bpf_map_push_elem(&frames_asks, &ask, 0))
		o->room->counts.unasked++;
	else
		bpf_map_update_elem(&frames_rules, &key, &none, BPF_NOEXIST);
}

/* A place where a call returns has the rule of the call. */
static __always_inline struct frames_rule frames_find(const struct frames_of *o)
{
	struct frames_walk *f = &o->room->walk;
	__u64 key = userlock_mix(f->space ^ (f->pc << 1 | (f->depth > 1)));
	const struct frames_rule *r = bpf_map_lookup_elem(&frames_rules, &key);

	if (r && r->kind != FRAMES_ASKED)
		return *r;
	f->guesses = 1;
	if (!r)
		frames_ask(o, key);
	return (struct frames_rule){.kind = FRAMES_BY_FP, .cfa = 16, .ra = -1, .fp = -2};
}

/* The caller's registers. False: they cannot be read. */
static __always_inline bool frames_read(struct frames_walk *f, struct frames_rule r, __u64 cfa)
{
	__u64 words[2];

	if (r.ra == -1 && r.fp == -2 && !r.in_link) {
		if (bpf_probe_read_user(words, sizeof(words), (void *)(cfa - sizeof(words))))
			return false;
		f->fp = words[0];
		f->pc = words[1];
		return true;
	}
	if (r.in_link)
		f->pc = f->link;
	else if (bpf_probe_read_user(&f->pc, sizeof(f->pc), (void *)(cfa + 8ll * r.ra)))
		return false;
	return !r.fp || !bpf_probe_read_user(&f->fp, sizeof(f->fp), (void *)(cfa + 8ll * r.fp));
}

static __always_inline bool frames_is_code(__u64 pc)
{
	return pc >= FRAMES_LEAST_PC && !(pc >> 56);
}

/* Moves on to the caller. False: the walk's `is` says why not. */
static __always_inline bool frames_up(const struct frames_of *o)
{
	struct frames_walk *f = &o->room->walk;
	struct frames_rule r = frames_find(o);
	__u64 cfa = (r.kind == FRAMES_BY_SP ? f->sp : f->fp) + (__s64)r.cfa;

	f->is = r.kind == FRAMES_LAST ? WAITREC_USER_WHOLE : WAITREC_USER_ENDS;
	if (r.kind == FRAMES_LAST || r.kind == FRAMES_STOP)
		return false;
	if (cfa < f->sp || (cfa == f->sp && !r.in_link) || cfa & 7 || !frames_read(f, r, cfa))
		return false;
	f->sp = cfa;
	if (is_arm64())
		f->pc &= ARM64_ADDR;
	if (!f->pc)
		f->is = WAITREC_USER_WHOLE;
	return frames_is_code(f->pc);
}

static long frames_step(__u64 i, void *arg)
{
	const struct frames_of *o = arg;
	struct frames_walk *f = &o->room->walk;
	__u32 n = f->n;

	(void)i;
	if (n >= WAITREC_USER) {
		f->is = WAITREC_USER_MOST;
		return 1;
	}
	f->depth++;
	if (!f->guesses) {
		o->room->record.frames[n] = f->pc;
		f->n = n + 1;
	}
	return !frames_up(o);
}

/* So long they have taken in this period that there is no time left for one more. */
static __always_inline bool frames_are_dear(struct frames_room *r, __u64 now_ns)
{
	__u64 period = now_ns >> FRAMES_PERIOD_SHIFT;

	if (r->period != period) {
		r->period = period;
		r->spent_ns = 0;
	}
	return config.frames_ns && r->spent_ns >= config.frames_ns;
}

static __always_inline void frames_timed(struct frames_room *r, __u64 from_ns)
{
	__u64 ns;

	if (r->counts.waits++ % FRAMES_TIMED == 0) {
		ns = bpf_ktime_get_ns() - from_ns;
		/* One that an interrupt delayed says little. */
		if (ns > FRAMES_LONG_NS)
			ns = FRAMES_LONG_NS;
		r->mean_ns = ((r->mean_ns ? r->mean_ns : FRAMES_USUAL_NS) * 7 + ns) / 8;
		r->counts.timed++;
		r->counts.timed_ns += ns;
	}
	r->spent_ns += r->mean_ns;
}

/*
 * The frames of the current task into its room: their number. @ret_is: enum waitrec_user. Global,
 * as owner_read() is: where it is called the number of the kernel's frames is known, and the kernel
 * would verify it for each of them.
 */
__noinline int frames_take(__u32 of, __u32 *ret_is)
{
	struct frames_of o = {.room = bpf_map_lookup_elem(&frames_rooms, &of)};
	__u64 from_ns = bpf_ktime_get_ns();
	struct frames_walk *f;

	if (!ret_is)
		return 0;
	*ret_is = WAITREC_USER_NONE;
	if (!o.room)
		return 0;
	f = &o.room->walk;
	o.task = (void *)bpf_get_current_task_btf();
	if (!frames_start(f, o.task))
		return 0;
	if (frames_are_dear(o.room, from_ns)) {
		o.room->counts.saved++;
		*ret_is = WAITREC_USER_SAVED;
		return 0;
	}
	bpf_loop(WAITREC_USER + 1, frames_step, &o, 0);
	o.room->counts.frames += f->n;
	frames_timed(o.room, from_ns);
	*ret_is = f->guesses ? WAITREC_USER_SOON : f->is;
	return (int)f->n;
}

/* Copies them to after the @n frames at @to, of WAITREC_ALL. */
static __always_inline void frames_put(__u32 of, __u32 taken, __u64 *to, __u32 n)
{
	const struct frames_room *room = bpf_map_lookup_elem(&frames_rooms, &of);

	for (__u32 i = 0; room && i < WAITREC_USER && i < taken; i++) {
		__u64 at = (__u64)n + i, from = i;

		/* The same registers for test and use, also in width, or the verifier forgets. */
		barrier_var(at);
		barrier_var(from);
		if (at >= WAITREC_ALL || from >= WAITREC_USER)
			return;
		to[at] = room->record.frames[from];
	}
}
