// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of programs: each sleep in futex(2), from the switch that takes the thread off its CPU to
 * its wakeup. waits.bpf.c includes this file. No system call is traced: the registers with which
 * the thread entered the kernel are at the top of its stack, and only those that really sleep come
 * here. Nearly all other switches are rejected by the state and the number of the call.
 *
 * At the begin the thread is still the current one, so that its memory can be read, if it is there:
 * the words say whether that is a lock, and who owns it (userlayout.h). The number of the owner
 * counts if a thread of that process has it. At the wakeup the thread that wakes it is the current
 * one: if it is itself in a call of futex(2) that wakes sleepers of that word, it has released the
 * lock, whatever kind of lock it is; otherwise a signal or the end of a time has ended the sleep.
 * The wait ends when the thread has a CPU again.
 */
#include "kernel/user.h"
#include "kontend/userlayout.h"
#include "kontend/userrec.h"
#include "kontend/usersite.h"
#include "kontend/userword.h"
#include "user-shared.h"

struct raw_user_state user_state SEC(".data.user") = {.off = 1};

/*
 * Threads that have ever slept for a word, by the lower bits of their numbers: one byte rejects the
 * others, where the registers on a stack that no CPU has used lately take a tenth of a microsecond.
 */
enum { USER_MARKS = 1 << 16, USER_STACK_LEAST = 512 };
__u8 user_marks[USER_MARKS] SEC(".data.usermarks") = {1};

static __always_inline __u8 *user_mark(struct task_struct___user *t)
{
	__u32 at = (__u32)t->pid;

	barrier_var(at); /* or the compiler forgets the bound */
	return &user_marks[at & (USER_MARKS - 1)];
}

struct raw_user_room {
	struct userrec record;
	struct usersite_stack stack;
	__u64 missed, missed_reported;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct raw_user_room);
} user_rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct raw_user_counts);
} user_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_USER_LOCKS);
	__type(key, __u64);
	__type(value, struct raw_user_lock);
} user_locks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, RAW_USER_NEW);
	__type(value, struct raw_user_new);
} user_new SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RAW_USER_SITES);
	__type(key, __u64);
	__type(value, struct usersite);
} user_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, RAW_USER_STACKS);
	__type(value, struct usersite_stack);
} user_stacks SEC(".maps");

static __always_inline struct raw_user_counts *user_counts_here(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&user_counts, &first);
}

enum { STATE_INTERRUPTIBLE = 1 };

static const struct usersite user_no_site = {.asked = 0};

/*
 * The threads of its process have the numbers of its innermost namespace. False: it is gone, or
 * @t itself, as where a thread of a pool sleeps on its state: the words are no mutex.
 */
static __always_inline bool user_owner(struct task_struct *t, __u32 number, bool is_private,
				       struct raw_user_now *now)
{
	struct task_struct___ns *task = (void *)t;
	__u64 self = (__u64)BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ((struct pid *)self, level);
	__u64 at = pid_task_at(pid_find(pid_ns(self, level), level, number), PID_THREAD);
	struct task_struct *owner = (void *)at;

	if (!at || owner == t ||
	    (is_private && BPF_CORE_READ(owner, tgid) != BPF_CORE_READ(t, tgid)))
		return false;
	now->owner_pid = ns_pid(owner, &config.slept.ns);
	now->owner_tid = ns_tid(owner, &config.slept.ns);
	return true;
}

static __always_inline void user_read(__u64 addr, struct userlock_words *m)
{
	const __u64 before = USERLOCK_AT * sizeof(m->w[0]);
	__u32 *at = m->w + USERLOCK_AT;

	if (!bpf_probe_read_user(m->w, sizeof(m->w), (void *)(addr - before)))
		m->have = USERLOCK_ALL_WORDS;
	else if (!bpf_probe_read_user(at, USERLOCK_MUTEX_WORDS * sizeof(*at), (void *)addr))
		m->have = USERLOCK_OF_MUTEX;
	else if (!bpf_probe_read_user(at, sizeof(*at), (void *)addr))
		m->have = USERLOCK_ONE_WORD;
}

/* As files_process() has them for users.c. */
static __always_inline __u64 user_space_of(struct task_struct___user *t)
{
	struct task_struct___user *leader = t->group_leader;
	__u64 ticks = leader->start_boottime / USER_TICK_NS;

	return userlock_space(ns_pid((void *)t, &config.slept.ns), ticks, t->mm->start_stack);
}

struct user_place {
	__u64 at; /* in the file */
	__u64 ino;
	__u32 dev;
	bool shared;
};

/*
 * 0: there is no mapping, as while a thread changes them. bpf_find_vma() takes the mmap_lock, and
 * its interrupt gives it back: until then the program of another session would have none.
 */
__noinline int user_find(__u64 mm, struct user_place *p)
{
	__u64 vma = p ? on_mapping((void *)mm, p->at) : 0, file, inode, start, offset;

	if (!p || !vma)
		return 0;
	file = word_at(vma + on_at(vm_area_struct___user, vm_file));
	if (!file || !(word_at(vma + on_at(vm_area_struct___user, vm_flags)) & USER_VM_SHARED))
		return 1;
	inode = word_at(file + on_at(file___user, f_inode));
	start = word_at(vma + on_at(vm_area_struct___user, vm_start));
	offset = word_at(vma + on_at(vm_area_struct___user, vm_pgoff));
	p->ino = word_at(inode + on_at(inode___user, i_ino));
	p->dev = (__u32)number_at(word_at(inode + on_at(inode___user, i_sb)) +
				  on_at(super_block___user, s_dev));
	p->at += (offset << USER_PAGE_SHIFT) - start;
	p->shared = p->ino != 0;
	return 1;
}

/*
 * Which lock it is, for all processes that use it. 0: not known, as while a thread changes
 * mappings: then it is tried again at the wakeup, and when the thread runs.
 */
static __always_inline void user_identify(struct task_struct___user *t, bool is_private,
					  struct raw_user_now *now)
{
	struct user_place p = {.at = now->addr};

	now->lock = 0;
	if (!is_private && !user_find(word_at((__u64)t + bpf_core_field_offset(t->mm)), &p))
		return;
	if (p.shared) {
		now->flags |= USERREC_SHARED;
		now->lock = userlock_addr(userlock_file(p.ino, p.dev), p.at);
	} else {
		now->lock = userlock_addr(user_space_of(t), now->addr);
	}
}

/*
 * A mutex has no owner while it goes from one to the next, and an owner may end meanwhile: then it
 * has to be known from before.
 */
static __always_inline bool user_is_known(__u64 lock, __u32 kind)
{
	const struct raw_user_lock *l = bpf_map_lookup_elem(&user_locks, &lock);

	return l && l->kind == kind;
}

/* Hands the stack over if no other one has been for that place. */
static __always_inline void user_ask(struct task_struct___user *t, const struct user_call *call,
				     const struct userlock_call *c, __u64 space, __u64 key,
				     struct usersite *site)
{
	struct raw_user_room *room;
	__u32 first = 0;

	if ((__s64)user_state.stacks <= 0 || site->asked)
		return;
	room = bpf_map_lookup_elem(&user_rooms, &first);
	if (!room)
		return;
	struct usersite_stack *s = &room->stack;
	s->key = key;
	s->space = space;
	s->addr = c->addr;
	s->op = c->op;
	s->value = c->value;
	s->pc = call->pc;
	s->sp = call->sp;
	s->fp = call->fp;
	s->pid = ns_pid((void *)t, &config.slept.ns);
	s->tid = ns_tid((void *)t, &config.slept.ns);
	s->len = sizeof(s->stack);
	if (bpf_probe_read_user(s->stack, sizeof(s->stack), (void *)call->sp)) {
		s->len = USER_STACK_LEAST;
		if (bpf_probe_read_user(s->stack, USER_STACK_LEAST, (void *)call->sp))
			return;
	}
	if (bpf_map_push_elem(&user_stacks, s, 0))
		return;
	__sync_fetch_and_add(&user_state.stacks, -1);
	site->asked = 1;
}

static __always_inline bool user_path_fits(const struct usersite_path *p, __u64 sp)
{
	__u64 word;

	for (__u32 i = 0; i < USERSITE_RETURNS; i++) {
		if (i >= p->n_returns)
			return true;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(sp + 8ull * p->at[i])) ||
		    word != p->returns[i])
			return false;
	}
	return true;
}

/* The lock that the process names. False: none. */
static __always_inline bool user_take_info(const struct usersite_info *i, struct raw_user_now *now)
{
	__u64 number;

	if (!i->at || bpf_probe_read_user(&number, sizeof(number), (void *)i->at))
		return false;
	number &= i->bits;
	if (!number || (number & i->mask) != i->class)
		return false;
	now->kind = USERLOCK_RUNTIME;
	now->number = number;
	now->lock = userlock_addr(i->space, number);
	return true;
}

static __always_inline void user_take_path(const struct usersite_path *p, struct raw_user_now *now)
{
	now->site = p->flags;
	if (!(p->flags & (USERSITE_LOCK | USERSITE_COUNT)))
		return;
	now->flags |= p->flags & USERSITE_SHARED ? USERREC_SHARED : 0;
	now->flags |= p->flags & USERSITE_RETRIES ? USERREC_RETRIES : 0;
	now->kind = p->kind;
	now->lock = p->lock;
	if (user_take_info(&p->info, now))
		now->site &= ~USERSITE_NAMED;
}

/* For what a thread sleeps, by the functions that have called futex(2). False: it is not known. */
static __noinline bool user_by_path(struct task_struct___user *t, const struct user_call *call,
				    const struct userlock_call *c, struct raw_user_now *now)
{
	__u64 space = user_space_of(t), key = usersite_key(space, c->addr, call->pc);
	struct usersite *site = bpf_map_lookup_elem(&user_sites, &key);

	for (__u32 i = 0; site && i < USERSITE_PATHS && i < site->n; i++) {
		if (!user_path_fits(&site->paths[i], call->sp))
			continue;
		user_take_path(&site->paths[i], now);
		now->place = now->site & USERSITE_COUNT || site->sleeps ? key : 0;
		return now->site & USERSITE_KNOWN;
	}
	now->place = key;
	if (!site) {
		bpf_map_update_elem(&user_sites, &key, &user_no_site, BPF_NOEXIST);
		site = bpf_map_lookup_elem(&user_sites, &key);
	}
	if (site)
		user_ask(t, call, c, space, key, site);
	return false;
}

/* The call of the current thread as one of futex(2). False: its memory is not there. */
static __always_inline bool user_take_call(const struct user_call *call, struct userlock_call *ret)
{
	struct userlock_word w = {0};

	if (call->number == FUTEX2_WAIT)
		return userlock_take_wait(call->args[0], call->args[1], call->args[3], ret);
	if (call->number == FUTEX2_WAITV)
		return !bpf_probe_read_user(&w, sizeof(w), (void *)call->args[0]) &&
		       userlock_take_waitv(&w, (__u32)call->args[1], ret);
	*ret = (struct userlock_call){call->args[0], (__u32)call->args[1], (__u32)call->args[2]};
	return true;
}

/* Of the current thread, which is about to sleep for a lock. */
static __always_inline void user_take_frames(struct raw_user_now *now)
{
	const struct frames_room *room;
	const __u32 nth = FRAMES_OF_SWITCH;
	__u32 n = 0;

	now->n_frames = 0;
	now->user = WAITREC_USER_NONE;
	if (!config.user_frames || !(now->site & USERSITE_LOCK))
		return;
	now->user = WAITREC_USER_SAVED;
	if (user_state.saves)
		return;
	n = (__u32)frames_take(nth, &now->user);
	room = bpf_map_lookup_elem(&frames_rooms, &nth);
	for (__u32 i = 0; room && i < USERREC_FRAMES && i < n; i++)
		now->frames[i] = room->record.frames[i];
	now->n_frames = room ? n : 0;
}

/* False: not a sleep whose lock can be known. */
static __always_inline bool user_begin(struct task_struct___user *t, const struct user_call *call,
				       struct raw_user_now *now)
{
	struct userlock_call c;
	struct userlock_words m = {0};
	struct userlock_found found = {0};

	if (!user_take_call(call, &c))
		return false;
	bool is_private = userlock_is_private(&c);
	user_read(c.addr, &m);
	if (!m.have)
		return false;
	now->word = now->addr = c.addr;
	now->op = c.op;
	now->value = c.value;
	now->pc = call->pc;
	now->owner_pid = now->owner_tid = 0;
	now->kind = now->flags = now->site = now->number = now->place = 0;
	bool proven = userlock_find(&c, &m, &found) &&
		      (!found.owner || user_owner((void *)t, found.owner, is_private, now));
	/* Only what has the layout has an address. */
	if (found.addr)
		now->addr = found.addr;
	user_identify(t, is_private, now);
	if (proven || (found.addr && now->lock && user_is_known(now->lock, found.kind))) {
		now->kind = found.kind;
		now->flags |= (found.reads ? USERREC_READS : 0) | (found.sure ? USERREC_SURE : 0);
		now->site = USERSITE_LOCK | USERSITE_KNOWN;
	} else {
		now->owner_pid = now->owner_tid = 0;
		user_by_path(t, call, &c, now);
	}
	return true;
}

/* Where the process says for which lock it sleeps in epoll_wait(2), if that is known by now. */
static __always_inline void user_find_info(struct task_struct___user *t, struct raw_user_now *now)
{
	__u64 key = usersite_key(user_space_of(t), USERSITE_EPOLL, USERSITE_EPOLL);
	const struct usersite *site;

	now->mm = (__u64)t->mm;
	now->has_epoll = user_state.has_epoll;
	now->info.at = 0;
	site = bpf_map_lookup_elem(&user_sites, &key);
	if (site)
		now->info = site->paths[0].info;
}

/* The same of epoll_wait(2). False: not for a lock. */
static __always_inline bool user_begin_epoll(struct task_struct___user *t, struct raw_user_now *now)
{
	if (now->mm != (__u64)t->mm || now->has_epoll != user_state.has_epoll)
		user_find_info(t, now);
	if (!user_take_info(&now->info, now))
		return false;
	now->word = now->addr = now->pc = now->place = 0;
	now->op = now->value = 0;
	now->owner_pid = now->owner_tid = 0;
	now->flags = USERREC_RETRIES;
	now->site = USERSITE_LOCK | USERSITE_KNOWN;
	return true;
}

static __always_inline bool user_waits(const struct user_call *call)
{
	__u32 c = (__u32)call->args[1] & USERLOCK_COMMAND;

	if (call->number)
		return !user_call_wakes(call);
	return c == USERLOCK_WAIT || c == USERLOCK_WAIT_BITSET || c == USERLOCK_LOCK_PI ||
	       c == USERLOCK_LOCK_PI2 || c == USERLOCK_WAIT_REQUEUE_PI;
}

/* @prev leaves its CPU, and was not preempted. */
static __always_inline void user_switch(struct task_struct___user *prev)
{
	struct raw_user_counts *counts;
	struct raw_user_now *now;
	struct user_call call;

	if (!(prev->__state & STATE_INTERRUPTIBLE) || user_state.off ||
	    prev->flags & (TASK_KTHREAD | TASK_IO_WORKER) || !user_call_read(prev, &call))
		return;
	if (call.is_kill || (call.is_epoll && !user_state.has_epoll))
		return;
	counts = user_counts_here();
	if (!counts || !is_inside((void *)prev) || !is_asked_for((void *)prev, &config.slept.ns))
		return;
	if (call.is_foreign) {
		counts->foreign++;
		return;
	}
	if (!call.is_epoll && !user_waits(&call))
		return;
	now = bpf_task_storage_get(&user_of, (void *)prev, 0, 0);
	if (!now) {
		counts->dropped++;
		return;
	}
	now->since_ns = 0;
	if (call.is_epoll && !user_begin_epoll(prev, now))
		return;
	__u64 from_ns = bpf_ktime_get_ns();
	*user_mark(prev) = 1;
	counts->sleeps++;
	if (call.is_epoll || user_begin(prev, &call, now)) {
		user_take_frames(now);
		now->cpu = bpf_get_smp_processor_id();
		now->idle = idle_begin((void *)prev, from_ns);
		now->par = par_gone(prev, from_ns);
		now->epoch = user_state.epoch;
		now->woken_ns = 0;
		now->since_ns = bpf_ktime_get_ns();
	} else {
		counts->unknown++;
	}
	counts->busy_ns += bpf_ktime_get_ns() - from_ns;
}

static __always_inline bool user_wakes(const struct user_call *call)
{
	__u32 c = (__u32)call->args[1] & USERLOCK_COMMAND;

	if (call->number)
		return user_call_wakes(call);
	return c == USERLOCK_WAKE || c == USERLOCK_WAKE_BITSET || c == USERLOCK_WAKE_OP ||
	       c == USERLOCK_UNLOCK_PI || c == USERLOCK_REQUEUE || c == USERLOCK_CMP_REQUEUE ||
	       c == USERLOCK_CMP_REQUEUE_PI;
}

/* Words of the call of the current thread; the second is of requeuing. 0: not known. */
static __always_inline void user_woken_words(const struct user_call *call, __u64 ret[2])
{
	struct userlock_word w[2] = {0};

	ret[0] = call->args[0];
	ret[1] = call->number ? 0 : call->args[4];
	if (call->number != FUTEX2_REQUEUE)
		return;
	bpf_probe_read_user(w, sizeof(w), (void *)call->args[0]);
	ret[0] = w[0].addr;
	ret[1] = w[1].addr;
}

/*
 * Is the current thread in a call of futex(2) that wakes @t, which sleeps there? A process
 * that releases a lock sends a signal to one that sleeps in epoll_wait(2) for it.
 */
static __always_inline bool user_is_handed(struct task_struct___user *t,
					   const struct raw_user_now *now)
{
	struct task_struct___user *self = (void *)bpf_get_current_task_btf();
	struct user_call call;
	__u64 words[2];

	if (self->flags & (TASK_KTHREAD | TASK_IO_WORKER) || !user_call_read(self, &call) ||
	    call.is_foreign || (!call.is_kill && !user_wakes(&call)))
		return false;
	if (call.is_kill)
		return !now->word;
	user_woken_words(&call, words);
	if (self->mm == t->mm)
		return words[0] == now->word || words[1] == now->word;
	/* Processes have a page at different addresses, and its file may not be known yet. */
	return !(now->op & USERLOCK_PRIVATE) &&
	       !((words[0] ^ now->word) & ((1 << USER_PAGE_SHIFT) - 1));
}

/*
 * A semaphore may count locks that are free, or work that there is to do. The current thread, which
 * posts it, has waited for it before: then it is a lock, for all who wait at that place.
 */
static __always_inline void user_count(struct raw_user_now *now)
{
	struct task_struct *self = bpf_get_current_task_btf();
	const struct raw_user_now *own = bpf_task_storage_get(&user_of, self, 0, 0);

	if (!own || own->word != now->word)
		return;
	struct usersite *site = bpf_map_lookup_elem(&user_sites, &now->place);
	for (__u32 i = 0; site && i < USERSITE_PATHS; i++)
		if (site->paths[i].lock == now->lock && site->paths[i].flags & USERSITE_COUNT)
			site->paths[i].flags |= USERSITE_LOCK;
	now->site |= USERSITE_LOCK;
}

/* Of a sleep of @ns that ends. False: not known. */
static __always_inline bool user_lost(const struct raw_user_now *now, __u64 ns, __u64 *ret)
{
	__u32 idle = now->idle ? idle_at(now->since_ns + ns) : 0;

	*ret = idle ? idleclock_ns(now->idle, idle) : 0;
	if (*ret > ns)
		*ret = ns;
	return idle != 0;
}

/* @t runs again, and is still to become the current task. */
static __always_inline void user_report(void *ctx, struct task_struct___user *t,
					const struct raw_user_now *now, __u64 ns,
					struct raw_user_counts *counts)
{
	const __u64 lead = sizeof(__u32), head = offsetof(struct userrec, frames) - lead;
	__u64 size = head;
	__u32 first = 0;
	struct raw_user_room *room = bpf_map_lookup_elem(&user_rooms, &first);
	__u64 lost, par;

	if (!room)
		return;
	struct userrec *r = &room->record;
	r->magic = USERREC_MAGIC;
	r->lock = now->lock;
	r->begin_ns = now->since_ns;
	r->length_ns = ns;
	r->cgroup = cgroup_of(t);
	r->addr = now->addr;
	r->pc = now->pc;
	r->pid = ns_pid((void *)t, &config.slept.ns);
	r->tid = ns_tid((void *)t, &config.slept.ns);
	r->owner_pid = now->owner_pid;
	r->owner_tid = now->owner_tid;
	r->kind = now->kind;
	r->flags = now->flags;
	r->woken_ns = now->woken_ns;
	r->waker_pid = now->waker_pid;
	r->waker_tid = now->waker_tid;
	r->op = now->op;
	r->value = now->value;
	r->cpu = now->cpu;
	r->missed = (__u32)(room->missed - room->missed_reported);
	r->lost = user_lost(now, ns, &lost) ? waitrec_age(lost) : 0;
	r->par = parclock_ns(now->par, par_here((__u32)t->tgid, now->since_ns + ns), &par)
			 ? waitrec_age(par)
			 : 0;
	r->pad = 0;
	r->user = now->user;
	r->n_frames = now->n_frames;
	for (__u32 i = 0; i < USERREC_FRAMES && i < now->n_frames; i++)
		r->frames[i] = now->frames[i];
	size += r->n_frames * sizeof(r->frames[0]);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(*r) - lead)
		return;
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	if (bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic, size) == 0) {
		room->missed_reported += r->missed;
		counts->records++;
	} else {
		room->missed++;
		counts->missed++;
	}
}

/* @t is woken, or about to sleep. */
static __always_inline void user_waking(struct task_struct___user *t)
{
	struct task_struct *waker = (void *)bpf_get_current_task_btf();
	struct raw_user_now *now;
	struct user_call call;

	/* The number of the call costs less than the storage of the task. */
	if (!(t->__state & STATE_INTERRUPTIBLE) || !*user_mark(t) || !user_call_read(t, &call))
		return;
	now = bpf_task_storage_get(&user_of, (void *)t, 0, 0);
	if (!now || !now->since_ns || now->woken_ns || now->epoch != user_state.epoch)
		return;
	now->woken_ns = bpf_ktime_get_ns();
	now->waker_pid = now->waker_tid = 0;
	if (!now->lock)
		user_identify(t, false, now);
	if (user_is_handed(t, now)) {
		now->flags |= USERREC_HANDED;
		now->waker_pid = ns_pid(waker, &config.slept.ns);
		now->waker_tid = ns_tid(waker, &config.slept.ns);
		if (now->place && now->site & USERSITE_COUNT)
			user_count(now);
	}
}

/* Its row, which is made if there is room for one; NULL: there is none. */
static __always_inline struct raw_user_lock *user_lock_of(struct task_struct___user *t,
							  const struct raw_user_now *now)
{
	__u64 lock = now->lock;
	struct raw_user_lock *l = bpf_map_lookup_elem(&user_locks, &lock);

	if (l)
		return l;
	struct raw_user_lock made = {.addr = now->addr,
				     .pid = ns_pid((void *)t, &config.slept.ns),
				     .kind = now->kind,
				     .flags = now->flags & USERREC_SHARED};
	struct raw_user_new new = {now->lock, now->addr, now->number, made.pid, made.flags};
	if (!bpf_map_update_elem(&user_locks, &lock, &made, BPF_NOEXIST) &&
	    !(now->site & USERSITE_NAMED))
		bpf_map_push_elem(&user_new, &new, BPF_ANY);
	l = bpf_map_lookup_elem(&user_locks, &lock);
	if (l)
		return l;
	lock = RAW_USER_REST + now->kind;
	made.pid = 0;
	bpf_map_update_elem(&user_locks, &lock, &made, BPF_NOEXIST);
	return bpf_map_lookup_elem(&user_locks, &lock);
}

/* If it turns out to be for a lock, it was one of its waits. */
static __always_inline void user_end_other(const struct raw_user_now *now, __u64 ns,
					   struct raw_user_counts *counts)
{
	bool idle = now->site & USERSITE_KNOWN;
	__u64 place = now->place;
	struct usersite *site = place ? bpf_map_lookup_elem(&user_sites, &place) : NULL;

	*(idle ? &counts->idle : &counts->unproven) += 1;
	*(idle ? &counts->idle_ns : &counts->unproven_ns) += ns;
	if (!site)
		return;
	__sync_fetch_and_add(&site->sleeps, 1);
	__sync_fetch_and_add(&site->ns, ns);
}

/* Sleeps at that place from before its only path was known. */
static __always_inline void user_add_before(const struct raw_user_now *now, struct raw_user_lock *l)
{
	__u64 place = now->place;
	struct usersite *site = place ? bpf_map_lookup_elem(&user_sites, &place) : NULL;

	if (!site || !site->sleeps || site->n != 1)
		return;
	__sync_fetch_and_add(&l->n[0], site->sleeps);
	__sync_fetch_and_add(&l->ns[0], site->ns);
	site->sleeps = site->ns = 0;
}

static __always_inline void user_end(void *ctx, struct task_struct___user *t,
				     const struct raw_user_now *now, __u64 ns,
				     struct raw_user_counts *counts)
{
	if (!(now->site & USERSITE_LOCK)) {
		user_end_other(now, ns, counts);
		return;
	}
	struct raw_user_lock *l = user_lock_of(t, now);
	__u64 lost;

	if (l)
		user_add_before(now, l);
	if (ns >= user_state.min_ns) {
		user_report(ctx, t, now, ns, counts);
	} else if (l) {
		__u32 mode = now->flags & USERREC_READS ? 1 : 0;
		__sync_fetch_and_add(&l->n[mode], 1);
		__sync_fetch_and_add(&l->ns[mode], ns);
		if (user_lost(now, ns, &lost)) {
			__sync_fetch_and_add(&l->lost_ns[mode], lost);
			__sync_fetch_and_add(&l->lost_of_ns[mode], ns);
		}
	} else {
		counts->dropped++;
	}
}

/* @next gets a CPU. */
static __always_inline void user_runs(void *ctx, struct task_struct___user *next)
{
	struct raw_user_counts *counts;
	struct raw_user_now *now;
	struct user_call call;

	if (!*user_mark(next) || !user_call_read(next, &call))
		return;
	counts = user_counts_here();
	now = bpf_task_storage_get(&user_of, (void *)next, 0, 0);
	if (!counts || !now || !now->since_ns || !now->woken_ns || now->epoch != user_state.epoch)
		return;
	__u64 until_ns = bpf_ktime_get_ns();
	if (!now->lock)
		user_identify(next, false, now);
	if (now->lock)
		user_end(ctx, next, now, until_ns - now->since_ns, counts);
	else
		counts->unknown++;
	now->since_ns = now->woken_ns = 0;
	counts->busy_ns += bpf_ktime_get_ns() - until_ns;
}
