// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads uprobes out of the running kernel, without locks and without changing anything: the areas
 * of out-of-line slots, the tasks in them and those that wait for a slot, and the perf events that
 * count uprobes. Programs are run on demand, never attached to anything that happens.
 *
 * One walk through all tasks finds all of that: an event is in the list of the task that opened it.
 * Lists are walked while others change them: what is followed is read by probe reads, which fail
 * where there is nothing, and `torn` counts walks that did not come back to the list's head.
 */
#include "kernel/uprobe.h"

#include "kernel/ns.h"
#include "kernel/walk-files.h"
#include "shared.h"

char license_text[] SEC("license") = "GPL";

/* One object each, so that user space finds them at the front of their sections. */
const volatile struct up_config config = {0};
struct up_state state = {0};

ARRAY(areas, struct up_area, UP_AREAS);
ARRAY(tasks, struct up_task, UP_TASKS);
ARRAY(events, struct up_event, UP_EVENTS);
ARRAY(holders, struct up_holder, UP_HOLDERS);
ARRAY(own, struct up_own, UP_OWN);

/* Only shows how far apart per-CPU memory of two CPUs is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} anchor SEC(".maps");

static __always_inline void copy_comm(char *to, struct task_struct___up *t)
{
	BPF_CORE_READ_STR_INTO((char(*)[16])to, t, comm);
}

static __always_inline __u32 bits_of(__u64 x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (__u32)(x * 0x0101010101010101ull >> 56);
}

struct count {
	__u64 bitmap;
	__u32 bits;
};

static long count_word(__u32 i, struct count *c)
{
	__u64 word = 0;

	if (i >= config.words)
		return 1;
	if (bpf_probe_read_kernel(&word, sizeof(word), (void *)(c->bitmap + i * 8ull)))
		return 1;
	c->bits += bits_of(word);
	return 0;
}

/*
 * Global functions are verified once, however many programs and loops call them; their arguments
 * must be plain numbers.
 */
__noinline int put_task(__u64 task, __u32 kind, __u64 mm)
{
	struct task_struct___up *t = (void *)task;
	struct uprobe_task *u = BPF_CORE_READ(t, utask);
	__u32 i = state.n_tasks;
	struct up_task *r = bpf_map_lookup_elem(&tasks, &i);

	if (!r) {
		state.dropped++;
		return 0;
	}
	state.n_tasks = i + 1;
	r->mm = mm;
	r->kind = kind;
	r->pid = ns_pid((void *)t, &config.ns);
	r->tid = ns_tid((void *)t, &config.ns);
	r->depth = BPF_CORE_READ(u, depth);
	r->slot_vaddr = kind == UP_STEP ? BPF_CORE_READ(u, xol_vaddr) : 0;
	r->offset = ~0ull;
	if (kind == UP_STEP)
		r->offset = BPF_CORE_READ(u, active_uprobe, offset);
	copy_comm(r->comm, t);
	return 0;
}

struct waiters {
	__u64 head, node, mm;
};

static long put_waiter(__u32 i, struct waiters *w)
{
	__u64 next = 0, task = 0;
	struct wait_queue_entry *e = NULL;

	if (!w->node || w->node == w->head)
		return 1;
	e = (void *)(w->node - bpf_core_field_offset(e->entry));
	bpf_core_read(&task, sizeof(task), &e->private);
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)w->node) || !task)
		return 1;
	put_task(task, UP_WAIT, w->mm);
	w->node = next;
	return 0;
}

static __always_inline void put_waiters(struct xol_area *area, __u64 mm)
{
	struct waiters w = {.head = (__u64)area + bpf_core_field_offset(area->wq.head), .mm = mm};

	if (bpf_probe_read_kernel(&w.node, sizeof(w.node), (void *)w.head) || w.node == w.head)
		return;
	bpf_loop(UP_WALK, put_waiter, &w, 0);
	if (w.node != w.head)
		state.torn++;
}

static __always_inline void put_area(struct task_struct___up *t)
{
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	struct xol_area *area = BPF_CORE_READ(mm, uprobes_state.xol_area);
	struct count c = {0};
	__u32 i = state.n_areas;

	if (!area)
		return;
	struct up_area *r = bpf_map_lookup_elem(&areas, &i);
	if (!r) {
		state.dropped++;
		return;
	}
	state.n_areas = i + 1;
	c.bitmap = (__u64)BPF_CORE_READ(area, bitmap);
	bpf_loop(UP_WORDS, count_word, &c, 0);
	r->mm = (__u64)mm;
	r->vaddr = BPF_CORE_READ(area, vaddr);
	r->bits = c.bits;
	r->pid = ns_pid((void *)t, &config.ns);
	BPF_CORE_READ_STR_INTO(&r->comm, t, group_leader, comm);
	put_waiters(area, (__u64)mm);
}

struct hits {
	__u64 pointer, sum;
	__u32 record;
};

static long add_hits(__u32 cpu, struct hits *h)
{
	struct up_event *r = bpf_map_lookup_elem(&events, &h->record);
	__u64 n = 0, i = cpu, offset;

	barrier_var(i);
	if (i >= config.n_cpus || i >= UP_CPUS || !r)
		return 1;
	if (!state.anchor[i])
		return 0;
	offset = state.anchor[i] - state.anchor_pointer;
	if (bpf_probe_read_kernel(&n, sizeof(n), (void *)(h->pointer + offset)))
		return 0;
	h->sum += n;
	barrier_var(i);
	if (i < UP_EVENT_CPUS)
		r->cpu_hits[i] = n;
	return 0;
}

/* Hits of the probe, whichever event counts them. */
__noinline int read_hits(__u64 uprobe, __u32 record)
{
	struct trace_uprobe *u = (void *)uprobe;
	struct hits h = {.record = record};
	struct up_event *r = bpf_map_lookup_elem(&events, &record);

	struct trace_uprobe___percpu *p = (void *)uprobe;
	if (bpf_core_field_exists(p->nhits)) {
		bpf_core_read(&h.pointer, sizeof(h.pointer), &p->nhits);
		bpf_loop(UP_CPUS, add_hits, &h, 0);
	} else if (bpf_core_field_exists(u->nhit)) {
		bpf_core_read(&h.sum, sizeof(h.sum), &u->nhit);
	}
	if (r)
		r->hits = h.sum;
	return 0;
}

/* The file as it was opened then: its path may be another one's now. */
static __always_inline void read_file(struct up_event *r, struct trace_uprobe *u)
{
	struct trace_uprobe___placed *p = (void *)u;
	struct inode___placed *inode = NULL;

	r->ino = r->dev = 0;
	if (!bpf_core_field_exists(p->path))
		return;
	inode = BPF_CORE_READ(p, path.dentry, d_inode);
	r->ino = BPF_CORE_READ(inode, i_ino);
	r->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* The place of the probe, from the call's list of probes: the first one has it. */
static __always_inline void read_probe(struct up_event *r, __u64 call, __u32 record)
{
	struct trace_probe_event *e = NULL;
	struct trace_uprobe *u = NULL;
	__u64 node = 0;

	e = (void *)(call - bpf_core_field_offset(e->call));
	bpf_core_read(&node, sizeof(node), &e->probes.next);
	u = (void *)(node - bpf_core_field_offset(u->tp.list));
	r->offset = BPF_CORE_READ(u, offset);
	r->ref_ctr = BPF_CORE_READ(u, ref_ctr_offset);
	if (BPF_CORE_READ(u, consumer.ret_handler))
		r->flags |= UP_RETURN;
	if (bpf_probe_read_kernel_str(r->path, sizeof(r->path), BPF_CORE_READ(u, filename)) < 0)
		r->path[0] = 0;
	read_file(r, u);
	read_hits((__u64)u, record);
}

static __always_inline void read_who(struct up_event *r, struct perf_event *e)
{
	struct task_struct *owner = BPF_CORE_READ(e, owner), *target = BPF_CORE_READ(e, hw.target);

	r->owner_pid = r->target_pid = 0;
	r->comm[0] = 0;
	if (owner && (__s64)owner < -4096) {
		r->owner_pid = ns_pid(owner, &config.ns);
		BPF_CORE_READ_STR_INTO(&r->comm, owner, group_leader, comm);
	}
	if (target && (__s64)target < -4096)
		r->target_pid = ns_pid(target, &config.ns);
}

static __always_inline void read_event(struct up_event *r, struct perf_event *e, __u64 call)
{
	struct trace_event_call *c = (void *)call;

	r->event = (__u64)e;
	r->call = call;
	r->id = BPF_CORE_READ(e, id);
	r->cpu = BPF_CORE_READ(e, cpu);
	bpf_probe_read_kernel_str(r->group, sizeof(r->group), BPF_CORE_READ(c, class, system));
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), BPF_CORE_READ(c, name));
	if (BPF_CORE_READ((struct perf_event___up *)e, prog))
		r->flags |= UP_BPF;
	read_who(r, e);
}

__noinline int put_event(__u64 addr, __u32 flags)
{
	struct perf_event *e = (void *)addr;
	__u64 call = (__u64)BPF_CORE_READ(e, tp_event);
	__u32 i = state.n_events;

	if (!call || !config.uprobe_flag)
		return 0;
	if (!(BPF_CORE_READ((struct trace_event_call *)call, flags) & config.uprobe_flag))
		return 0;
	struct up_event *r = bpf_map_lookup_elem(&events, &i);
	if (!r) {
		state.dropped++;
		return 0;
	}
	state.n_events = i + 1;
	r->flags = flags;
	if ((int)BPF_CORE_READ(e, attr.type) == config.uprobe_type)
		r->flags |= UP_LOCAL;
	read_event(r, e, call);
	read_probe(r, call, i);
	return 0;
}

struct walk {
	__u64 head, node;
};

static long walk_step(__u32 i, struct walk *w)
{
	__u64 next = 0;

	if (!w->node || w->node == w->head)
		return 1;
	put_event(w->node - bpf_core_field_offset(((struct perf_event___up *)0)->owner_entry), 0);
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)w->node))
		return 1;
	w->node = next;
	return 0;
}

static __always_inline void put_events(struct task_struct___up *t)
{
	struct walk w = {.head = (__u64)t + bpf_core_field_offset(t->perf_event_list)};

	if (bpf_probe_read_kernel(&w.node, sizeof(w.node), (void *)w.head) || w.node == w.head)
		return;
	bpf_loop(UP_WALK, walk_step, &w, 0);
	if (w.node != w.head)
		state.torn++;
}

/* The task as a plain number, which global functions take: by way of memory. */
static __always_inline __u64 number_of(void *t)
{
	volatile __u64 *at = (volatile __u64 *)&state.scratch;

	*at = (__u64)t;
	return *at;
}

/* The mm is that of all threads: one of them represents it, the leader unless it has exited. */
static __always_inline bool reports_of_mm(struct task_struct___up *t)
{
	struct task_struct___up *leader = BPF_CORE_READ(t, group_leader);

	return BPF_CORE_READ(t, pid) == BPF_CORE_READ(t, tgid) || !BPF_CORE_READ(leader, mm);
}

static __always_inline int read_task(struct task_struct___up *t)
{
	struct uprobe_task *u;

	__u64 mm = (__u64)BPF_CORE_READ(t, mm);
	if (mm && reports_of_mm(t))
		put_area(t);
	u = BPF_CORE_READ(t, utask);
	if (u && mm) {
		if (BPF_CORE_READ(u, state) != UTASK_RUNNING)
			put_task(number_of(t), UP_STEP, mm);
		else if (BPF_CORE_READ(u, depth))
			put_task(number_of(t), UP_RETURNS, mm);
	}
	if (config.has_uprobe_events)
		put_events(t);
	return 0;
}

SEC("iter/task")
int read_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	return t ? read_task((void *)t) : 0;
}

__noinline int see_task(__u64 task)
{
	return read_task((void *)task);
}

WALK_TASKS(walk_tasks, see_task, state.torn)

static __always_inline void learn_fops(__u32 fd, __u64 fops)
{
	if ((int)fd == state.perf_fd)
		state.perf_fops = fops;
	if ((int)fd == state.link_fd)
		state.link_fops = fops;
}

/* Holders of descriptors of events and links: these live as long as they have one. */
static __always_inline int read_holder(struct task_struct *t, struct file *f, __u32 fd, __u64 fops)
{
	__u32 i = state.n_holders;

	if ((int)fd == state.perf_fd || (int)fd == state.link_fd)
		if (ns_pid(t, &config.ns) == config.self)
			learn_fops(fd, fops);
	bool is_event = state.perf_fops && fops == state.perf_fops;
	bool is_link = state.link_fops && fops == state.link_fops;
	if (!is_event && !is_link)
		return 0;
	struct up_holder *r = bpf_map_lookup_elem(&holders, &i);
	if (!r) {
		state.dropped++;
		return 0;
	}
	state.n_holders = i + 1;
	void *data = BPF_CORE_READ(f, private_data);
	r->event = is_event ? (__u64)data : 0;
	r->link = is_link ? BPF_CORE_READ((struct bpf_link *)data, id) : 0;
	r->pid = ns_pid(t, &config.ns);
	BPF_CORE_READ_STR_INTO(&r->comm, t, group_leader, comm);
	if (is_event && config.has_uprobe_events)
		put_event(r->event, UP_BY_FD);
	return 0;
}

SEC("iter/task_file")
int read_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;

	return t && f ? read_holder(t, f, ctx->fd, (__u64)f->f_op) : 0;
}

__noinline int see_file(__u64 task, __u64 file, __u32 fd)
{
	struct file *f = (void *)file;

	return read_holder((void *)task, f, fd, (__u64)BPF_CORE_READ(f, f_op));
}

WALK_FILES(walk_holders, see_file, state.torn)

/*
 * Counts hits of a probe of our own: the only program here that is attached. The kernel's count of
 * a probe includes all processes, whatever process the probe is for, if there is another one at the
 * same place; the event's own count is of one thread. This program gets the hits of the process,
 * except returns, which are those of all processes.
 */
SEC("kprobe")
int count_own(void *ctx)
{
	__u32 i = (__u32)bpf_get_attach_cookie(ctx);
	__u64 cpu = bpf_get_smp_processor_id();
	struct up_own *o = bpf_map_lookup_elem(&own, &i);

	barrier_var(cpu);
	if (!o || cpu >= UP_CPUS)
		return 0;
	if (o->pid && o->pid != ns_pid((void *)bpf_get_current_task(), &config.ns))
		return 0;
	/* A task may be preempted here by another one that hits it. */
	__sync_fetch_and_add(&o->hits[cpu], 1);
	return 0;
}

/* Once on each CPU: where the value of our per-CPU map is there. */
SEC("raw_tp")
int learn_anchor(void *ctx)
{
	__u64 cpu = bpf_get_smp_processor_id();
	__u32 zero = 0;
	void *value = bpf_map_lookup_elem(&anchor, &zero);

	state.anchor_map = (__u64)&anchor;
	barrier_var(cpu);
	if (value && cpu < UP_CPUS)
		state.anchor[cpu] = (__u64)value;
	return 0;
}

/* And what the kernel adds each CPU's offset to. */
SEC("raw_tp")
int learn_pointer(void *ctx)
{
	struct bpf_array *a = (void *)state.anchor_map;

	bpf_core_read(&state.anchor_pointer, sizeof(state.anchor_pointer), &a->pptrs);
	return 0;
}
