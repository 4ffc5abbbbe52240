// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that are shorter than a threshold: summed up by lock type and caller instead of reported
 * one by one. waits.bpf.c includes this file.
 *
 * The begin of a wait is written down: of one that sleeps in a slot of its task, of one that spins
 * on a stack of its CPU, on which it stays. At its end the wait is summed up, or reported with its
 * call chain, which is the same then except for the place of the tracepoint. A begin that has no
 * room is reported at once as if there were no threshold, and so is an end that finds no begin: no
 * wait is missing and none is there twice.
 *
 * User space makes a program report long waits before they end (say_wait). Whichever program comes
 * first owns the wait, by a compare-and-exchange of its slot; a wait that was reported so is
 * reported again at its end, with its calls.
 *
 * A mutex begins several times and ends once. So its slot is kept on all levels, also where each
 * begin is reported; and where a set of slots had no room once, a mutex without a slot there has
 * none in its later phases either.
 *
 * Each CPU has its own rows: plain additions. Calls are found as chains are (chain.bpf.c), but
 * apart from chains that are reported, as they are cut. They are unwound for more frames than
 * count: the end of a chain that the limit cuts might be beyond the gap that system calls have at
 * the end of the stack.
 */
#include "short-shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct short_control);
	__uint(max_entries, 1);
} short_control SEC(".maps");

/* The loader gives these their sizes if there may be a threshold. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct short_slot);
	__uint(max_entries, 1);
} short_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct short_row);
	__uint(max_entries, 1);
} short_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct short_cpu);
	__uint(max_entries, 1);
} short_cpus SEC(".maps");

_Static_assert(SHORT_SCRATCH >= sizeof(struct ring_record), "a record fits there");

enum {
	SHORT_CHAIN = 0x80, /* kinds of chains, beside the flags: that are cut, */
	SHORT_LATE = 0x40,  /* and of an end */
};

static __always_inline struct short_control *short_control_here(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&short_control, &first);
}

static __always_inline struct short_cpu *short_here(__u32 cpu)
{
	return bpf_map_lookup_elem(&short_cpus, &cpu);
}

static __always_inline bool short_is_spin(__u32 flags)
{
	return flags & LCB_SPIN && !(flags & LCB_MUTEX);
}

/* A mutex is one wait, whether it spins or sleeps. */
static __always_inline __u32 short_kind(__u32 flags)
{
	return (flags & LCB_MUTEX ? LCB_MUTEX : flags) & (SHORT_FLAGS - 1);
}

static __always_inline __u64 short_owner(__u32 tid, enum short_state state)
{
	return tid | (__u64)state << 32;
}

static __always_inline struct short_slot *short_slot(__u32 tid, __u32 way)
{
	__u32 at = (tid & (SHORT_SETS - 1)) * SHORT_WAYS + way;

	return bpf_map_lookup_elem(&short_slots, &at);
}

/* That of the task's wait for the lock; NULL: there is none. */
static __always_inline struct short_slot *short_find(__u32 tid, __u64 lock)
{
#pragma unroll
	for (__u32 way = 0; way < SHORT_WAYS; way++) {
		struct short_slot *s = short_slot(tid, way);
		if (s && s->owner && (__u32)s->owner == tid && s->lock == lock)
			return s;
	}
	return NULL;
}

/* Is it part of another wait of the task, which is summed up or reported for both? */
static __always_inline bool short_is_within(__u32 tid, __u64 lock)
{
	if (!rt_mutex_within())
		return false;
#pragma unroll
	for (__u32 way = 0; way < SHORT_WAYS; way++) {
		struct short_slot *s = short_slot(tid, way);
		if (s && s->owner && (__u32)s->owner == tid &&
		    rt_is_within(lock, s->lock, s->flags))
			return true;
	}
	return false;
}

static __always_inline struct short_slot *short_claim(__u32 tid)
{
#pragma unroll
	for (__u32 way = 0; way < SHORT_WAYS; way++) {
		struct short_slot *s = short_slot(tid, way);
		if (s && !s->owner &&
		    __sync_val_compare_and_swap(&s->owner, 0, short_owner(tid, SHORT_TAKEN)) == 0)
			return s;
	}
	return NULL;
}

/* True: the begin is to be reported. */
static __always_inline bool short_spins(struct short_cpu *c, const struct short_control *ctl,
					__u64 lock, __u32 flags)
{
	__u64 n = c->n_spins;

	if (!ctl->threshold_ns && !ctl->counts)
		return true;
	/* It spins again: its end was missed. */
	if (n && n <= SHORT_SPINS && c->spins[(n - 1) & (SHORT_SPINS - 1)].lock == lock)
		n--;
	if (n >= SHORT_SPINS)
		return true;
	struct short_spin *s = &c->spins[n & (SHORT_SPINS - 1)];
	s->lock = lock;
	s->flags = flags;
	s->begin_ns = ctl->counts ? 0 : bpf_ktime_get_ns();
	s->idle = idle_begin((void *)bpf_get_current_task_btf(), s->begin_ns);
	s->par = s->begin_ns ? par_here((__u32)(bpf_get_current_pid_tgid() >> 32), s->begin_ns) : 0;
	c->n_spins = (__u32)n + 1;
	return false;
}

static __always_inline void short_own(struct short_slot *s, const struct lock_owner *o)
{
	s->owner_is = (__u8)o->is;
	s->owner_pid = o->pid;
	s->owner_tid = o->tid;
}

static __always_inline __u64 short_spun(const struct short_slot *s, __u64 now)
{
	return s->spun_ns + (s->spins_ns && now > s->spins_ns ? now - s->spins_ns : 0);
}

/* A mutex goes from spinning to sleeping, or back. */
static __always_inline void short_phase(struct short_slot *s, __u32 flags)
{
	__u64 now;

	if (!s->begin_ns)
		return;
	now = bpf_ktime_get_ns();
	s->spun_ns = short_spun(s, now);
	s->spins_ns = flags & LCB_SPIN ? now : 0;
	s->flags = (__u8)flags;
}

static __always_inline bool short_sleeps(struct short_control *ctl, __u64 lock, __u32 flags,
					 const struct lock_owner *o, __u64 pid_tid, __u32 cpu)
{
	__u32 tid = (__u32)pid_tid, set = tid & (SHORT_SETS - 1);
	bool is_reported = !ctl->threshold_ns && !ctl->counts;
	struct short_slot *s = short_find(tid, lock);

	if (s && flags & LCB_MUTEX && s->flags & LCB_MUTEX) {
		short_phase(s, flags);
		/* No task had it when it was asked about first: it was being handed over. */
		if (!s->owner_tid)
			short_own(s, o);
		return s->owner >> 32 == SHORT_REPORTED;
	}
	if (flags == LCB_RT && short_is_within(tid, lock))
		return false;
	if (!s) {
		if (ctl->full[set] && flags & LCB_MUTEX)
			return true;
		s = short_claim(tid);
	}
	if (!s) {
		ctl->full[set] = 1;
		return true;
	}
	s->lock = lock;
	s->begin_ns = is_reported || ctl->counts ? 0 : bpf_ktime_get_ns();
	s->tgid = pid_tid >> 32;
	s->cpu = (__u16)cpu;
	s->flags = (__u8)flags;
	s->idle = s->begin_ns ? idle_begin((void *)bpf_get_current_task_btf(), s->begin_ns) : 0;
	s->par = s->begin_ns ? par_here((__u32)(pid_tid >> 32), s->begin_ns) : 0;
	s->spun_ns = 0;
	s->spins_ns = flags & LCB_MUTEX && flags & LCB_SPIN ? s->begin_ns : 0;
	short_own(s, o);
	barrier();
	*(volatile __u64 *)&s->owner =
		short_owner(tid, is_reported ? SHORT_REPORTED : SHORT_UNREPORTED);
	return is_reported;
}

static __always_inline bool short_begin(struct bpf_raw_tracepoint_args *ctx, struct short_cpu *c,
					struct short_control *ctl, const struct lock_owner *o,
					__u64 pid_tid, __u32 cpu)
{
	__u32 flags = (__u32)ctx->args[1];

	if (short_is_spin(flags))
		return short_spins(c, ctl, ctx->args[0], flags);
	/* Nothing spins where a task goes to sleep. */
	c->n_spins = 0;
	return short_sleeps(ctl, ctx->args[0], flags, o, pid_tid, cpu);
}

/* How a wait that has ended began. */
struct short_past {
	__u64 begin_ns; /* 0: not known */
	__u32 flags;
	__u32 is_said;
	__u64 spun_ns, spins_ns; /* as in struct short_slot */
	__u64 lost_ns;		 /* if `owner.idle` is known, and */
	bool is_lost;		 /* what the clock shows now */
	/* Of one that slept. `par` of a short one: see short_par(). */
	struct lock_owner owner;
};

enum short_end { SHORT_END_ONLY, SHORT_END_PAST, SHORT_END_NONE };

static __always_inline bool short_end_spin(struct short_cpu *c, __u64 lock, struct short_past *p)
{
	__u32 n = c->n_spins, found = SHORT_SPINS;

#pragma unroll
	for (__u32 i = 0; i < SHORT_SPINS; i++)
		if (i < n && c->spins[i].lock == lock)
			found = i;
	if (found >= SHORT_SPINS)
		return false;
	c->n_spins = found;
	p->begin_ns = c->spins[found].begin_ns;
	p->flags = c->spins[found].flags;
	p->owner.idle = c->spins[found].idle;
	p->owner.par = c->spins[found].par;
	return true;
}

/* The wait that spins for the lock is not known any more. False: it was not. */
static __always_inline bool short_forget(__u32 cpu, __u64 lock)
{
	struct short_cpu *c = short_here(cpu);
	struct short_past past;

	return c && short_end_spin(c, lock, &past);
}

/* How is the end of a wait to be reported? */
static __always_inline enum short_end short_slept(__u32 tid, __u64 lock, struct short_past *p)
{
	struct short_slot *s = short_find(tid, lock);
	__u64 unreported = short_owner(tid, SHORT_UNREPORTED);

	if (!s)
		return short_is_within(tid, lock) ? SHORT_END_NONE : SHORT_END_ONLY;
	p->begin_ns = s->begin_ns;
	p->flags = s->flags;
	p->spun_ns = s->spun_ns;
	p->spins_ns = s->spins_ns;
	p->owner.is = s->owner_is;
	p->owner.pid = s->owner_pid;
	p->owner.tid = s->owner_tid;
	p->owner.idle = s->idle;
	p->owner.par = s->par;
	if (s->owner >> 32 == SHORT_REPORTED) {
		*(volatile __u64 *)&s->owner = 0;
		return SHORT_END_ONLY;
	}
	/* Reports until now have a time that is before that of the end. */
	if (__sync_val_compare_and_swap(&s->owner, unreported, 0) == unreported)
		return SHORT_END_PAST;
	p->is_said = 1;
	*(volatile __u64 *)&s->owner = 0;
	return SHORT_END_PAST;
}

static __always_inline __u64 short_key(const struct ring_record *rec, __u32 n, __u32 kind)
{
	__u64 key = kind + 1;

#pragma unroll
	for (__u32 i = 0; i < SHORT_FRAMES; i++)
		if (i < n)
			key = stack_sum(key, rec->begin.frames[i]);
	return key | 1; /* of no row it is 0 */
}

static __always_inline void short_fill(struct short_row *row, const struct ring_record *rec,
				       __u32 n, __u32 kind, __u64 key)
{
	row->flags = kind;
	row->n_frames = n;
#pragma unroll
	for (__u32 i = 0; i < SHORT_FRAMES; i++)
		row->frames[i] = i < n ? rec->begin.frames[i] : 0;
	/* A reader of the begin sees all of the slot. */
	if (is_x86())
		barrier();
	else
		__sync_fetch_and_add(&row->n, 0);
	*(volatile __u64 *)&row->key = key;
}

/* The row of the chain in @rec; NULL: there is no room. */
static __always_inline struct short_row *short_row(const struct ring_record *rec, __u32 n,
						   __u32 kind, __u32 cpu)
{
	__u64 key;

	n = n > SHORT_FRAMES ? SHORT_FRAMES : n;
	key = short_key(rec, n, kind);
#pragma unroll
	for (__u32 i = 0; i < SHORT_PROBES; i++) {
		__u32 at = cpu * SHORT_ROWS + (((__u32)(key >> 32) + i) & (SHORT_ROWS - 1));
		struct short_row *row = bpf_map_lookup_elem(&short_rows, &at);

		if (!row)
			return NULL;
		if (!row->key)
			short_fill(row, rec, n, kind, key);
		if (row->key == key)
			return row;
	}
	return NULL;
}

static __always_inline void short_add(struct short_cpu *c, const struct ring_record *rec, __u32 n,
				      __u32 kind, const struct short_past *p, __u64 ns, __u32 cpu)
{
	struct short_row *row = short_row(rec, n, kind, cpu);
	struct short_sum *other;

	if (row) {
		row->n++;
		row->ns += ns;
		row->spun_ns += p->spun_ns;
		row->lost_ns += p->lost_ns;
		row->lost_of_ns += p->is_lost ? ns : 0;
		row->par_ns += p->owner.par ? p->owner.par - 1 : 0;
		row->par_of_ns += p->owner.par ? ns : 0;
		return;
	}
	other = &c->other[kind & (SHORT_FLAGS - 1)];
	other->n++;
	other->ns += ns;
	other->spun_ns += p->spun_ns;
	other->lost_ns += p->lost_ns;
	other->lost_of_ns += p->is_lost ? ns : 0;
	other->par_ns += p->owner.par ? p->owner.par - 1 : 0;
	other->par_of_ns += p->owner.par ? ns : 0;
}

/*
 * How long other threads of the process ran meanwhile, no longer than all CPUs can, and 1 more; 0:
 * not known. It replaces the clock at the begin: on old kernels the stack has no room for both.
 */
static __always_inline void short_par(struct short_past *p, __u64 now, __u64 ns)
{
	unsigned long long par, began = p->owner.par;

	p->owner.par = 0;
	if (began &&
	    parclock_ns(began, par_here((__u32)(bpf_get_current_pid_tgid() >> 32), now), &par) &&
	    par / PARCLOCK_CPUS < ns)
		p->owner.par = par + 1;
}

/* For how long a CPU was idle meanwhile. */
static __always_inline void short_lost(struct short_past *p, __u64 now, __u64 ns)
{
	__u32 idle = p->owner.idle ? idle_at(now) : 0;

	if (!idle)
		return;
	p->is_lost = true;
	p->lost_ns = idleclock_ns(p->owner.idle, idle);
	if (p->lost_ns > ns)
		p->lost_ns = ns;
}

/* A wait that is not reported: true. Else its chain is in the CPU's scratch, of *@ret_n frames. */
static __always_inline bool short_sum_up(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
					 struct short_cpu *c, const struct short_control *ctl,
					 struct short_past *p, __u32 cpu, __u32 *ret_n)
{
	bool failed = (int)ctx->args[1] != 0, is_short;
	__u32 frames = config.frames, kind = short_kind(p->flags);
	struct ring_record *rec = (void *)c->scratch;
	__u64 ns;

	if (!p->begin_ns) {
		if (!failed)
			c->counted[kind]++;
		return true;
	}
	ns = bpf_ktime_get_ns();
	if (p->spins_ns && ns > p->spins_ns)
		p->spun_ns += ns - p->spins_ns;
	short_lost(p, ns, ns - p->begin_ns);
	is_short = !failed && !p->is_said && ns - p->begin_ns < ctl->threshold_ns;
	if (is_short)
		short_par(p, ns, ns - p->begin_ns);
	ns -= p->begin_ns;
	if (is_short && frames > SHORT_UNWOUND)
		frames = SHORT_UNWOUND;
	*ret_n = stack_here(ctx, stack_work(w), rec,
			    p->flags | (is_short ? SHORT_CHAIN : SHORT_LATE), frames);
	if (is_short)
		short_add(c, rec, *ret_n, kind, p, ns, cpu);
	return is_short;
}

static __always_inline void late_owner(struct ring_record *rec, const struct lock_owner *o)
{
	rec->late.owner_pid = o->pid;
	rec->late.owner_tid = o->tid;
	rec->late.owner = (__u16)o->is;
	rec->late.owner_asked =
		(config.owners ? WAITREC_OWNERS_ASKED : 0) | (o->idle ? WAITREC_LOSES : 0);
}

/* Its begin, of which @n frames are in the CPU's scratch. */
static __always_inline void short_report(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
					 const struct short_cpu *c, const struct short_past *p,
					 __u64 pid_tid, __u32 cpu, __u32 n)
{
	const struct ring_place place = {&w->ring, w->data, config.ring_bytes};
	const struct ring_record *from = (const void *)c->scratch;
	struct ring_record *rec = start_record(&place, pid_tid, cpu);
	__u32 size, missed = w->ring.missed, n_user, user, has_on, words;

	if (!rec)
		return;
	for (__u32 i = 0; i < WAITREC_FRAMES && i < n; i++)
		rec->late.frames[i] = from->begin.frames[i];
	if (n > WAITREC_FRAMES)
		n = WAITREC_FRAMES;
	/* By way of memory: else the verifier follows each number of frames by itself. */
	*(volatile __u16 *)&rec->late.n_frames = (__u16)n;
	n = *(volatile __u16 *)&rec->late.n_frames;
	if (n > WAITREC_FRAMES)
		return;
	n_user = user_frames(w, short_kind(p->flags), rec->late.frames, n, &user);
	has_on = put_on(rec->late.frames, n + n_user, WAITREC_ALL, user);
	words = n + n_user + (has_on ? WAITREC_ON_WORDS : 0);
	size = ring_lead(&place, rec, RING_LATE + words * sizeof(rec->late.frames[0]));
	rec->late.size = size - RING_LEAD - sizeof(rec->late.size);
	rec->late.magic = WAITREC_LATE_MAGIC;
	rec->late.lock = ctx->args[0];
	rec->late.cgroup = cgroup_here();
	rec->late.flags = p->flags;
	rec->late.tid = (int)rec->tid;
	rec->late.missed = missed;
	rec->late.n_user = (__u16)n_user;
	late_owner(rec, &p->owner);
	rec->late.owner_asked |= (__u8)has_on;
	rec->late.user = (__u8)user;
	rec->late.spun = p->flags & LCB_MUTEX ? waitrec_age(p->spun_ns) : 0;
	rec->late.begin_ns = p->begin_ns;
	rec->late.par = p->owner.par;
	/* An interrupt may have added to it just now. */
	if (missed)
		__sync_fetch_and_add(&w->ring.missed, -missed);
	publish(ctx, &place, size);
}

/* True: the end is to be reported, and the begin was. */
static __always_inline bool short_end(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
				      struct short_cpu *c, const struct short_control *ctl,
				      struct lock_owner *o, __u64 pid_tid, __u32 cpu)
{
	struct short_past p = {0};
	__u32 n = 0;

	if (!short_end_spin(c, ctx->args[0], &p)) {
		enum short_end end = short_slept((__u32)pid_tid, ctx->args[0], &p);
		if (end != SHORT_END_PAST)
			return end == SHORT_END_ONLY;
	}
	if (short_sum_up(ctx, w, c, ctl, &p, cpu, &n))
		return false;
	short_report(ctx, w, c, &p, pid_tid, cpu, n);
	o->idle = p.owner.idle;
	return true;
}

/* True: it is to be reported as if there were no threshold. */
static __always_inline bool short_wants(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
					enum what what, struct lock_owner *o, __u64 pid_tid,
					__u32 cpu)
{
	struct short_cpu *c = short_here(cpu);
	struct short_control *ctl = short_control_here();
	bool is_reported;

	if (!c || !ctl)
		return true;
	if (what == BEGIN)
		is_reported = short_begin(ctx, c, ctl, o, pid_tid, cpu);
	else if (what == END)
		is_reported = short_end(ctx, w, c, ctl, o, pid_tid, cpu);
	else
		is_reported = !ctl->threshold_ns && !ctl->counts;
	c->reported += is_reported;
	return is_reported;
}

/* User space has it say that the wait in a slot goes on. */
static __always_inline void short_say(struct bpf_raw_tracepoint_args *ctx, struct waits_cpu *w,
				      struct short_slot *s)
{
	const struct ring_place place = {&w->ring, w->data, config.ring_bytes};
	struct ring_record *rec = ring_has_room(&place) ? ring_next(&place) : NULL;
	__u64 owner = s->owner, begin_ns = s->begin_ns, lock = s->lock;
	__u32 flags = s->flags, size, tid = (__u32)owner;
	__u64 now = bpf_ktime_get_ns(), said = short_owner(tid, SHORT_SAID);
	__u64 spun_ns = short_spun(s, now);
	struct lock_owner o = {
		.is = s->owner_is, .pid = s->owner_pid, .tid = s->owner_tid, .idle = s->idle};

	/* Its end can be reported; as can waits of tasks whose numbers here are other ones. */
	if (!rec || !begin_ns || owner >> 32 != SHORT_UNREPORTED || config.ns.level)
		return;
	rec->pid = s->tgid;
	rec->tid = tid;
	rec->time = now;
	rec->cpu = s->cpu;
	if (__sync_val_compare_and_swap(&s->owner, owner, said) != owner)
		return;
	/* It was another one of the same task by then, and is reported at its end. */
	if (s->begin_ns != begin_ns || s->lock != lock)
		return;
	size = ring_lead(&place, rec, RING_LATE);
	rec->late.size = size - RING_LEAD - sizeof(rec->late.size);
	rec->late.magic = WAITREC_LATE_MAGIC;
	rec->late.lock = lock;
	rec->late.cgroup = 0;
	rec->late.flags = flags;
	rec->late.tid = (int)tid;
	rec->late.missed = 0;
	rec->late.n_frames = rec->late.n_user = 0;
	late_owner(rec, &o);
	rec->late.user = WAITREC_USER_NONE;
	rec->late.spun = flags & LCB_MUTEX ? waitrec_age(spun_ns) : 0;
	rec->late.begin_ns = begin_ns;
	rec->late.par = s->par;
	publish(ctx, &place, size);
}

SEC("raw_tp/say_wait")
int say_wait(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), at = (__u32)ctx->args[0];
	struct short_slot *s = bpf_map_lookup_elem(&short_slots, &at);
	struct waits_cpu *w = waits_here(cpu);

	if (!s || !w || !w->ring.id || w->ring.busy)
		return 0;
	w->ring.busy = 1;
	short_say(ctx, w, s);
	w->ring.busy = 0;
	return 0;
}
