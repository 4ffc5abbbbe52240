// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long mutexes and rwsems are held, whether tasks wait for them or not: programs at the end of
 * the kernel's functions that take them, and at the begin of those that release them. Each call of
 * these functions in the machine runs one, so the first thing that it does is to compare the
 * address. Nothing is allocated, and no name is looked up: track.h has the rest.
 *
 * The kernel may preempt a program, and another task run one on the same CPU, so sums are added to
 * atomically. It does not run the same program a second time then; it counts that as missed.
 */
#include "kernel/base.h"

#include "holds-shared.h"

char license_text[] SEC("license") = "GPL";

struct raw_holds_state state = {0};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RAW_HOLDS_KINDS);
	__type(key, __u32);
	__type(value, struct raw_holds_sum);
} holds_sums SEC(".maps");

#define HASH(map, n, k, v)                                                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, n);                                                            \
		__type(key, k);                                                                    \
		__type(value, v);                                                                  \
	} map SEC(".maps")

HASH(holds_locks, RAW_HOLDS_LOCKS, __u64, struct raw_holds_lock);
HASH(holds_readers, RAW_HOLDS_READERS, struct raw_holds_reader, struct raw_holds_now);
HASH(holds_tasks, RAW_HOLDS_TASKS, __s32, struct raw_holds_task);

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, RAW_HOLDS_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, RAW_HOLDS_FRAMES * sizeof(__u64));
} holds_stacks SEC(".maps");

/* By kind, and by number of the chain. */
ARRAY(holds_chains, struct raw_holds_add, RAW_HOLDS_KINDS *RAW_HOLDS_STACKS);
/* By number of the chain: the address in the caller to which the function returns, or 0. */
ARRAY(holds_callers, __u64, RAW_HOLDS_STACKS);

static __always_inline void holds_add(unsigned long long *to, __u64 n)
{
	__sync_fetch_and_add(to, n);
}

/* Where others get in between all the time, one of them is as great. */
enum { TRIES = 8 };

static __always_inline void holds_most(unsigned long long *to, __u64 ns)
{
	__u64 most = *to;

	for (int i = 0; i < TRIES && ns > most; i++) {
		__u64 was = __sync_val_compare_and_swap(to, most, ns);
		if (was == most)
			return;
		most = was;
	}
}

static __always_inline __u64 holds_now_ns(void)
{
	return bpf_ktime_get_ns();
}

static __always_inline __u32 holds_random(void)
{
	return bpf_get_prandom_u32();
}

enum { WORDS = 12 };

/*
 * The function itself has no frame yet, so kernels that follow frame pointers do not see its
 * caller. On x86-64 two return addresses are on the stack after the context of the program: the
 * trampoline returns to the first, near the begin of the function, and the function returns to the
 * second.
 */
static __always_inline void keep_caller(void *ctx, int chain)
{
	__u64 words[WORDS], ip = bpf_get_func_ip(ctx);
	__u64 *to = bpf_map_lookup_elem(&holds_callers, &chain);

	if (!to || bpf_probe_read_kernel(words, sizeof(words), ctx) < 0)
		return;
	for (int i = 0; i + 1 < WORDS; i++) {
		if (words[i] - ip < RAW_HOLDS_NEAR) {
			*to = words[i + 1];
			return;
		}
	}
}

static __always_inline int holds_chain(void *ctx)
{
	int chain = state.chains ? (int)bpf_get_stackid(ctx, &holds_stacks, 0) : -1;

	if (chain >= 0 && state.callers)
		keep_caller(ctx, chain);
	return chain;
}

static __always_inline struct raw_holds_sum *holds_sum(__u32 kind)
{
	return bpf_map_lookup_elem(&holds_sums, &kind);
}

static __always_inline struct raw_holds_lock *holds_row(__u64 lock, int make)
{
	struct raw_holds_lock *row = bpf_map_lookup_elem(&holds_locks, &lock);

	if (!row && make) {
		struct raw_holds_lock none = {0};
		bpf_map_update_elem(&holds_locks, &lock, &none, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&holds_locks, &lock);
	}
	return row;
}

static __always_inline struct raw_holds_now *holds_reader(const struct raw_holds_reader *key)
{
	return bpf_map_lookup_elem(&holds_readers, key);
}

static __always_inline int holds_reader_put(const struct raw_holds_reader *key,
					    const struct raw_holds_now *now)
{
	return (int)bpf_map_update_elem(&holds_readers, key, now, BPF_ANY);
}

static __always_inline void holds_reader_del(const struct raw_holds_reader *key)
{
	bpf_map_delete_elem(&holds_readers, key);
}

static __always_inline void add_to(struct raw_holds_add *to, __u64 ns, __u32 every)
{
	holds_add(&to->holds, every);
	holds_add(&to->total_ns, ns * every);
	holds_most(&to->max_ns, ns);
}

/* Row 0 has the tasks that find no room. A task may have another name than at its first hold. */
static __always_inline struct raw_holds_task *task_row(const struct raw_holds_now *now)
{
	__s32 key = now->tid;
	struct raw_holds_task *t = bpf_map_lookup_elem(&holds_tasks, &key);

	if (!t) {
		struct raw_holds_task new = {.pid = now->pid};
		bpf_map_update_elem(&holds_tasks, &key, &new, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&holds_tasks, &key);
	}
	if (t && key == (__s32)bpf_get_current_pid_tgid())
		bpf_get_current_comm(t->comm, sizeof(t->comm));
	if (!t) {
		key = 0;
		t = bpf_map_lookup_elem(&holds_tasks, &key);
	}
	return t;
}

static __always_inline void holds_rows(__u32 kind, const struct raw_holds_now *now, __u64 ns,
				       __u32 every)
{
	struct raw_holds_task *t = task_row(now);

	if (t)
		add_to(&t->held, ns, every);
	if (now->chain < 0)
		return;
	__u32 at = kind * RAW_HOLDS_STACKS + (__u32)now->chain;
	struct raw_holds_add *c = bpf_map_lookup_elem(&holds_chains, &at);
	if (c)
		add_to(c, ns, every);
}

#include "track.h"

static __always_inline bool is_wanted(__u64 lock, __u32 kind)
{
	return state.lock ? lock == state.lock : state.kinds >> kind & 1;
}

static __always_inline struct holds_event event_of(__u64 *ctx, __u64 lock, __u32 kind)
{
	__u64 id = bpf_get_current_pid_tgid();

	return (struct holds_event){ctx, lock, kind, (__s32)id, (__s32)(id >> 32)};
}

static __noinline int acquired(__u64 *ctx, __u64 lock, __u32 kind)
{
	struct holds_event e = event_of(ctx, lock, kind);

	holds_acquired(&e, state.every);
	return 0;
}

static __noinline int released(__u64 *ctx, __u64 lock, __u32 kind)
{
	struct holds_event e = event_of(ctx, lock, kind);

	holds_released(&e, state.every);
	return 0;
}

/* At the end of a function that may call one that is in this list itself, or has it inlined. */
static __noinline int acquired_once(__u64 *ctx, __u64 lock, __u32 kind)
{
	struct holds_event e = event_of(ctx, lock, kind);

	if (!holds_is_own(&e))
		holds_acquired(&e, state.every);
	return 0;
}

/* @got: whether it has got the lock. */
#define TAKES(function, kind, got)                                                                 \
	SEC("fexit/" #function) int at_##function(__u64 *ctx)                                      \
	{                                                                                          \
		if (is_wanted(ctx[0], kind) && (got))                                              \
			acquired(ctx, ctx[0], kind);                                               \
		return 0;                                                                          \
	}
#define RELEASES(function, kind)                                                                   \
	SEC("fentry/" #function) int at_##function(__u64 *ctx)                                     \
	{                                                                                          \
		if (is_wanted(ctx[0], kind))                                                       \
			released(ctx, ctx[0], kind);                                               \
		return 0;                                                                          \
	}
/* The return value of functions of one argument, and of two. */
#define RET1 ((int)ctx[1])
#define RET2 ((int)ctx[2])

TAKES(mutex_lock, RAW_HOLDS_MUTEX, true)
TAKES(mutex_lock_interruptible, RAW_HOLDS_MUTEX, RET1 == 0)
TAKES(mutex_lock_killable, RAW_HOLDS_MUTEX, RET1 == 0)
TAKES(mutex_trylock, RAW_HOLDS_MUTEX, RET1 != 0)
TAKES(ww_mutex_lock, RAW_HOLDS_MUTEX, RET2 == 0)
TAKES(ww_mutex_lock_interruptible, RAW_HOLDS_MUTEX, RET2 == 0)
RELEASES(mutex_unlock, RAW_HOLDS_MUTEX)
TAKES(down_write, RAW_HOLDS_WRITE, true)
TAKES(down_write_killable, RAW_HOLDS_WRITE, RET1 == 0)
TAKES(down_write_trylock, RAW_HOLDS_WRITE, RET1 != 0)
RELEASES(up_write, RAW_HOLDS_WRITE)
TAKES(down_read, RAW_HOLDS_READ, true)
TAKES(down_read_interruptible, RAW_HOLDS_READ, RET1 == 0)
TAKES(down_read_killable, RAW_HOLDS_READ, RET1 == 0)
TAKES(down_read_trylock, RAW_HOLDS_READ, RET1 != 0)
RELEASES(up_read, RAW_HOLDS_READ)
/* Of a read lock that one task takes and another one releases. */
RELEASES(up_read_non_owner, RAW_HOLDS_READ)

SEC("fexit/mutex_lock_io") int at_mutex_lock_io(__u64 *ctx)
{
	if (is_wanted(ctx[0], RAW_HOLDS_MUTEX))
		acquired_once(ctx, ctx[0], RAW_HOLDS_MUTEX);
	return 0;
}

SEC("fexit/atomic_dec_and_mutex_lock") int at_atomic_dec_and_mutex_lock(__u64 *ctx)
{
	if (is_wanted(ctx[1], RAW_HOLDS_MUTEX) && RET2)
		acquired_once(ctx, ctx[1], RAW_HOLDS_MUTEX);
	return 0;
}

SEC("fentry/downgrade_write") int at_downgrade_write(__u64 *ctx)
{
	bool wrote = is_wanted(ctx[0], RAW_HOLDS_WRITE), reads = is_wanted(ctx[0], RAW_HOLDS_READ);

	if (wrote || reads) {
		struct holds_event e = event_of(ctx, ctx[0], RAW_HOLDS_WRITE);
		holds_downgraded(&e, state.every, wrote, reads);
	}
	return 0;
}

/* Called for one lock: its first word, and the task that has it. */
SEC("raw_tp")
int read_word(void *ctx)
{
	__u64 at = state.at, owner = 0;

	state.known = bpf_probe_read_kernel(&state.word, sizeof(state.word), (void *)at) == 0;
	state.tid = state.pid = 0;
	if (!state.known)
		return 0;
	owner = state.word;
	if (!state.is_mutex)
		bpf_probe_read_kernel(&owner, sizeof(owner), (void *)(at + sizeof(owner)));
	const struct task_struct *task = (const struct task_struct *)(owner & ~7ull);
	if (!task)
		return 0;
	state.tid = BPF_CORE_READ(task, pid);
	state.pid = BPF_CORE_READ(task, tgid);
	BPF_CORE_READ_STR_INTO(&state.comm, task, comm);
	return 0;
}
