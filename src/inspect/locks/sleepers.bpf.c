// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many tasks sleep for locks of programs, for locks of files, or uninterruptibly, by process.
 * Which system call a task is in, and with which arguments, is in the registers that it entered the
 * kernel with, and its state says that it sleeps: no function of the kernel has to be known. One
 * pass over all tasks, whose threads come one after the other, so that a process takes few rows.
 *
 * A task that waits in a futex may wait for a lock or for work: the kernel cannot know. So
 * those that have slept for long, and those with a timeout unless they have just begun to sleep,
 * are counted apart, as idle.
 *
 * The same pass records each task that is blocked, with its call chain: in state D, stopped, or in
 * state S within a call that is not one for waiting. Of those in state D it finds the locks whose
 * waits no event reports; a second pass looks for the tasks that keep them waiting.
 * A task that could run, but for the limit of its cgroup for the time of CPUs, is recorded as well,
 * though it does not sleep. So are threads that another thread of their process keeps off a CPU,
 * with the place in their program: one of them may have the lock that the others spin for.
 */
#include "kernel/futex-numbers.h"
#include "kernel/ns.h"

#include "read-asked.h"
#include "read-call.h"
#include "read-throttled.h"
#include "sleepers-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_sleepers_config config = {0};
struct raw_sleepers_state state = {0}; /* which user space has mapped comes first */

#include "read-silent.h"

ARRAY(sleepers, struct raw_sleepers, RAW_SLEEPERS);
ARRAY(blocked, struct raw_blocked, RAW_BLOCKED);
ARRAY(vforks, struct raw_vfork, RAW_VFORKS);
ARRAY(keepers, struct raw_keeper, RAW_KEEPERS);
ARRAY(preempted, struct raw_preempted, RAW_PREEMPTED);

/* task_struct.__state */
enum {
	STATE_INTERRUPTIBLE = 1,
	STATE_UNINTERRUPTIBLE = 2,
	STATE_STOPPED = 4,
	STATE_TRACED = 8,
	STATE_NOLOAD = 0x400,
	STATE_RTLOCK = 0x1000, /* a spinlock of PREEMPT_RT */
	STATE_FROZEN = 0x8000,
};

/* Commands of futex(2), without its flags, and of fcntl(2). */
enum { FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9, FUTEX_WAIT_REQUEUE_PI = 11 };
enum { FUTEX_LOCK_PI2 = 13, FUTEX_COMMANDS = 127 };
enum { SETLKW = 7, SETLKW64 = 14, OFD_SETLKW = 38 };

struct pt_regs___x86_call {
	unsigned long di, si, dx, r10, r8, orig_ax, ip;
} CORE;

struct rq___clock {
	unsigned long long clock;
	struct task_struct *curr;
} CORE;

struct task_struct___sleepers {
	unsigned int __state, flags;
	unsigned in_iowait : 1;
	struct task_struct *group_leader, *real_parent;
	struct sched_entity se;
	struct completion *vfork_done;
} CORE;

struct call {
	long long number;
	__u64 args[5];
	__u64 ip;
};

static __always_inline bool read_registers(struct task_struct *t, struct call *c)
{
	void *regs = (void *)bpf_task_pt_regs(t);
	struct pt_regs___x86_call *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	if (!regs)
		return false;
	if (bpf_core_field_exists(x86->orig_ax)) {
		c->number = (long long)BPF_CORE_READ(x86, orig_ax);
		c->args[1] = BPF_CORE_READ(x86, si);
		c->args[3] = BPF_CORE_READ(x86, r10);
		c->args[4] = BPF_CORE_READ(x86, r8);
		c->ip = BPF_CORE_READ(x86, ip);
		return true;
	}
	if (!bpf_core_field_exists(arm64->syscallno))
		return false;
	c->number = BPF_CORE_READ(arm64, syscallno);
	c->args[1] = BPF_CORE_READ(arm64, user_regs.regs[1]);
	c->args[3] = BPF_CORE_READ(arm64, user_regs.regs[3]);
	c->args[4] = BPF_CORE_READ(arm64, user_regs.regs[4]);
	c->ip = BPF_CORE_READ(arm64, user_regs.pc);
	return true;
}

/* The scheduler's clock, as of the last tick of this CPU; 0: not known on this kernel. */
static __always_inline __u64 scheduler_now(void)
{
	struct task_struct___sleepers *t = (void *)bpf_get_current_task();
	struct rq___clock *rq = NULL;

	if (!bpf_core_field_exists(t->se.cfs_rq) || !bpf_core_field_exists(rq->clock))
		return 0;
	rq = (void *)BPF_CORE_READ(t, se.cfs_rq, rq);
	return BPF_CORE_READ(rq, clock);
}

/* Has it slept for longer than that? True also if that is not known. */
static __always_inline bool slept_longer(struct task_struct *t, __u64 ns)
{
	__u64 now = scheduler_now(), ran = sleeps_since(t);

	return !now || !ran || (now > ran && now - ran > ns);
}

static __always_inline bool is_idle(struct task_struct *t, bool timed)
{
	return slept_longer(t, timed ? state.timed_ns : state.long_ns);
}

/* @ret_timed: the call has a timeout. */
static __always_inline bool is_futex(const struct call *c, bool *ret_timed)
{
	__u32 number = (__u32)c->number, op = c->args[1] & FUTEX_COMMANDS;

	*ret_timed = false;
	if (number == config.futex) {
		bool waits =
			op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_WAIT_REQUEUE_PI;
		*ret_timed = waits && c->args[3];
		return waits || op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2;
	}
	*ret_timed = number == config.futex_wait ? c->args[4] != 0 : c->args[3] != 0;
	return number == config.futex_wait || number == config.futex_waitv;
}

/* A 32-bit program has its arguments in other registers. */
static __always_inline bool is_foreign_futex(long long number)
{
	return number == I386_FUTEX || number == I386_FUTEX_TIME64 ||
	       number == (X86_FUTEX | X32_BIT) || (number & ~X32_BIT) == FUTEX2_WAITV ||
	       (number & ~X32_BIT) == FUTEX2_WAIT;
}

static __always_inline bool is_file_lock(const struct call *c)
{
	__u32 number = (__u32)c->number, command = (__u32)c->args[1];

	return number == config.flock ||
	       (number == config.fcntl &&
		(command == SETLKW || command == SETLKW64 || command == OFD_SETLKW));
}

static __always_inline void put_task(struct task_struct *t, __u32 kind, bool idle)
{
	struct task_struct___sleepers *task = (void *)t;
	int pid = ns_pid(t, &config.ns);
	__u32 last = state.n - 1, i = state.n;
	struct raw_sleepers *r = state.n ? bpf_map_lookup_elem(&sleepers, &last) : NULL;

	if (!r || r->pid != pid || r->kind != kind) {
		r = bpf_map_lookup_elem(&sleepers, &i);
		if (!r) {
			state.dropped++;
			return;
		}
		state.n = i + 1;
		r->pid = pid;
		r->kind = kind;
		r->tasks = r->idle = 0;
		BPF_CORE_READ_STR_INTO(&r->comm, task, group_leader, comm);
	}
	r->tasks++;
	r->idle += idle;
}

static __always_inline void look_at(struct task_struct *t)
{
	struct task_struct___sleepers *task = (void *)t;
	__u32 flags = BPF_CORE_READ(task, flags), s = BPF_CORE_READ(task, __state);
	struct call c = {.number = -1};
	bool timed;

	if (flags & (TASK_KTHREAD | TASK_IO_WORKER))
		return;
	if (s & STATE_UNINTERRUPTIBLE && !(s & STATE_NOLOAD)) {
		put_task(t, BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? RAW_IO : RAW_DISK,
			 false);
		return;
	}
	if (!(s & STATE_INTERRUPTIBLE) || !read_registers(t, &c))
		return;
	if (is_compat(t) || c.number & X32_BIT) {
		if (is_foreign_futex(c.number))
			put_task(t, RAW_FUTEX, is_idle(t, false));
		return;
	}
	if (is_futex(&c, &timed))
		put_task(t, RAW_FUTEX, is_idle(t, timed));
	else if (is_file_lock(&c))
		put_task(t, RAW_FILE_LOCK, false);
}

/* The VMA for which this task waits; further ones have no known keepers. */
static __always_inline void keep_vma(const struct raw_blocked *r, __u64 by)
{
	__u64 i = state.n_vmas;

	barrier_var(i);
	if (i >= RAW_KEPT_VMAS)
		return;
	state.vmas[i].vma = r->lock;
	state.vmas[i].mm = r->mm;
	state.vmas[i].by = by;
	state.n_vmas = i + 1;
}

static __always_inline void look_for_silent(struct task_struct *t, struct raw_blocked *r)
{
	r->lock = r->mm = r->start = r->past = 0;
	r->part = RAW_NO_PART;
	if (r->state != RAW_STATE_D || r->io)
		return;
	if (state.searched >= RAW_SILENT_TASKS) {
		state.unsearched++;
		return;
	}
	state.searched++;
	find_silent(t, r);
	if (r->mm)
		keep_vma(r, (__u64)t);
}

static __always_inline void put_blocked(struct task_struct *t, __u32 state_is)
{
	struct task_struct___sleepers *task = (void *)t;
	__u32 i = state.n_blocked, flags = BPF_CORE_READ(task, flags);
	struct raw_blocked *r = bpf_map_lookup_elem(&blocked, &i);

	if (!r) {
		state.blocked_dropped++;
		return;
	}
	state.n_blocked = i + 1;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->cpu = last_cpu(t);
	r->task = (__u64)t;
	r->cgroup = cgroup_of(t);
	r->state = state_is;
	r->io = BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
	r->kthread = !!(flags & TASK_KTHREAD);
	r->ran = sleeps_since(t);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	BPF_CORE_READ_STR_INTO(&r->process, task, group_leader, comm);
	r->bytes = (int)bpf_get_task_stack(t, r->frames, sizeof(r->frames), 0);
	read_call(t, &r->call);
	look_for_silent(t, r);
}

/* As the kernel shows it in /proc/PID/stat. */
static __always_inline bool is_in_d(__u32 s)
{
	if ((s & (STATE_UNINTERRUPTIBLE | STATE_NOLOAD)) == (STATE_UNINTERRUPTIBLE | STATE_NOLOAD))
		return false;
	return s & (STATE_UNINTERRUPTIBLE | STATE_RTLOCK | STATE_FROZEN);
}

/* In state S: is it in a call for something else than to wait for work? */
static __always_inline bool is_watched(struct task_struct *t, __u32 flags)
{
	struct call c = {.number = -1};

	if (flags & (TASK_KTHREAD | TASK_IO_WORKER) || is_compat(t) || !read_registers(t, &c))
		return false;
	if (c.number < 0) /* a page fault, or the end of the task */
		return true;
	__u64 number = (__u64)c.number; /* some versions of clang refuse a signed division */

	if (number >= 64 * RAW_CALL_WORDS)
		return false;
	return !(config.idle_calls[number / 64 % RAW_CALL_WORDS] >> number % 64 & 1);
}

/* Its parent may wait for it, whatever state it is in. Kernel threads have another use for that. */
static __always_inline void put_vfork(struct task_struct *t)
{
	struct task_struct___sleepers *task = (void *)t;
	__u32 i = state.n_vforks;
	struct raw_vfork *r;

	if (BPF_CORE_READ(task, flags) & TASK_KTHREAD || !BPF_CORE_READ(task, vfork_done))
		return;
	r = bpf_map_lookup_elem(&vforks, &i);
	if (!r)
		return;
	state.n_vforks = i + 1;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->parent = ns_tid((void *)BPF_CORE_READ(task, real_parent), &config.ns);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
}

static __always_inline void look_if_blocked(struct task_struct *t)
{
	struct task_struct___sleepers *task = (void *)t;
	__u32 flags = BPF_CORE_READ(task, flags), s = BPF_CORE_READ(task, __state);

	if (is_in_d(s)) {
		put_blocked(t, RAW_STATE_D);
	} else if (s & (STATE_STOPPED | STATE_TRACED)) {
		put_blocked(t, RAW_STATE_STOPPED);
	} else if (!s && throttled_queue(t)) {
		put_blocked(t, RAW_STATE_THROTTLED);
	} else if (s & STATE_INTERRUPTIBLE && is_watched(t, flags)) {
		if (state.watched >= RAW_BLOCKED_WATCHED) {
			state.unwatched++;
			return;
		}
		state.watched++;
		put_blocked(t, RAW_STATE_S);
	}
}

static __always_inline bool is_on_cpu(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;

	return bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu);
}

/* The task that has the CPU for which that one waits; NULL: not known. */
static __always_inline struct task_struct *task_before(struct task_struct *t)
{
	struct task_struct___sleepers *task = (void *)t;
	struct rq___clock *rq = NULL;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(rq->curr))
		return NULL;
	rq = (void *)BPF_CORE_READ(task, se.cfs_rq, rq);
	return BPF_CORE_READ(rq, curr);
}

static __always_inline void put_preempted(struct task_struct *t, struct task_struct *by, __u64 ip)
{
	__u32 i = state.n_preempted;
	struct raw_preempted *r = bpf_map_lookup_elem(&preempted, &i);

	if (!r)
		return;
	state.n_preempted = i + 1;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->off_tid = ns_tid(by, &config.ns);
	r->ip = ip;
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
}

/* In no call: it was interrupted in its program, or in a page fault of that. */
static __always_inline void look_if_preempted(struct task_struct *t)
{
	struct task_struct___sleepers *task = (void *)t;
	struct call c = {.number = 0};

	if (BPF_CORE_READ(task, __state) || BPF_CORE_READ(task, flags) & TASK_KTHREAD ||
	    is_on_cpu(t))
		return;
	struct task_struct *by = task_before(t);
	if (!by || by == t || BPF_CORE_READ(by, tgid) != BPF_CORE_READ(t, tgid))
		return;
	if (!is_compat(t) && read_registers(t, &c) && c.number < 0)
		put_preempted(t, by, c.ip);
}

SEC("iter/task")
int find_sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t)
		return 0;
	put_vfork(t);
	if (!is_asked_for(t, &config.ns))
		return 0;
	if (ns_pid(t, &config.ns) != (int)config.self)
		look_at(t);
	look_if_blocked(t);
	look_if_preempted(t);
	return 0;
}

static __always_inline void put_keeper(struct task_struct *t, __u64 vma)
{
	__u32 i = state.n_keepers;
	struct raw_keeper *k = bpf_map_lookup_elem(&keepers, &i);

	if (!k)
		return;
	state.n_keepers = i + 1;
	k->vma = vma;
	k->pid = ns_pid(t, &config.ns);
	k->tid = ns_tid(t, &config.ns);
	k->cpu = last_cpu(t);
	k->ran = ran_until(t);
	BPF_CORE_READ_STR_INTO(&k->comm, t, comm);
	k->bytes = (int)bpf_get_task_stack(t, k->frames, sizeof(k->frames), 0);
}

/*
 * In an address space one task waits at most, as it has the mmap_lock: the others may keep the VMA.
 */
static __always_inline __u64 vma_waited_for(struct mm_struct *mm, __u64 task)
{
	__u64 vma = 0;

	for (__u32 i = 0; i < RAW_KEPT_VMAS; i++)
		if (i < state.n_vmas && state.vmas[i].mm == (__u64)mm && state.vmas[i].by != task)
			vma = state.vmas[i].vma;
	return vma;
}

/* Run if there is such a VMA. Of a task that runs the stack is not known. */
SEC("iter/task")
int find_keepers(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct task_struct___silent *task = (void *)t;

	if (!t || is_on_cpu(t))
		return 0;
	silent.vma = vma_waited_for(BPF_CORE_READ(task, mm), (__u64)t);
	if (!silent.vma)
		return 0;
	search_stack(t);
	if (silent.found)
		put_keeper(t, silent.vma);
	return 0;
}
