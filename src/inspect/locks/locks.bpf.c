// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the holders of the sleeping locks that tasks wait for now, the order of the waiters, and
 * the objects that contain the locks. Programs run on demand and read without taking any lock: a
 * waiter is on the stack of the task that waits, so lists change and end under the walk; all is
 * read by probe reads, no walk is longer than its bound, and one that does not come back to its
 * head is marked.
 *
 * find_blocked lists the locks, read_queues walks their lists, see_tasks reads the states of
 * holders and waiters, name_tasks and name_files find the owners of the locks.
 */
#include "kernel/locks.h"

#include "kernel/ns.h"
#include "kernel/words.h"
#include "read-call.h"
#include "read-cgroup.h"
#include "read-object.h"
#include "read-ran.h"
#include "shared.h"

char license_text[] SEC("license") = "GPL";

/* One object each, so that user space finds them at the front of their sections. */
const volatile struct raw_locks_config config = {0};
struct raw_locks_state state = {0};

ARRAY(locks, struct raw_lock, RAW_LOCKS);
ARRAY(names, struct raw_lock_name, RAW_LOCK_NAMES);
ARRAY(waiters, struct raw_lock_waiter, RAW_LOCK_WAITERS);
ARRAY(tasks, struct raw_lock_task, RAW_LOCK_TASKS);
ARRAY(bases, __u64, RAW_LOCK_CPUS);
ARRAY(objects, struct raw_lock_object, RAW_LOCK_OBJECTS);

/* Address of a lock: its index. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_LOCKS);
	__type(key, __u64);
	__type(value, __u32);
} by_address SEC(".maps");

/* Thread: index + 1 of its task. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_LOCK_TASKS);
	__type(key, __u32);
	__type(value, __u32);
} by_thread SEC(".maps");

/* Low bits of task_struct.blocker: the kind of the lock. */
enum { BLOCKER_BITS = 3, BLOCKER_MUTEX = 0, BLOCKER_SEM = 1 };

/* task_struct.__state: as far as it sleeps uninterruptibly, also for a spinlock of PREEMPT_RT. */
enum { STATE_UNINTERRUPTIBLE = 2, STATE_RTLOCK = 0x1000 };

__noinline int put_lock(__u64 addr, __u32 type)
{
	__u32 i = state.n_locks;

	if (bpf_map_lookup_elem(&by_address, &addr))
		return 0;
	struct raw_lock *l = bpf_map_lookup_elem(&locks, &i);
	if (!l || bpf_map_update_elem(&by_address, &addr, &i, BPF_ANY)) {
		state.dropped++;
		return 0;
	}
	__builtin_memset(l, 0, sizeof(*l));
	l->addr = addr;
	l->type = type;
	state.n_locks = i + 1;
	return 0;
}

/* The address of a task's mmap_lock; 0: it has no memory of its own. */
static __always_inline __u64 mmap_lock_of(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	return mm ? (__u64)mm + bpf_core_field_offset(mm->mmap_lock) : 0;
}

/*
 * Is it the task by which its process is known to have memory? That is its leader; one that has
 * exited before its threads has none any more, and then each of them may represent it.
 */
static __always_inline bool reports_mm(struct task_struct *t)
{
	return BPF_CORE_READ(t, pid) == BPF_CORE_READ(t, tgid) ||
	       !mmap_lock_of(BPF_CORE_READ(t, group_leader));
}

static __always_inline bool has_waiters(__u64 rwsem)
{
	struct rw_semaphore *s = (void *)rwsem;
	__u64 head, first = 0;

	if (bpf_core_field_exists(s->first_waiter))
		return BPF_CORE_READ(s, first_waiter);
	if (!bpf_core_field_exists(s->wait_list))
		return false;
	head = rwsem + bpf_core_field_offset(s->wait_list);
	return !bpf_probe_read_kernel(&first, sizeof(first), (void *)head) && first &&
	       first != head;
}

/* Called only for tasks that sleep uninterruptibly. */
static __always_inline void put_blocker(struct task_struct___locks *t)
{
	__u64 blocker = BPF_CORE_READ(t, blocker);
	__u32 kind = blocker & BLOCKER_BITS;

	state.has_blocker = 1;
	if (!blocker)
		return;
	put_lock(blocker & ~(__u64)BLOCKER_BITS, kind == BLOCKER_MUTEX ? RAW_MUTEX
						 : kind == BLOCKER_SEM ? RAW_SEM
								       : RAW_RWSEM);
}

/*
 * On PREEMPT_RT, where each task says for which rt-mutex it waits. Those of futexes are no locks of
 * the kernel: who waits for them does so interruptibly.
 */
static __always_inline void put_rt_blocker(struct task_struct___locks *t)
{
	struct rt_mutex_waiter *w = BPF_CORE_READ(t, pi_blocked_on);

	state.has_blocker = 1;
	if (w && BPF_CORE_READ(t, __state) & (STATE_UNINTERRUPTIBLE | STATE_RTLOCK))
		put_lock((__u64)BPF_CORE_READ(w, lock), RAW_RT);
}

static __always_inline int look_at(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;

	if (rt_mutex_within() && bpf_core_field_exists(task->pi_blocked_on))
		put_rt_blocker(task);

	if (bpf_core_field_exists(task->blocker))
		put_blocker(task);
	if (bpf_core_field_exists(task->blocked_on) && !rt_mutex_within()) {
		__u64 mutex = (__u64)BPF_CORE_READ(task, blocked_on);
		if (mutex)
			put_lock(mutex, RAW_MUTEX);
	}
	if (reports_mm(t)) {
		__u64 addr = mmap_lock_of(t);

		if (addr && has_waiters(addr))
			put_lock(addr, RAW_RWSEM);
	}
	return 0;
}

SEC("iter/task")
int find_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t ? look_at(t) : 0;
}

__noinline int look_at_task(__u64 task)
{
	return look_at((void *)task);
}

WALK_TASKS(walk_blocked, look_at_task, state.dropped)

/* Where see_tasks is to put what @tid does: index + 1, or 0 when there is no more room. */
__noinline int put_task(int tid)
{
	__u32 key = tid, i = state.n_tasks, next = i + 1;
	__u32 *known = bpf_map_lookup_elem(&by_thread, &key);

	if (known)
		return *known;
	struct raw_lock_task *r = bpf_map_lookup_elem(&tasks, &i);
	if (!r || bpf_map_update_elem(&by_thread, &key, &next, BPF_ANY))
		return 0;
	r->tid = tid;
	r->seen = 0;
	state.n_tasks = next;
	return next;
}

static __always_inline void read_holder(struct raw_lock *l, __u64 task)
{
	struct task_struct *t = (void *)task;

	/* The word of a lock may name a reader that has exited since. */
	if (!t || BPF_CORE_READ(t, pid) <= 0 || BPF_CORE_READ(t, exit_state))
		return;
	l->holder_pid = ns_pid(t, &config.ns);
	l->holder_tid = ns_tid(t, &config.ns);
	BPF_CORE_READ_STR_INTO(&l->holder_comm, t, comm);
	l->holder_task = put_task(l->holder_tid);
}

struct walk {
	__u64 head, node, task_at, type_at;
	__u32 lock, n, reads;
};

/* False: there is none there, or no room. */
static __always_inline bool put_waiter(struct walk *w, struct task_struct *t, bool is_reader)
{
	__u32 at = state.n_waiters;
	struct raw_lock_waiter *r = bpf_map_lookup_elem(&waiters, &at);

	if (!r) {
		state.dropped++;
		return false;
	}
	r->lock = w->lock;
	r->reader = is_reader;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->comm[0] = 0;
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	/* No task is there: the waiter has gone, and what follows it is no list. */
	if (r->tid <= 0)
		return false;
	r->task = put_task(r->tid);
	r->ran = ran_until(t);
	r->cpu = last_cpu(t);
	r->in_cgroup = state.cgroup && is_in_cgroup(t, state.cgroup);
	state.n_waiters = at + 1;
	w->n++;
	return true;
}

/* Non-zero: there is none, or no more. */
static __always_inline long see_waiter(struct walk *w)
{
	struct task_struct *t = NULL;
	__u64 next = 0;
	__u32 type = WAITING_FOR_WRITE;

	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)w->node))
		return 1;
	bpf_probe_read_kernel(&t, sizeof(t), (void *)(w->node + w->task_at));
	if (w->reads)
		bpf_probe_read_kernel(&type, sizeof(type), (void *)(w->node + w->type_at));
	if (!put_waiter(w, t, w->reads && type == WAITING_FOR_READ))
		return 1;
	w->node = next;
	return 0;
}

static long walk_step(__u32 i, struct walk *w)
{
	return !w->node || w->node == w->head ? 1 : see_waiter(w);
}

/* Addresses of nodes have no lower bits, as the kernel itself has a colour there. */
enum { NODE_BITS = 3, NODE_SEEN = 1 };

/* The waiter of a node, and then what is after it, to the right. */
static __always_inline long see_node(struct walk *w, struct rb_node *n)
{
	struct task_struct *t = NULL;
	__u64 right = (__u64)BPF_CORE_READ(n, rb_right);

	bpf_probe_read_kernel(&t, sizeof(t), (void *)((__u64)n + w->task_at));
	if (!put_waiter(w, t, false))
		return 1;
	w->node = right ? right : (__u64)n | NODE_SEEN;
	return 0;
}

/*
 * A move within a tree of waiters, so that the next owner is visited first. A visited node has a
 * bit set: the verifier of 6.1 thinks that a variable that is 0 at first remains so.
 */
static long tree_step(__u32 i, struct walk *w)
{
	struct rb_node *n = (void *)(w->node & ~(__u64)NODE_BITS), *parent;
	__u64 left;

	if (!n)
		return 1;
	if (!(w->node & NODE_SEEN)) {
		left = (__u64)BPF_CORE_READ(n, rb_left);
		if (!left)
			return see_node(w, n);
		w->node = left;
		return 0;
	}
	parent = (void *)(BPF_CORE_READ(n, __rb_parent_color) & ~(__u64)NODE_BITS);
	if (parent && BPF_CORE_READ(parent, rb_left) == n)
		return see_node(w, parent);
	w->node = parent ? (__u64)parent | NODE_SEEN : 0;
	return 0;
}

static __always_inline void walk_rest(struct raw_lock *l, struct walk *w)
{
	if (w->node != w->head)
		bpf_loop(RAW_LOCK_QUEUE, walk_step, w, 0);
	l->torn = w->node != w->head;
	l->waiters = w->n;
	l->first = state.n_waiters - w->n;
}

/* A list whose head is in the lock. */
static __always_inline void walk_list(struct raw_lock *l, struct walk *w, __u64 head)
{
	w->head = head;
	if (bpf_probe_read_kernel(&w->node, sizeof(w->node), (void *)w->head) || !w->node)
		l->torn = 1;
	else
		walk_rest(l, w);
}

/* A ring of waiters, the first of which the lock knows. */
static __always_inline void walk_ring(struct raw_lock *l, struct walk *w, __u64 first)
{
	w->head = w->node = first;
	if (!first)
		return;
	if (see_waiter(w))
		w->node = 0;
	walk_rest(l, w);
}

/* @at: of the links in a waiter. */
#define WALK_QUEUE(l, w, lock, at)                                                                 \
	do {                                                                                       \
		if (bpf_core_field_exists((lock)->first_waiter)) {                                 \
			__u64 waiter = (__u64)BPF_CORE_READ(lock, first_waiter);                   \
			walk_ring(l, w, waiter ? waiter + (at) : 0);                               \
		} else {                                                                           \
			walk_list(l, w, (l)->addr + bpf_core_field_offset((lock)->wait_list));     \
		}                                                                                  \
	} while (0)

static __always_inline void read_rwsem(struct raw_lock *l, struct walk *w)
{
	struct rw_semaphore *s = (void *)l->addr;

	if (!bpf_core_field_exists(s->owner))
		return;
	l->count = word_at(l->addr + bpf_core_field_offset(s->count));
	l->owner = word_at(l->addr + bpf_core_field_offset(s->owner));
	read_holder(l, l->owner & ~7ull);
	__u64 list = bpf_core_field_offset(((struct rwsem_waiter *)0)->list);
	w->task_at = bpf_core_field_offset(((struct rwsem_waiter *)0)->task) - list;
	w->type_at = bpf_core_field_offset(((struct rwsem_waiter *)0)->type) - list;
	w->reads = 1;
	WALK_QUEUE(l, w, s, list);
}

static __always_inline void read_mutex(struct raw_lock *l, struct walk *w)
{
	struct mutex *m = (void *)l->addr;

	if (!bpf_core_field_exists(m->owner))
		return;
	l->owner = word_at(l->addr + bpf_core_field_offset(m->owner));
	read_holder(l, l->owner & ~7ull);
	__u64 list = bpf_core_field_offset(((struct mutex_waiter *)0)->list);
	w->task_at = bpf_core_field_offset(((struct mutex_waiter *)0)->task) - list;
	WALK_QUEUE(l, w, m, list);
}

static __always_inline void read_sem(struct raw_lock *l, struct walk *w)
{
	struct semaphore *s = (void *)l->addr;

	if (bpf_core_field_exists(s->last_holder)) {
		l->owner = word_at(l->addr + bpf_core_field_offset(s->last_holder));
		read_holder(l, l->owner);
	}
	__u64 list = bpf_core_field_offset(((struct semaphore_waiter *)0)->list);
	w->task_at = bpf_core_field_offset(((struct semaphore_waiter *)0)->task) - list;
	WALK_QUEUE(l, w, s, list);
}

/* Where a waiter is in the tree of those of its lock. */
static __always_inline __u64 rt_entry(void)
{
	struct rt_mutex_waiter *w = NULL;

	if (bpf_core_field_exists(w->tree_entry))
		return bpf_core_field_offset(w->tree_entry);
	return bpf_core_field_exists(w->tree)
		       ? bpf_core_field_offset(w->tree) +
				 bpf_core_field_offset(((struct rt_waiter_node *)0)->entry)
		       : 0;
}

static __always_inline void read_rt(struct raw_lock *l, struct walk *w)
{
	struct rt_mutex_base *m = (void *)l->addr;

	if (!bpf_core_field_exists(m->owner) ||
	    !bpf_core_field_exists(((struct rt_mutex_waiter *)0)->task))
		return;
	l->owner = word_at(l->addr + bpf_core_field_offset(m->owner));
	read_holder(l, l->owner & ~(__u64)RT_WAITERS);
	w->node = (__u64)BPF_CORE_READ(m, waiters.rb_root.rb_node);
	w->task_at = bpf_core_field_offset(((struct rt_mutex_waiter *)0)->task) - rt_entry();
	if (w->node)
		bpf_loop(RAW_TREE_MOVES, tree_step, w, 0);
	l->torn = w->node != 0;
	l->waiters = w->n;
	l->first = state.n_waiters - w->n;
}

static long read_queue(__u32 i, void *ctx)
{
	struct raw_lock *l = bpf_map_lookup_elem(&locks, &i);
	struct walk w = {.lock = i};

	if (!l || i >= state.n_locks)
		return 1;
	if (l->type == RAW_RWSEM)
		read_rwsem(l, &w);
	else if (l->type == RAW_MUTEX)
		read_mutex(l, &w);
	else if (l->type == RAW_SEM)
		read_sem(l, &w);
	else if (l->type == RAW_RT)
		read_rt(l, &w);
	return 0;
}

SEC("raw_tp")
int read_queues(void *ctx)
{
	bpf_loop(RAW_LOCKS, read_queue, NULL, 0);
	state.mmap_offset = bpf_core_field_offset(((struct mm_struct *)0)->mmap_lock);
	return 0;
}

/* The calls of one that runs change while they are read. */
static __always_inline struct raw_lock_task *note_task(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;
	__u32 tid = (__u32)ns_tid(t, &config.ns);
	__u32 *at = bpf_map_lookup_elem(&by_thread, &tid);
	if (!at)
		return NULL;
	__u32 i = *at - 1;
	struct raw_lock_task *r = bpf_map_lookup_elem(&tasks, &i);
	if (!r || r->seen)
		return NULL;
	r->state = BPF_CORE_READ(task, __state);
	r->on_rq = BPF_CORE_READ_BITFIELD_PROBED(task, on_rq);
	if (bpf_core_field_exists(task->se.sched_delayed) && BPF_CORE_READ(task, se.sched_delayed))
		r->on_rq = 0;
	r->on_cpu = bpf_core_field_exists(task->on_cpu)
			    ? BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu)
			    : 0;
	r->cpu = last_cpu(t);
	r->bytes = 0;
	r->seen = 1;
	return r;
}

SEC("iter/task")
int see_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct raw_lock_task *r = t ? note_task(t) : NULL;

	if (!r)
		return 0;
	/* Of a task that has a CPU it is the call in which it is, or none: it has a lock of the
	   kernel, or wants one. */
	read_call(t, &r->call);
	if (!r->on_cpu)
		r->bytes = bpf_get_task_stack(t, r->frames, sizeof(r->frames), 0);
	return 0;
}

/* Calls can be read of tasks only that an iterator hands out: these are those outside. */
__noinline int see_task(__u64 task)
{
	note_task((void *)task);
	return 0;
}

WALK_TASKS(walk_others, see_task, state.dropped)

/* Is a name for the lock at @addr wanted? Each has the first that is found. */
static __always_inline bool wanted(__u64 addr, __u32 kind)
{
	__u32 *at = bpf_map_lookup_elem(&by_address, &addr);

	if (!at)
		return state.all_mms && kind == NAME_MMAP;
	__u32 i = *at;
	struct raw_lock *l = bpf_map_lookup_elem(&locks, &i);
	if (!l || l->named)
		return false;
	l->named = 1;
	return true;
}

static __always_inline void put_name(__u64 addr, __u32 kind, struct task_struct *t, int fd,
				     struct inode *inode)
{
	__u32 i = state.n_names;

	if (!wanted(addr, kind))
		return;
	struct raw_lock_name *r = bpf_map_lookup_elem(&names, &i);
	if (!r) {
		state.dropped++;
		return;
	}
	state.n_names = i + 1;
	r->addr = addr;
	r->kind = kind;
	struct task_struct___locks *leader = (void *)BPF_CORE_READ(t, group_leader);
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->since_ns = BPF_CORE_READ(leader, start_time);
	r->fd = fd;
	r->task = (__u64)t;
	r->inode = (__u64)inode;
	r->stale = 0;
	__builtin_memset(&r->file, 0, sizeof(r->file));
	if (inode)
		read_file(inode, &r->file);
	BPF_CORE_READ_STR_INTO(&r->comm, t, group_leader, comm);
}

/* Of the rt-mutex in a rwsem, for which writers wait, if it is in the list. */
static __always_inline void put_rt_name(__u64 rwsem, __u32 kind, struct task_struct *t, int fd,
					struct inode *inode)
{
	__u64 addr = rwsem + rt_mutex_within();

	if (rt_mutex_within() && bpf_map_lookup_elem(&by_address, &addr))
		put_name(addr, kind, t, fd, inode);
}

static __always_inline int name_by_task(struct task_struct *t)
{
	if (!reports_mm(t))
		return 0;
	__u64 addr = mmap_lock_of(t);
	if (!addr)
		return 0;
	/* Of several threads the first one: what is in the list is named once. */
	if (BPF_CORE_READ(t, pid) != BPF_CORE_READ(t, tgid) && state.all_mms)
		put_lock(addr, RAW_NO_QUEUE);
	put_name(addr, NAME_MMAP, t, -1, NULL);
	put_rt_name(addr, NAME_MMAP, t, -1, NULL);
	return 0;
}

SEC("iter/task")
int name_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t ? name_by_task(t) : 0;
}

__noinline int name_by_any(__u64 task)
{
	return name_by_task((void *)task);
}

WALK_TASKS(walk_names, name_by_any, state.dropped)

/* The locks of the larger inode of a file system, around this one. */
static __always_inline void name_beside(struct task_struct *t, int fd, struct inode *inode)
{
	const __u64 xfs_magic = 0x58465342, ext4_magic = 0xef53;
	struct xfs_inode___locks *x = NULL;
	struct ext4_inode_info___locks *e = NULL;
	__u64 magic = BPF_CORE_READ(inode, i_sb, s_magic);

	if (magic == xfs_magic && bpf_core_field_exists(x->i_lock))
		put_name((__u64)inode - bpf_core_field_offset(x->i_vnode) +
				 bpf_core_field_offset(x->i_lock),
			 NAME_XFS, t, fd, inode);
	if (magic == ext4_magic && bpf_core_field_exists(e->i_data_sem))
		put_name((__u64)inode - bpf_core_field_offset(e->vfs_inode) +
				 bpf_core_field_offset(e->i_data_sem),
			 NAME_EXT4, t, fd, inode);
}

static __always_inline int name_by_file(struct task_struct *t, struct file___locks *f, int fd)
{
	struct inode *inode = BPF_CORE_READ(f, f_inode);
	if (!inode)
		return 0;
	__u64 rwsem = (__u64)inode + bpf_core_field_offset(inode->i_rwsem);
	__u64 mapped = (__u64)inode + bpf_core_field_offset(inode->i_data) +
		       bpf_core_field_offset(((struct address_space *)0)->i_mmap_rwsem);
	put_name(rwsem, NAME_INODE, t, fd, inode);
	put_rt_name(rwsem, NAME_INODE, t, fd, inode);
	put_name(mapped, NAME_IMMAP, t, fd, inode);
	put_rt_name(mapped, NAME_IMMAP, t, fd, inode);
	put_name((__u64)f + bpf_core_field_offset(f->f_pos_lock), NAME_POS, t, fd, inode);
	name_beside(t, fd, inode);
	struct pipe_inode_info *pipe = BPF_CORE_READ(inode, i_pipe);
	if (pipe)
		put_name((__u64)pipe + bpf_core_field_offset(pipe->mutex), NAME_PIPE, t, fd, inode);
	return 0;
}

SEC("iter/task_file")
int name_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;

	return t && f ? name_by_file(t, (void *)f, (int)ctx->fd) : 0;
}

__noinline int name_by_any_file(__u64 task, __u64 file, __u32 fd)
{
	return name_by_file((void *)task, (void *)file, (int)fd);
}

WALK_FILES(walk_files, name_by_any_file, state.dropped)

static long read_object(__u32 i, void *ctx)
{
	struct raw_lock_object *o = bpf_map_lookup_elem(&objects, &i);

	if (!o || i >= state.n_objects)
		return 1;
	read_file((void *)o->inode, &o->file);
	if (!leads_to(o))
		o->file.ino = 0;
	return 0;
}

/* Locks that have a name: are they still those of the same files? */
SEC("raw_tp")
int read_objects(void *ctx)
{
	bpf_loop(RAW_LOCK_OBJECTS, read_object, NULL, 0);
	return 0;
}

static long check_name(__u32 i, void *ctx)
{
	struct raw_lock_name *r = bpf_map_lookup_elem(&names, &i);
	struct raw_lock_file now;

	if (!r || i >= state.n_names)
		return 1;
	if (r->fd < 0)
		return 0;
	read_file((void *)r->inode, &now);
	r->stale = inode_of(r->task, r->fd) != r->inode || now.ino != r->file.ino ||
		   now.generation != r->file.generation || now.dev != r->file.dev;
	return 0;
}

/* When paths have been read by descriptors: were these of the same files all the time? */
SEC("raw_tp")
int check_names(void *ctx)
{
	bpf_loop(RAW_LOCK_NAMES, check_name, NULL, 0);
	return 0;
}

/* Shows a thread that has just been asleep the scheduler's clock at its wakeup. */
SEC("raw_tp")
int read_arrival(void *ctx)
{
	struct task_struct___locks *task = (void *)bpf_get_current_task();

	if (bpf_core_field_exists(task->sched_info.last_arrival))
		state.arrived = BPF_CORE_READ(task, sched_info.last_arrival);
	return 0;
}

/* Once on each CPU: its per-CPU section, from the run queue of the running task. */
SEC("raw_tp")
int learn_base(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *t = (void *)bpf_get_current_task();
	__u64 *base = bpf_map_lookup_elem(&bases, &cpu);

	if (!base || !bpf_core_field_exists(t->se.cfs_rq))
		return 0; /* a kernel without FAIR_GROUP_SCHED */
	struct rq *rq = BPF_CORE_READ(t, se.cfs_rq, rq);
	if (BPF_CORE_READ(rq, cpu) == (int)cpu)
		*base = (__u64)rq - config.off_runqueues;
	return 0;
}
