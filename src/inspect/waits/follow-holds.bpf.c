// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arrays, without locks, that following holders needs, and the check whether a task has a lock
 * for which others wait, by the lock's own words. follow.bpf.c includes this file.
 */
enum {
	FOLLOW_KEEP = 2, /* locks that one task has, at most */
	FOLLOW_OFF_MOST = 400,
	FOLLOW_RUNNING_MOST = 100,
	FOLLOW_HANDED_MOST = 100,
	FOLLOW_SHORT = offsetof(struct holdrec, frames),
	FOLLOW_LEAD = offsetof(struct holdrec, magic), /* perf's size precedes the data */
	MUTEX_WAITERS = 1,			       /* of its owner */
	TASK_RUNS = 0,
	TASK_IS_DEAD = 0x80,
	TASK_IS_WAKING = 0x200,
};

static const __u64 FOLLOW_SLICE_NS = 100000000;

enum follow_kind {
	FOLLOW_NONE,
	FOLLOW_MUTEX,
	FOLLOW_RWSEM,
	FOLLOW_SEM,
	FOLLOW_RT,
	FOLLOW_RT_READ,
	/* Those from here on are not, or not always, named by their lock: follow-unnamed.bpf.c. */
	FOLLOW_PCPU,	    /* a writer of a percpu-rwsem, while the lock names it */
	FOLLOW_PCPU_GOT,    /* one that has it, and waited for it or for its readers */
	FOLLOW_PCPU_LET_GO, /* one that has let go of it, and runs since */
	FOLLOW_READER,	    /* one of the readers of a rwsem, which waited for it */
};

/* A holder; `task` 0: none. By the lower bits of its number. */
struct follow_task {
	__u64 task;
	__u64 lock[FOLLOW_KEEP];
	__u8 kind[FOLLOW_KEEP]; /* enum follow_kind */
	__u8 state;		/* enum holdrec_state, as last reported; UNKNOWN: it runs */
	__u8 pad;
	__u32 epoch; /* when that was reported */
	__u32 known; /* since then each change is reported */
	__u32 pad2;
	__u64 since_ns;
	__u64 call; /* from user space in which it got a lock that does not name it; 0: not known */
};

/* Bits of follow_reported.owner beside the task. */
enum { FOLLOW_REPORTED_HINT = 1, FOLLOW_REPORTED_HANDED = 2 };

/* The owner of a lock that was reported last. */
struct follow_reported {
	__u64 lock, owner;
	__u32 epoch, pad;
	__u64 rest[5];
};

/* Begins with what user space reads. */
struct follow_cpu {
	struct follow_counts counts;
	__u64 slice_ns;	       /* when it began */
	__u32 used;	       /* records of it, */
	__u32 handed;	       /* and of locks that are handed over */
	__u32 missed_reported; /* of counts.missed */
	__u32 pad;
	__u64 curr;	  /* the task that runs here, as of the last switch that was seen, */
	__u32 curr_epoch; /* in this epoch */
	__u32 pad2;
	struct holdrec rec; /* where interrupts are off */
};

/* A record without frames: there is little room on the stack. */
struct follow_short {
	__u64 words[FOLLOW_SHORT / 8];
} __attribute__((may_alias));

/* Whether the array below has a task: small enough for a CPU's cache. */
struct follow_marks {
	__u8 marks[FOLLOW_TASKS];
};

/* The loader makes these small if holders are not to be followed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct follow_task);
	__uint(max_entries, FOLLOW_TASKS);
} holders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct follow_marks);
	__uint(max_entries, 1);
} holder_marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct follow_reported);
	__uint(max_entries, FOLLOW_LOCKS);
} holders_reported SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct follow_cpu);
	__uint(max_entries, 1);
} follow_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct follow_wait);
	__uint(max_entries, FOLLOW_WAITS);
} waiting SEC(".maps");

struct follow_state following SEC(".data.following") = {0};

struct sched_entity___follow {
	__u64 sum_exec_runtime, prev_sum_exec_runtime;
} CORE;

struct task_struct___follow {
	struct thread_info thread_info;
	int pid;
	unsigned int __state;
	int on_cpu;
	unsigned int in_iowait : 1;
	struct sched_entity___follow se;
} CORE;

struct semaphore___count {
	unsigned int count;
} CORE;

static __always_inline struct follow_task *follow_entry(__u32 tid)
{
	__u32 at = tid & (FOLLOW_TASKS - 1);

	return bpf_map_lookup_elem(&holders, &at);
}

static __always_inline struct follow_wait *follow_wait_of(__u32 tid)
{
	__u32 at = tid & (FOLLOW_WAITS - 1);

	return bpf_map_lookup_elem(&waiting, &at);
}

static __always_inline struct follow_reported *follow_reported_of(__u64 lock)
{
	__u32 at = (lock >> 4) * 0x9e3779b97f4a7c15ull >> 54;

	return bpf_map_lookup_elem(&holders_reported, &at);
}

static __always_inline struct follow_cpu *follow_here(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&follow_cpus, &first);
}

static __always_inline struct follow_marks *follow_marks(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&holder_marks, &first);
}

static __always_inline enum follow_kind follow_kind_of(__u32 flags)
{
	if (flags & LCB_MUTEX)
		return FOLLOW_MUTEX;
	if (flags & LCB_SPIN)
		return FOLLOW_NONE;
	if (flags & LCB_PERCPU)
		return FOLLOW_PCPU;
	if (flags & LCB_RT)
		return flags & LCB_WRITE  ? FOLLOW_NONE
		       : flags & LCB_READ ? FOLLOW_RT_READ
					  : FOLLOW_RT;
	return flags & (LCB_READ | LCB_WRITE) ? FOLLOW_RWSEM : FOLLOW_SEM;
}

/* Whether a task has a lock, and others wait for it. */

static __always_inline bool follow_has_mutex(__u64 lock, __u64 task)
{
	struct mutex *m = (void *)lock;
	__u64 word;

	if (!bpf_core_field_exists(m->owner))
		return false;
	word = word_at(lock + bpf_core_field_offset(m->owner));
	if ((word & ~(__u64)FLAG_BITS) != task)
		return false;
	return word & MUTEX_WAITERS ||
	       (bpf_core_field_exists(m->osq) && BPF_CORE_READ(m, osq.tail.counter));
}

static __always_inline bool follow_has_rwsem(__u64 lock, __u64 task, __u32 *ret_hint)
{
	struct rw_semaphore *s = (void *)lock;
	__u64 word, count;

	if (!bpf_core_field_exists(s->owner))
		return false;
	word = word_at(lock + bpf_core_field_offset(s->owner));
	count = word_at(lock + bpf_core_field_offset(s->count));
	if ((word & ~(__u64)FLAG_BITS) != task || !(count & RWSEM_WAITERS))
		return false;
	*ret_hint = word & READER_OWNED;
	return !*ret_hint || count >> RWSEM_READER_BITS;
}

/* The words show that readers have it, but not whether @task is one of them still. */
static __always_inline bool follow_has_readers(__u64 lock)
{
	struct rw_semaphore *s = (void *)lock;

	if (!bpf_core_field_exists(s->owner))
		return false;
	return word_at(lock + bpf_core_field_offset(s->owner)) & READER_OWNED &&
	       word_at(lock + bpf_core_field_offset(s->count)) >> RWSEM_READER_BITS;
}

static __always_inline bool follow_has_percpu(__u64 lock, __u64 task)
{
	__u64 writer = 0;

	return percpu_owner_of(lock, &writer) && writer == task;
}

/* Some writer has it, or waits until the readers of before are through. */
static __always_inline bool follow_is_blocked(__u64 lock)
{
	return BPF_CORE_READ((struct percpu_rw_semaphore *)lock, block.counter) != 0;
}

static __always_inline bool follow_has_sem(__u64 lock, __u64 task, __u32 *ret_hint)
{
	struct semaphore *s = (void *)lock;

	if (!bpf_core_field_exists(s->last_holder))
		return false;
	*ret_hint = 1;
	if (word_at(lock + bpf_core_field_offset(s->last_holder)) != task)
		return false;
	if (bpf_core_field_exists(s->first_waiter))
		return word_at(lock + bpf_core_field_offset(s->first_waiter));
	return word_at(lock + bpf_core_field_offset(s->wait_list)) !=
	       lock + bpf_core_field_offset(s->wait_list);
}

static __always_inline bool follow_has_rt(__u64 lock, __u32 flags, __u64 task)
{
	__u64 mutex = rt_mutex_of(lock, flags);

	if (!mutex || !bpf_core_field_exists(((struct rt_mutex_base *)0)->owner))
		return false;
	mutex += bpf_core_field_offset(((struct rt_mutex_base *)0)->owner);
	return word_at(mutex) == (task | RT_WAITERS);
}

/* Global, as owner_read() is. */
__noinline int follow_has(__u64 lock, enum follow_kind kind, __u64 task, __u32 *ret_hint)
{
	if (!ret_hint)
		return false;
	*ret_hint = 0;
	switch (kind) {
	case FOLLOW_MUTEX:
		return follow_has_mutex(lock, task);
	case FOLLOW_RWSEM:
		return follow_has_rwsem(lock, task, ret_hint);
	case FOLLOW_SEM:
		return follow_has_sem(lock, task, ret_hint);
	case FOLLOW_RT:
		return follow_has_rt(lock, 0, task);
	case FOLLOW_RT_READ:
		return follow_has_rt(lock, LCB_READ, task);
	case FOLLOW_PCPU:
		return follow_has_percpu(lock, task);
	case FOLLOW_PCPU_GOT:
		return follow_is_blocked(lock);
	case FOLLOW_READER:
		*ret_hint = 1;
		return follow_has_readers(lock);
	default:
		return false;
	}
}

/* One of its locks that it still has and others wait for: which; FOLLOW_KEEP: none. */
static __always_inline __u32 follow_still(const struct follow_task *e, __u32 *ret_hint)
{
	if (follow_has(e->lock[0], e->kind[0], e->task, ret_hint))
		return 0;
	if (follow_has(e->lock[1], e->kind[1], e->task, ret_hint))
		return 1;
	return FOLLOW_KEEP;
}
