// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that may be readers of a lock now: tasks among whose calls is a function that holds such a
 * lock for reading, where data show that it is this lock. The calls of a sleeping task are read
 * where it is; a running task is interrupted for it, by a program that is run on its CPU.
 *
 * This is no proof: the functions are known by their names, and a kernel may have changed them.
 */
#include "kernel/readers.h"

#include "kernel/ns.h"
#include "read-call.h"
#include "read-ran.h"
#include "readers-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_readers_config config = {0};
struct raw_readers_state state = {0};

ARRAY(ranges, struct raw_reader_range, RAW_READER_RANGES);
/* The one behind those that are found is where the next task is looked at. */
ARRAY(readers, struct raw_reader, RAW_READERS);
/* CPUs that run a task which may be one. */
ARRAY(cpus, __u32, RAW_READER_CPUS);

enum { READER_SHIFT = 8, WRITER_LOCKED = 1 };

/* rwbase_rt.readers: no writer keeps readers out; a writer has it; else the number of readers. */
#define RT_NO_WRITER 0x80000000u
#define RT_WRITES 0x40000000u

/* Results from the calls of one task. */
struct calls {
	__u32 slot, n;
	__u32 holds,
		in;   /* place + 1 of the innermost function that holds, of the outermost known */
	__u32 before; /* flags of the call further inside */
	__u32 drops, keeps, proof, skip;
} calls = {0};

/*
 * The data of callbacks are in memory of which the verifier knows nothing: for variables on the
 * stack it would follow each possible value. Programs run one after the other.
 */
struct search {
	__u64 addr;
	__u32 low, high, at; /* at: place + 1 of what was found */
} search = {0};

static long halve(__u32 i, void *ctx)
{
	struct search *s = &search;
	__u32 middle = (s->low + s->high) / 2;
	struct raw_reader_range *r = bpf_map_lookup_elem(&ranges, &middle);

	if (!r || s->low >= s->high)
		return 1;
	if (s->addr > r->start && s->addr <= r->end) {
		s->at = middle + 1;
		return 1;
	}
	if (s->addr <= r->start)
		s->high = middle;
	else
		s->low = middle + 1;
	return 0;
}

static __always_inline struct raw_reader_range *range_of(__u64 addr)
{
	__u32 at;

	search.addr = addr;
	search.low = search.at = 0;
	search.high = state.n_ranges;
	bpf_loop(RAW_READER_STEPS, halve, NULL, 0);
	at = search.at - 1;
	return bpf_map_lookup_elem(&ranges, &at);
}

/* From the innermost call outwards. Addresses are those to which is returned. */
static long walk_step(__u32 i, void *ctx)
{
	struct calls *c = &calls;
	__u32 slot = c->slot;
	struct raw_reader *r = bpf_map_lookup_elem(&readers, &slot);

	if (!r || i >= c->n)
		return 1;
	struct raw_reader_range *f = range_of(r->frames[i % RAW_READER_FRAMES]);
	__u32 before = c->before, flags = f && !(f->flags & state.not &READER_NOT) ? f->flags : 0;
	c->before = flags;
	if (!flags)
		return 0;
	if (flags & READER_ENTRY)
		c->skip = i + 1;
	if (flags & READER_DROPS && !c->holds)
		c->drops = 1;
	if (flags & READER_KEEPS)
		c->keeps = 1;
	if (flags & READER_HOLDS && !c->holds && !(before & READER_ACQUIRES))
		c->holds = i + 1;
	if (c->holds && f->proof) {
		c->proof = f->proof;
		c->in = i + 1;
	}
	return 0;
}

/* Do readers hold it now? */
static __always_inline bool is_read(__u64 lock)
{
	struct rw_semaphore *s = (void *)lock;
	__u64 count;
	__u32 n;

	if (!bpf_core_field_exists(s->count)) { /* PREEMPT_RT */
		if (!bpf_core_field_exists(s->rwbase.readers))
			return false;
		n = (__u32)number_at(lock + bpf_core_field_offset(s->rwbase.readers)) &
		    ~RT_NO_WRITER;
		return n && n < RT_WRITES;
	}
	count = word_at(lock + bpf_core_field_offset(s->count));
	return !(count & WRITER_LOCKED) && (__s64)count >> READER_SHIFT > 0;
}

struct wanted {
	__u64 lock;
	__u32 at;
} wanted = {0};

static long compare(__u32 i, void *ctx)
{
	struct wanted *w = &wanted;

	if (i >= state.n_wanted)
		return 1;
	if (state.wanted[i % RAW_READER_LOCKS] == w->lock)
		w->at = i + 1;
	return w->at != 0;
}

static __always_inline __u32 wanted_at(__u64 lock)
{
	wanted.lock = lock;
	wanted.at = 0;
	bpf_loop(RAW_READER_LOCKS, compare, NULL, 0);
	return wanted.at;
}

static __always_inline __u64 lock_of(struct mm_struct *mm)
{
	return mm ? (__u64)mm + bpf_core_field_offset(mm->mmap_lock) : 0;
}

static __always_inline struct mm_struct *mm_of_maps(__u64 seq)
{
	struct proc_maps_private *p = BPF_CORE_READ((struct seq_file___readers *)seq, private);
	struct proc_maps_private___ctx *with_ctx = (void *)p;

	if (bpf_core_field_exists(p->mm))
		return BPF_CORE_READ(p, mm);
	if (bpf_core_field_exists(with_ctx->lock_ctx))
		return BPF_CORE_READ(with_ctx, lock_ctx.mm);
	return NULL;
}

static __always_inline struct mm_struct *mm_of_pid(struct inode *inode)
{
	struct proc_inode *p =
		(void *)((__u64)inode - bpf_core_field_offset(((struct proc_inode *)0)->vfs_inode));
	struct pid___readers *pid = (void *)BPF_CORE_READ(p, pid);
	__u64 links = bpf_core_field_offset(((struct task_struct___links *)0)->pid_links);
	__u64 first = pid ? word_at((__u64)pid + bpf_core_field_offset(pid->tasks)) : 0;
	struct task_struct___locks *t = (void *)(first - links);

	return first ? BPF_CORE_READ(t, mm) : NULL;
}

/* The lock that is got at by that file. */
static __always_inline __u64 lock_by_file(struct file___locks *f, __u32 proof)
{
	struct inode *inode = BPF_CORE_READ(f, f_inode);
	__u64 data = (__u64)BPF_CORE_READ((struct file *)f, private_data);

	switch (proof) {
	case PROOF_MAPS:
		return data ? lock_of(mm_of_maps(data)) : 0;
	case PROOF_MEM:
		return lock_of((void *)data);
	case PROOF_PID:
		return inode ? lock_of(mm_of_pid(inode)) : 0;
	case PROOF_UFFD:
		if (!data || !bpf_core_field_exists(((struct userfaultfd_ctx *)0)->mm))
			return 0; /* a kernel without USERFAULTFD */
		return lock_of(BPF_CORE_READ((struct userfaultfd_ctx *)data, mm));
	case PROOF_INODE:
		return inode ? (__u64)inode + bpf_core_field_offset(inode->i_rwsem) : 0;
	default:
		return 0;
	}
}

struct files {
	__u64 table;
	__u32 n, proof, found;
} open_files = {0};

static long look_at_file(__u32 i, void *ctx)
{
	struct files *s = &open_files;
	__u64 file = i < s->n ? word_at(s->table + i * 8ull) : 0;

	if (i >= s->n)
		return 1;
	s->found = file ? wanted_at(lock_by_file((void *)file, s->proof)) : 0;
	return s->found != 0;
}

static __always_inline __u32 find_by_files(struct task_struct *t, __u32 proof)
{
	struct files_struct *files = BPF_CORE_READ((struct task_struct___files *)t, files);
	struct fdtable *table = files ? BPF_CORE_READ(files, fdt) : NULL;
	struct files *s = &open_files;

	if (!table)
		return 0;
	s->proof = proof;
	s->found = 0;
	s->table = (__u64)BPF_CORE_READ(table, fd);
	s->n = BPF_CORE_READ(table, max_fds);
	bpf_loop(RAW_READER_FILES, look_at_file, NULL, 0);
	return s->found;
}

/* The place + 1 of the wanted lock that it has; 0: none. */
static __always_inline __u32 lock_by_calls(struct task_struct *t, const struct calls *c)
{
	if (!c->holds || c->proof == PROOF_NONE)
		return 0;
	if (c->drops && !c->keeps && c->proof != PROOF_INODE)
		return 0;
	if (c->proof != PROOF_OWN)
		return find_by_files(t, c->proof);
	return wanted_at(lock_of(BPF_CORE_READ((struct task_struct___locks *)t, mm)));
}

static __always_inline struct raw_reader *slot(__u32 *ret)
{
	*ret = state.n_readers;
	if (*ret < RAW_READERS)
		return bpf_map_lookup_elem(&readers, ret);
	state.dropped = 1;
	return NULL;
}

static __always_inline bool is_one(struct task_struct *t, struct raw_reader *r, __u32 at)
{
	struct calls *c = &calls;

	if (r->bytes <= 0)
		return false;
	__builtin_memset(c, 0, sizeof(*c));
	c->slot = at;
	c->n = (__u32)r->bytes / sizeof(__u64);
	bpf_loop(RAW_READER_FRAMES, walk_step, NULL, 0);
	__u32 lock = lock_by_calls(t, c);
	if (!lock || !is_read(state.wanted[(lock - 1) % RAW_READER_LOCKS]))
		return false;
	r->lock = lock - 1;
	r->in = c->in - 1;
	r->skip = c->skip;
	return true;
}

static __always_inline void keep(struct task_struct *t, struct raw_reader *r)
{
	struct task_struct___locks *task = (void *)t;

	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->state = BPF_CORE_READ(task, __state);
	r->on_rq = BPF_CORE_READ_BITFIELD_PROBED(task, on_rq);
	if (bpf_core_field_exists(task->se.sched_delayed) && BPF_CORE_READ(task, se.sched_delayed))
		r->on_rq = 0;
	r->cpu = last_cpu(t);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	state.n_readers++;
}

static __always_inline bool is_on_cpu(struct task_struct___locks *t)
{
	return bpf_core_field_exists(t->on_cpu) && BPF_CORE_READ_BITFIELD_PROBED(t, on_cpu);
}

/* Kernel threads have no address space and no files; and we read no lock's memory ourselves. */
static __always_inline bool may_be_one(struct task_struct *t)
{
	return BPF_CORE_READ((struct task_struct___locks *)t, mm) &&
	       BPF_CORE_READ(t, tgid) != (int)config.self;
}

SEC("iter/task")
int find_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u32 at, cpu, one = 1;

	if (!t || !may_be_one(t))
		return 0;
	if (is_on_cpu((void *)t)) {
		cpu = (__u32)last_cpu(t);
		bpf_map_update_elem(&cpus, &cpu, &one, BPF_ANY);
		return 0;
	}
	struct raw_reader *r = slot(&at);
	if (!r)
		return 0;
	r->bytes = bpf_get_task_stack(t, r->frames, sizeof(r->frames), 0);
	r->on_cpu = 0;
	if (!is_one(t, r, at))
		return 0;
	read_call(t, &r->call);
	keep(t, r);
	return 0;
}

/* On the CPU of a running task, which is interrupted for it. */
SEC("raw_tp")
int find_running(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	__u32 at;

	if (!may_be_one(t))
		return 0;
	struct raw_reader *r = slot(&at);
	if (!r)
		return 0;
	r->bytes = bpf_get_stack(ctx, r->frames, sizeof(r->frames), 0);
	r->on_cpu = 1;
	r->call.number = -1;
	if (is_one(t, r, at))
		keep(t, r);
	return 0;
}

/* Once: of which functions this kernel is another than those that the table was made by. */
SEC("raw_tp")
int learn_kernel(void *ctx)
{
	struct proc_maps_private *p = NULL;
	struct proc_maps_private___ctx *with_ctx = NULL;
	struct vm_area_struct *v = NULL;

	state.not = 0;
	if (bpf_core_field_exists(v->vm_lock_seq))
		state.not |= READER_NOT_VMA;
	if (bpf_core_field_exists(p->mmap_locked) || bpf_core_field_exists(with_ctx->lock_ctx))
		state.not |= READER_NOT_MAPS;
	if (bpf_core_enum_value_exists(enum madvise_lock_mode, MADVISE_VMA_READ_LOCK))
		state.not |= READER_NOT_MADVISE;
	return 0;
}
