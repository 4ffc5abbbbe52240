// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up for how long the threads of each process have run on CPUs. A wait takes what was added
 * while it lasted, without the time of its own thread. That time, divided by the length of the
 * wait, is how many other threads ran meanwhile. waits.bpf.c includes this file.
 *
 * A process has the place that its number selects in a table, and leaves it to another one only
 * after a second without a thread on a CPU: waits of a process without a place have no figure. A
 * place is one word: in its lower bits how many threads run, above them the time, from which the
 * present time is taken where a thread comes to a CPU. Where it leaves that is added again, with
 * the time that the kernel has counted for the thread. So a switch is two additions, in no order,
 * and a reader gets both parts at once. A CPU remembers in which place it has counted its thread:
 * only that is taken back. Nothing is counted where one thread of a process follows another one,
 * and for a process with one thread: there no other one runs.
 */
#include "kontend/parclock.h"

enum { PAR_PLACES = 4096, PAR_COUNT = PARCLOCK_CPUS - 1 };

#define PAR_LEAVES_NS 1000000000ull

/* In a cache line of its own. */
struct par_place {
	__u64 owner; /* the process, and in the upper half how many have had it */
	__u64 word, used_ns;
	__u64 pad[5];
};

struct par_place par_places[PAR_PLACES] SEC(".data.par") = {{.pad = {1}}};

/* The thread on a CPU: since when, and how long it had run before. */
struct par_cpu {
	__u64 in_ns, in_ran;
	__u32 tid, place; /* + 1; 0: it is not counted */
	__u64 alone;	  /* its process has no other thread */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct par_cpu);
} par_cpus SEC(".maps");

static __always_inline struct par_cpu *par_cpu(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&par_cpus, &first);
}

static __always_inline bool par_is_alone(struct task_struct___user *t)
{
	return t->signal->nr_threads == 1;
}

/* Of such a process: no place has had 0 processes. */
static __always_inline __u64 par_none(__u32 tgid)
{
	return parclock(tgid, 0);
}

static __always_inline bool par_is_of(struct par_place *p, __u32 tgid, __u64 now)
{
	__u64 owner = *(volatile __u64 *)&p->owner;
	__u64 mine = ((owner >> 32) + 1) << 32 | tgid;

	if ((__u32)owner == tgid)
		return true;
	if (p->word & PAR_COUNT || (owner && now - p->used_ns < PAR_LEAVES_NS))
		return false;
	return __sync_val_compare_and_swap(&p->owner, owner, mine) == owner;
}

static __always_inline void par_comes(struct par_cpu *c, struct task_struct___user *t)
{
	__u32 tgid = (__u32)t->tgid, at = tgid & (PAR_PLACES - 1);
	struct par_place *p = &par_places[at];
	__u64 now;

	c->place = 0;
	c->alone = t->pid && par_is_alone(t);
	if (!t->pid || c->alone)
		return;
	now = bpf_ktime_get_ns();
	c->tid = (__u32)t->pid;
	c->in_ns = now;
	c->in_ran = t->se.sum_exec_runtime;
	if (!par_is_of(p, tgid, now))
		return;
	p->used_ns = now;
	__sync_fetch_and_add(&p->word, 1 - (now << (64 - PARCLOCK_BITS)));
	c->place = at + 1;
}

static __always_inline void par_leaves(struct par_cpu *c, struct task_struct___user *t)
{
	__u64 until = c->in_ns + t->se.sum_exec_runtime - c->in_ran;
	__u32 at = (c->place - 1) & (PAR_PLACES - 1);

	if (c->place && c->tid == (__u32)t->pid)
		__sync_fetch_and_add(&par_places[at].word, (until << (64 - PARCLOCK_BITS)) - 1);
	c->place = 0;
}

static __always_inline void par_switch(struct task_struct___user *prev,
				       struct task_struct___user *next)
{
	struct par_cpu *c = par_cpu();

	if (!c)
		return;
	if (c->place && c->tid == (__u32)prev->pid && prev->tgid == next->tgid) {
		c->tid = (__u32)next->pid;
		c->in_ns = bpf_ktime_get_ns();
		c->in_ran = next->se.sum_exec_runtime;
		return;
	}
	par_leaves(c, prev);
	par_comes(c, next);
}

/* The time of the others at @now, where a thread of @tgid has run for @ran; 0: not known. */
static __always_inline __u64 par_less(__u32 tgid, __u64 ran, __u64 now)
{
	const struct par_place *p = &par_places[tgid & (PAR_PLACES - 1)];
	__u64 owner = *(volatile __u64 *)&p->owner, word = *(volatile __u64 *)&p->word;

	if ((__u32)owner != tgid)
		return 0;
	return parclock((__u32)(owner >> 32) ^ tgid,
			(word >> (64 - PARCLOCK_BITS)) + (word & PAR_COUNT) * now - ran);
}

/* The same for the thread on this CPU. */
static __always_inline __u64 par_here(__u32 tgid, __u64 now)
{
	struct par_cpu *c = config.idle && idle_state.since_ns ? par_cpu() : NULL;

	if (c && c->alone)
		return par_is_alone((void *)bpf_get_current_task_btf()) ? par_none(tgid) : 0;
	return c && c->place ? par_less(tgid, c->in_ran + now - c->in_ns, now) : 0;
}

/* And for one that has just left it. */
static __always_inline __u64 par_gone(struct task_struct___user *t, __u64 now)
{
	if (!config.idle || !idle_state.since_ns)
		return 0;
	if (par_is_alone(t))
		return par_none((__u32)t->tgid);
	return par_less((__u32)t->tgid, t->se.sum_exec_runtime, now);
}

/* Of the thread that runs here when it begins. */
static __always_inline void par_look(struct task_struct___user *t)
{
	struct par_cpu *c = par_cpu();

	if (c && !c->place && !c->alone)
		par_comes(c, t);
}
