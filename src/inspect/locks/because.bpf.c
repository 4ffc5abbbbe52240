// SPDX-License-Identifier: GPL-2.0-only
/*
 * For what do the tasks wait that sleepers.bpf.c has found to be blocked? A task that sleeps is in
 * a wait queue, by an entry on its own stack. The entry has the address of the task, so it is found
 * by that, and it counts only if its neighbours in the queue lead back to it. The object is around
 * the entry, or around the head of its queue: a page, a buffer, a request to a FUSE
 * daemon, the log of a file system, a work. Each candidate is proved by pointers that lead from
 * it back to where they came from, as anything may be on a stack. No function of the kernel has to
 * be known.
 *
 * All is read by probe reads, and a task may run meanwhile: then nothing is found.
 */
#include "kernel/because.h"
#include "kernel/call.h"
#include "kernel/ns.h"

#include "because-shared.h"
#include "read-path.h"
#include "read-stack.h"
#include "read-throttled.h"
#include "sleepers-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_because_config config = {0};
struct raw_because_state state = {0};

ARRAY(blocked, struct raw_blocked, RAW_BLOCKED); /* that of the other object */
ARRAY(because, struct raw_because, RAW_BECAUSE);

enum {
	STACK_WORDS = 192, /* above its stack pointer: functions that wait are the innermost ones */
	STACK_ROOM = 256,  /* a power of two */
	STACK_PART = 16,   /* words that are read at once: a stack may end */
	BEFORE = 4,	   /* words of an entry before its task, */
	AFTER = 5,	   /* and after it */
	QUEUE_LENGTH = 64,
	BARRIERS = 16,
	WORKERS = 256,
	QUEUES_OF_WORK = 1024, /* one for each CPU */
	FREEZING_ITSELF = 2,
	PTE_FLAGS = 3, /* of a mapping: it is of no file */
	CHARGED = 64,  /* pages that a memory cgroup charges ahead */
	WORK_HAS_QUEUE = 4,
	FUSE_DEVICE = 10 << 20 | 229,
	STATE_TRACED = 8,
	STATE_FROZEN = 0x8000,
};

/* The task at hand; one pass runs at a time. The compiler would split static variables. */
struct {
	__u64 task, stack;
	__u32 nth;
	__u64 words[STACK_ROOM];
} at = {0};

/* The verifier knows the range of what was masked, which the compiler would leave out. */
static __always_inline __u64 word(__u32 i)
{
	barrier_var(i);
	return at.words[i & (STACK_ROOM - 1)];
}

/* A search for the worker that does a work. */
struct {
	__u64 pool;
	__u64 scheduled; /* list of the worker that is known by it; or of none */
	__u64 queue;	 /* any work of that one */
	__u64 worker, sure;
} seek = {0};

/* Who has a CPU while @t, which is @r, waits for it? Not kontend, which has one as it looks. */
static __always_inline void read_runner(struct task_struct *t, struct raw_by *r)
{
	struct task_struct *other = NULL;
	struct rq___because *rq = NULL;

	if (!bpf_core_field_exists(t->se.cfs_rq) || !bpf_core_field_exists(rq->curr))
		return;
	rq = (void *)BPF_CORE_READ(t, se.cfs_rq, rq);
	other = BPF_CORE_READ(rq, curr);
	if (!other || other == t || !BPF_CORE_READ(other, pid) ||
	    BPF_CORE_READ(other, tgid) == (int)config.self)
		return;
	struct task_struct___because *task = (void *)other;
	r->off_pid = ns_pid(other, &config.ns);
	r->off_tid = ns_tid(other, &config.ns);
	r->off_prio = (int)BPF_CORE_READ(task, rt_priority);
	BPF_CORE_READ_STR_INTO(&r->off_comm, other, comm);
}

/* The task because of which the one at hand waits. The verifier looks at a global function once. */
__noinline int put_by(__u64 by)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &at.nth);
	struct task_struct *t = (void *)by;
	struct task_struct___locks *runs = (void *)by;

	if (!b || !by || by == at.task)
		return 0;
	struct raw_by *r = &b->by;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->cpu = last_cpu(t);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	r->state = RAW_BY_ASLEEP;
	if (BPF_CORE_READ_BITFIELD_PROBED(runs, on_cpu))
		r->state = RAW_BY_RUNNING;
	else if (!BPF_CORE_READ(t, __state))
		r->state = RAW_BY_RUNNABLE;
	if (r->state == RAW_BY_RUNNABLE)
		read_runner(t, r);
	return 0;
}

static long put_folder(__u32 i, __u64 *dentry)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &at.nth);
	struct dentry *d = (void *)*dentry;
	struct dentry *parent = BPF_CORE_READ(d, d_parent);

	if (!b || !parent)
		return 1;
	b->file.whole = parent == d;
	if (parent == d || !put_name(&b->file, BPF_CORE_READ(d, d_name.name)))
		return 1;
	*dentry = (__u64)parent;
	return 0;
}

static long put_group(__u32 i, __u64 *node)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &at.nth);

	return b ? put_group_name(&b->cgroup, node) : 1;
}

__noinline int put_cgroup(__u64 cgroup)
{
	struct cgroup___because *c = (void *)cgroup;
	__u64 node = c ? (__u64)BPF_CORE_READ(c, kn) : 0;

	if (node)
		bpf_loop(TREE_DEPTH, put_group, &node, 0);
	return 0;
}

/* Notes the object, so that its user is found. */
__noinline int seek_user(__u64 object, __u32 kind, int owner)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &at.nth);
	__u32 i;

	for (i = 0; i < RAW_SOUGHT && i < state.n_sought; i++)
		if (state.sought[i].object == object)
			break;
	if (!b || !object || i >= RAW_SOUGHT)
		return 0;
	struct raw_sought *s = &state.sought[i];
	if (i == state.n_sought) {
		*s = (struct raw_sought){.object = object, .kind = kind, .owner = owner};
		state.n_sought = i + 1;
	}
	b->sought = i + 1;
	state.unsearched += !s->searched;
	struct task_struct *user = (void *)s->task;
	if (user && BPF_CORE_READ(user, pid) == s->pid)
		put_by((__u64)user);
	return 0;
}

static __always_inline bool is_fuse(const char *fs)
{
	return fs[0] == 'f' && fs[1] == 'u' && fs[2] == 's' && fs[3] == 'e';
}

static __always_inline void read_fs(struct raw_because *b, struct super_block___because *sb)
{
	b->dev = BPF_CORE_READ(sb, s_dev);
	bpf_probe_read_kernel_str(b->fs, sizeof(b->fs), BPF_CORE_READ(sb, s_type, name));
}

static __always_inline void read_inode(struct raw_because *b, struct inode___because *inode)
{
	struct super_block___because *sb = BPF_CORE_READ(inode, i_sb);
	__u64 alias = (__u64)BPF_CORE_READ(inode, i_dentry.first);

	read_fs(b, sb);
	if ((BPF_CORE_READ(inode, i_mode) & S_FORMAT) == S_BLOCK) {
		b->dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	if (is_fuse(b->fs)) {
		struct fuse_mount *m = BPF_CORE_READ(sb, s_fs_info);
		if (bpf_core_type_exists(struct fuse_mount))
			seek_user((__u64)BPF_CORE_READ(m, fc), RAW_SOUGHT_FS, 0);
	}
	alias = alias ? dentry_of_alias(alias) : 0;
	if (!alias)
		return;
	b->file.bytes = 0;
	bpf_loop(TREE_DEPTH, put_folder, &alias, 0);
}

/* The file of a page; 0: it is none of one. */
static __always_inline __u64 inode_of_page(__u64 page)
{
	struct folio___because *f = (void *)page;
	struct inode___because *inode;

	if (!page || !bpf_core_field_exists(f->mapping))
		return 0;
	struct address_space___because *m = BPF_CORE_READ(f, mapping);
	if (!m || (__u64)m & PTE_FLAGS)
		return 0;
	inode = BPF_CORE_READ(m, host);
	if (!inode || (__u64)inode + bpf_core_field_offset(inode->i_data) != (__u64)m)
		return 0;
	return (__u64)inode;
}

static __always_inline bool put_page(struct raw_because *b, __u64 page)
{
	__u64 inode = inode_of_page(page);

	if (inode)
		read_inode(b, (void *)inode);
	return inode;
}

/* A buffer of a block device is in a page of it. */
static __always_inline bool put_buffer(struct raw_because *b, __u64 buffer)
{
	struct buffer_head *h = (void *)buffer;
	__u64 page = (__u64)(bpf_core_field_exists(h->b_folio) ? (void *)BPF_CORE_READ(h, b_folio)
							       : (void *)BPF_CORE_READ(h, b_page));

	if (!inode_of_page(page))
		return false;
	b->dev = BPF_CORE_READ(h, b_bdev, bd_dev);
	return true;
}

static __always_inline bool put_request(struct raw_because *b, __u64 head)
{
	struct fuse_req *r = NULL;

	if (!bpf_core_type_exists(struct fuse_req) || !bpf_core_field_exists(r->fm))
		return false;
	r = (void *)(head - bpf_core_field_offset(r->waitq.head));
	struct super_block___because *sb = BPF_CORE_READ(r, fm, sb);
	char fs[16] = {0};

	if (!sb)
		return false;
	bpf_probe_read_kernel_str(fs, sizeof(fs), BPF_CORE_READ(sb, s_type, name));
	if (!is_fuse(fs))
		return false;
	read_fs(b, sb);
	seek_user((__u64)BPF_CORE_READ(r, fm, fc), RAW_SOUGHT_FS, 0);
	return true;
}

/* Is it a log? Then it has a thread of that name. */
__noinline int is_log(__u64 journal)
{
	struct journal_s *j = (void *)journal;
	struct task_struct *t = BPF_CORE_READ(j, j_task);
	char comm[16] = {0};

	if (!t)
		return false;
	BPF_CORE_READ_STR_INTO(&comm, t, comm);
	return comm[0] == 'j' && comm[1] == 'b' && comm[2] == 'd' && comm[3] == '2' &&
	       comm[4] == '/';
}

#define LOG_AT(head, member)                                                                       \
	((head)-bpf_core_field_offset(((struct journal_s *)0)->member) -                           \
	 bpf_core_field_offset(((struct wait_queue_head *)0)->head))

static __always_inline bool put_log(struct raw_because *b, __u64 head)
{
	struct journal_s *j = NULL;
	__u64 log = 0;

	if (!bpf_core_type_exists(struct journal_s))
		return false;
	if (is_log(LOG_AT(head, j_wait_done_commit)))
		log = LOG_AT(head, j_wait_done_commit);
	else if (is_log(LOG_AT(head, j_wait_transaction_locked)))
		log = LOG_AT(head, j_wait_transaction_locked);
	else if (is_log(LOG_AT(head, j_wait_updates)))
		log = LOG_AT(head, j_wait_updates);
	else if (is_log(LOG_AT(head, j_wait_reserved)))
		log = LOG_AT(head, j_wait_reserved);
	else if (bpf_core_field_exists(j->j_fc_wait) && is_log(LOG_AT(head, j_fc_wait)))
		log = LOG_AT(head, j_fc_wait);
	if (!log)
		return false;
	j = (void *)log;
	b->log = log;
	b->dev = BPF_CORE_READ(j, j_fs_dev, bd_dev);
	put_by((__u64)BPF_CORE_READ(j, j_task));
	return true;
}

/* On to the head of a queue: what precedes it is no function that wakes. */
static long find_head(__u32 i, __u64 *entry)
{
	__u64 func = word_at(*entry - 8), next = word_at(*entry);

	if (!next || !func || func >> 48 != 0xffff)
		return 1;
	*entry = next;
	return 0;
}

static __always_inline bool is_linked(__u64 entry, __u64 next)
{
	return next && next != entry && word_at(next + 8) == entry;
}

/* Is the word @i the task of an entry of a wait queue? */
static __always_inline bool look_at_entry(struct raw_because *b, __u32 i)
{
	__u64 entry = at.stack + 8ull * i + 16, head = entry;
	struct userfaultfd_ctx *ctx = (void *)word(i + 4);
	struct task_struct___because *task = (void *)at.task;

	if (!is_linked(entry, word(i + 2)))
		return false;
	if ((__u32)word(i - 2) < 64 && put_page(b, word(i - 3)))
		return true;
	if ((__u32)word(i - 3) < 64 && put_buffer(b, word(i - 4)))
		return true;
	if (bpf_core_field_exists(ctx->mm) && ctx &&
	    BPF_CORE_READ(ctx, mm) == BPF_CORE_READ(task, mm) && BPF_CORE_READ(task, mm)) {
		seek_user((__u64)ctx, 0, BPF_CORE_READ((struct task_struct *)task, tgid));
		return true;
	}
	bpf_loop(QUEUE_LENGTH, find_head, &head, 0);
	return head != entry && (put_request(b, head) || put_log(b, head));
}

/* Of the workers of a pool the one that does the work, or else one that does not sleep. */
static long look_at_worker(__u32 i, __u64 *node)
{
	__u64 head = seek.pool + bpf_core_field_offset(((struct worker_pool *)0)->workers);
	struct worker *w = (void *)(*node - bpf_core_field_offset(((struct worker *)0)->node));

	if (!*node || *node == head)
		return 1;
	*node = word_at(*node);
	seek.sure = (__u64)w + bpf_core_field_offset(w->scheduled) == seek.scheduled;
	if (seek.queue && BPF_CORE_READ(w, current_work))
		seek.sure = (__u64)BPF_CORE_READ(w, current_pwq) == seek.queue;
	if (seek.sure) {
		seek.worker = (__u64)w;
		return 1;
	}
	bool busy = BPF_CORE_READ(w, current_work);
	if (!BPF_CORE_READ(w, task, __state) || (busy && !seek.worker))
		seek.worker = (__u64)w;
	return 0;
}

static __always_inline void put_worker(struct raw_because *b, struct pool_workqueue *q,
				       __u64 scheduled, __u64 queue)
{
	struct worker_pool *pool = BPF_CORE_READ(q, pool);
	__u64 node = (__u64)BPF_CORE_READ(pool, workers.next);

	seek.pool = (__u64)pool;
	seek.scheduled = scheduled;
	seek.queue = queue;
	seek.worker = seek.sure = 0;
	bpf_loop(WORKERS, look_at_worker, &node, 0);
	BPF_CORE_READ_STR_INTO(&b->queue, q, wq, name);
	b->work = 1;
	struct worker *w = (void *)seek.worker;
	if (!w)
		return;
	put_by((__u64)BPF_CORE_READ(w, task));
	if (seek.sure)
		b->function = (__u64)BPF_CORE_READ(w, current_func);
}

static __always_inline struct pool_workqueue *queue_of(struct work_struct *w)
{
	__u64 data = BPF_CORE_READ(w, data.counter), shift = 8;

	if (!(data & WORK_HAS_QUEUE))
		return NULL;
	if (bpf_core_enum_value_exists(enum work_bits, WORK_STRUCT_PWQ_SHIFT))
		shift = bpf_core_enum_value(enum work_bits, WORK_STRUCT_PWQ_SHIFT);
	return (void *)(data >> shift << shift);
}

/*
 * A task that flushes a work has queued a barrier, a work on its own stack: next to that work, or,
 * if a worker does it already, as the first one of its list.
 */
static __always_inline bool look_at_barrier(struct raw_because *b, __u32 i)
{
	struct wq_barrier *r = NULL;
	struct work_struct *w = NULL;

	if (!bpf_core_type_exists(struct wq_barrier))
		return false;
	r = (void *)(at.stack + 8ull * i - bpf_core_field_offset(r->task));
	__u64 own = (__u64)r + bpf_core_field_offset(r->work) + bpf_core_field_offset(w->entry);
	__u64 before = (__u64)BPF_CORE_READ(r, work.entry.prev);
	__u64 func = (__u64)BPF_CORE_READ(r, work.func);
	if (!is_linked(own, (__u64)BPF_CORE_READ(r, work.entry.next)) || !func)
		return false;
	struct pool_workqueue *q = queue_of(&r->work);
	if (!q)
		return false;
	for (int n = 0; n < BARRIERS; n++) {
		w = (void *)(before - bpf_core_field_offset(w->entry));
		if ((__u64)BPF_CORE_READ(w, func) != func)
			break;
		before = (__u64)BPF_CORE_READ(w, entry.prev);
	}
	put_worker(b, q, before, 0);
	if (!seek.sure)
		b->function = (__u64)BPF_CORE_READ(w, func);
	return true;
}

/* Is it a workqueue that waits for the flusher? */
struct flush {
	__u64 flusher, queue;
};

static long find_queue(__u32 i, struct flush *f)
{
	struct workqueue_struct *q;

	if (i >= STACK_WORDS)
		return 1;
	q = (void *)word(i);
	if ((__u64)q >> 48 != 0xffff || (__u64)BPF_CORE_READ(q, first_flusher) != f->flusher)
		return 0;
	f->queue = (__u64)q;
	return 1;
}

struct in_flight {
	__u64 node, end, found;
	__u32 color;
};

static long find_in_flight(__u32 i, struct in_flight *f)
{
	struct pool_workqueue *q = NULL;
	int n = 0;

	if (!f->node || f->node == f->end)
		return 1;
	q = (void *)(f->node - bpf_core_field_offset(q->pwqs_node));
	f->node = word_at(f->node);
	bpf_probe_read_kernel(&n, sizeof(n),
			      (void *)((__u64)q + bpf_core_field_offset(q->nr_in_flight) +
				       4ull * (f->color & 15)));
	f->found = n > 0 ? (__u64)q : 0;
	return n > 0;
}

/* A task that flushes a whole workqueue waits for works of one color in all of its queues. */
static __always_inline bool look_at_flusher(struct raw_because *b, __u32 i)
{
	struct swait_queue *s = NULL;
	struct wq_flusher *f = NULL;
	__u64 entry = at.stack + 8ull * i + bpf_core_field_offset(s->task_list);
	__u64 head = word(i + 1);

	if (!bpf_core_type_exists(struct wq_flusher) || !is_linked(entry, head) ||
	    word_at(head) != entry)
		return false;
	f = (void *)(head - bpf_core_field_offset(f->done.wait.task_list));
	__u64 list = (__u64)f + bpf_core_field_offset(f->list);
	struct flush by = {.flusher = (__u64)f};
	if (!word_at(list) || word_at(word_at(list) + 8) != list)
		return false;
	bpf_loop(STACK_WORDS, find_queue, &by, 0);
	if (!by.queue)
		return false;
	struct workqueue_struct *q = (void *)by.queue;
	struct in_flight of = {.node = (__u64)BPF_CORE_READ(q, pwqs.next),
			       .end = by.queue + bpf_core_field_offset(q->pwqs),
			       .color = (__u32)BPF_CORE_READ(f, flush_color)};
	bpf_loop(QUEUES_OF_WORK, find_in_flight, &of, 0);
	if (of.found)
		put_worker(b, (void *)of.found, 0, of.found);
	return of.found;
}

static long look_at_word(__u32 i, void *ctx)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &at.nth);

	if (!b || i < BEFORE || i >= STACK_WORDS - AFTER)
		return 0;
	if (word(i) != at.task)
		return 0;
	return look_at_barrier(b, i) || look_at_entry(b, i) || look_at_flusher(b, i);
}

static __always_inline void read_stack(struct task_struct___because *t)
{
	at.stack = stack_of((void *)t);
	for (__u32 i = 0; i < STACK_WORDS; i += STACK_PART)
		/* Words that cannot be read are zero then. */
		bpf_probe_read_kernel(&at.words[i], STACK_PART * 8, (void *)(at.stack + 8ull * i));
	bpf_loop(STACK_WORDS, look_at_word, NULL, 0);
}

/* The cgroup at or above @css whose memory is all in use. */
static __always_inline void put_full(struct cgroup_subsys_state___because *css)
{
	struct mem_cgroup *m = NULL;
	__u64 memory, off;

	if (!css || !bpf_core_type_exists(struct mem_cgroup))
		return;
	m = (void *)((__u64)css - bpf_core_field_offset(m->css));
	off = bpf_core_field_offset(m->memory);
	memory = (__u64)m + off;
	for (int i = 0; memory && i < THROTTLED_DEPTH; i++) {
		struct page_counter *p = (void *)memory;
		__u64 used = BPF_CORE_READ(p, usage.counter);
		if (used + CHARGED >= BPF_CORE_READ(p, max) || used > BPF_CORE_READ(p, high)) {
			m = (void *)(memory - off);
			put_cgroup((__u64)BPF_CORE_READ(m, css.cgroup));
			return;
		}
		memory = (__u64)BPF_CORE_READ(p, parent);
	}
}

#define CSS_OF(set, id)                                                                            \
	((struct cgroup_subsys_state___because *)word_at(                                          \
		(__u64)(set) + bpf_core_field_offset((set)->subsys) +                              \
		8ull * bpf_core_enum_value(enum cgroup_subsys_id___because, id)))

/* The cgroup at or above @css that is frozen, in the freezer's own hierarchy, or in the common one.
 */
static __always_inline void put_frozen(struct css_set___because *set)
{
	struct cgroup_subsys_state___because *css = NULL;
	struct cgroup___because *c = BPF_CORE_READ(set, dfl_cgrp);
	struct freezer *f = NULL;

	if (bpf_core_field_exists(c->freezer.e_freeze) && c && BPF_CORE_READ(c, freezer.e_freeze)) {
		put_cgroup((__u64)c);
		return;
	}
	if (!bpf_core_field_exists(f->state) ||
	    !bpf_core_enum_value_exists(enum cgroup_subsys_id___because, freezer_cgrp_id))
		return;
	css = CSS_OF(set, freezer_cgrp_id);
	for (int i = 0; css && i < THROTTLED_DEPTH; i++) {
		f = (void *)((__u64)css - bpf_core_field_offset(f->css));
		if (BPF_CORE_READ(f, state) & FREEZING_ITSELF) {
			put_cgroup((__u64)BPF_CORE_READ(css, cgroup));
			return;
		}
		css = BPF_CORE_READ(css, parent);
	}
}

static __always_inline void read_cgroups(struct task_struct___because *t, __u32 state_is)
{
	struct css_set___because *set = BPF_CORE_READ(t, cgroups);
	struct cfs_rq___cap *q = NULL;

	if (state_is == RAW_STATE_THROTTLED) {
		q = (void *)throttled_queue((void *)t);
		if (q)
			put_cgroup((__u64)BPF_CORE_READ(q, tg, css.cgroup));
		return;
	}
	if (!set || BPF_CORE_READ(t, flags) & TASK_KTHREAD)
		return;
	/* That of cgroup v2 sleeps in state S. */
	if (BPF_CORE_READ(t, __state) & STATE_FROZEN || state_is == RAW_STATE_S)
		put_frozen(set);
	else if (bpf_core_enum_value_exists(enum cgroup_subsys_id___because, memory_cgrp_id))
		put_full(CSS_OF(set, memory_cgrp_id));
}

/* The task that stopped it, or that writes its core. */
static __always_inline void read_process(struct raw_because *b, struct task_struct___because *t)
{
	struct core_state *core = NULL;
	struct signal_struct___because *s = BPF_CORE_READ(t, signal);

	if (BPF_CORE_READ(t, __state) & STATE_TRACED && BPF_CORE_READ(t, ptrace))
		put_by((__u64)BPF_CORE_READ(t, parent));
	if (!s || !bpf_core_field_exists(s->core_state))
		return;
	core = BPF_CORE_READ(s, core_state);
	if (core)
		put_by((__u64)BPF_CORE_READ(core, dumper.task));
}

/* The log of which it has a handle open: its commit waits for that. */
static __always_inline void read_handle(struct raw_because *b, struct task_struct___because *t)
{
	struct jbd2_journal_handle *h = BPF_CORE_READ(t, journal_info);

	if (!h || !bpf_core_type_exists(struct jbd2_journal_handle))
		return;
	__u64 log = (__u64)BPF_CORE_READ(h, h_transaction, t_journal);
	if (log && is_log(log))
		b->open = log;
}

static long look_at_task(__u32 i, void *ctx)
{
	struct raw_because *b = bpf_map_lookup_elem(&because, &i);
	struct raw_blocked *r = bpf_map_lookup_elem(&blocked, &i);

	if (!b || !r || i >= state.n)
		return 1;
	__builtin_memset(b, 0, __builtin_offsetof(struct raw_because, file));
	b->file.bytes = b->cgroup.bytes = b->file.whole = b->cgroup.whole = 0;
	struct task_struct___because *t = (void *)r->task;
	if (ns_tid((void *)t, &config.ns) != r->tid)
		return 0;
	b->tid = r->tid;
	at.task = r->task;
	at.nth = i;
	read_cgroups(t, r->state);
	if (r->state == RAW_STATE_THROTTLED)
		return 0;
	read_process(b, t);
	read_handle(b, t);
	if (r->state != RAW_STATE_STOPPED)
		read_stack(t);
	return 0;
}

SEC("raw_tp")
int find_objects(void *ctx)
{
	state.unsearched = 0;
	bpf_loop(RAW_BECAUSE, look_at_task, NULL, 0);
	return 0;
}

/* Of an open /dev/fuse. */
static __always_inline __u64 connection_of(__u64 device)
{
	struct fuse_dev *d = (void *)device;
	struct fuse_dev___chan *newer = (void *)device;

	if (bpf_core_field_exists(d->fc))
		return (__u64)BPF_CORE_READ(d, fc);
	if (bpf_core_field_exists(newer->chan))
		return (__u64)BPF_CORE_READ(newer, chan, conn);
	return 0;
}

/* Who has a descriptor of a sought object? */
SEC("iter/task_file")
int find_users(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file___because *f = (void *)ctx->file;

	if (!t || !f)
		return 0;
	__u64 of = (__u64)BPF_CORE_READ(f, private_data), fs = 0;
	if (BPF_CORE_READ(f, f_inode, i_rdev) == FUSE_DEVICE)
		fs = connection_of(of & ~1ull); /* a flag from 6.18 on */
	for (__u32 i = 0; i < RAW_SOUGHT && i < state.n_sought; i++) {
		struct raw_sought *s = &state.sought[i];
		if (!of || s->object != (s->kind == RAW_SOUGHT_FS ? fs : of))
			continue;
		if (s->task && (s->pid != s->owner || BPF_CORE_READ(t, tgid) == s->owner))
			continue;
		s->task = (__u64)BPF_CORE_READ(t, group_leader);
		s->pid = BPF_CORE_READ(t, tgid);
	}
	return 0;
}
