/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A walk through all tasks, whatever namespace they are in: iterators show those of the reader's.
 * It follows the kernel's list of processes from the caller around to itself, and of each process
 * that of its threads, as for_each_process_thread() does: under RCU, in which programs run, what
 * leaves a list still leads on.
 */
#ifndef KONTEND_INSPECT_KERNEL_WALK_H
#define KONTEND_INSPECT_KERNEL_WALK_H

#include "base.h"
#include "words.h"

enum { WALK_MOST = 1 << 20 };

struct signal_struct {
	struct list_head thread_head;
} CORE;

struct task_struct___walk {
	struct list_head tasks, thread_node;
	struct signal_struct *signal;
	struct task_struct *group_leader;
} CORE;

struct walk_tasks {
	__u64 first, leader; /* processes */
	__u64 task;	     /* what the round is about */
	__u64 threads;	     /* head of the list of the leader's threads */
	__u32 ended;	     /* all have been seen */
};

static __always_inline void walk_into(struct walk_tasks *w, __u64 leader)
{
	struct task_struct___walk *t = (void *)leader;
	struct signal_struct *s = BPF_CORE_READ(t, signal);

	w->leader = w->task = leader;
	w->threads = s ? (__u64)s + bpf_core_field_offset(s->thread_head) : 0;
	if (w->threads)
		w->task = word_at(w->threads) - bpf_core_field_offset(t->thread_node);
	/* Those that have ended all have left the list. */
	if (w->task == w->threads - bpf_core_field_offset(t->thread_node))
		w->task = leader;
}

static __always_inline void walk_begin(struct walk_tasks *w)
{
	struct task_struct___walk *t = (void *)bpf_get_current_task();

	w->first = (__u64)BPF_CORE_READ(t, group_leader);
	w->ended = 0;
	walk_into(w, w->first);
}

/* On to the next task. False: there is none. */
static __always_inline bool walk_on(struct walk_tasks *w)
{
	struct task_struct___walk *t = (void *)w->task, *leader = (void *)w->leader;
	__u64 next = (__u64)BPF_CORE_READ(t, thread_node.next);

	if (w->threads && next && next != w->threads) {
		w->task = next - bpf_core_field_offset(t->thread_node);
		return true;
	}
	next = (__u64)BPF_CORE_READ(leader, tasks.next);
	if (!next)
		return false;
	next -= bpf_core_field_offset(leader->tasks);
	w->ended = next == w->first;
	if (!w->ended)
		walk_into(w, next);
	return !w->ended;
}

/* Programs that go through all tasks: @each(number of the task's address), @torn: a counter. */
#define WALK_TASKS(program, each, torn)                                                            \
	static long program##_round(__u32 i, struct walk_tasks *w)                                 \
	{                                                                                          \
		each(w->task);                                                                     \
		return !walk_on(w);                                                                \
	}                                                                                          \
                                                                                                   \
	SEC("raw_tp")                                                                              \
	int program(void *ctx)                                                                     \
	{                                                                                          \
		struct walk_tasks w = {0};                                                         \
                                                                                                   \
		walk_begin(&w);                                                                    \
		bpf_loop(WALK_MOST, program##_round, &w, 0);                                       \
		if (!w.ended)                                                                      \
			(torn)++;                                                                  \
		return 0;                                                                          \
	}

#endif
