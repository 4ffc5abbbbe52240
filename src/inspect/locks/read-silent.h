/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits that no event of the kernel reports, of a task that sleeps in state D: by the kernel's own
 * data, as no function has to be known for that. Saved registers on the stack of the task have the
 * address of the lock.
 */
#ifndef KONTEND_INSPECT_READ_SILENT_H
#define KONTEND_INSPECT_READ_SILENT_H

#include "kernel/silent.h"
#include "kernel/words.h"

#include "read-stack.h"
#include "sleepers-shared.h"

/* The search on the stack of one task: see `search` in readers.bpf.c. */
struct silent {
	__u64 task, mm;
	__u64 vma; /* that one; 0: one that its task waits for, or a percpu-rwsem */
	__u64 found, entry;
	__u64 sp, end; /* of the stack that is in use */
	__u32 part, n;
	__u64 words[RAW_SILENT_WORDS];
} silent = {0};

static __always_inline bool is_list(__u64 head)
{
	__u64 next = word_at(head);

	return next && word_at(next + bpf_core_field_offset(((struct list_head *)0)->prev)) == head;
}

/* A range of addresses of a program. */
static __always_inline bool is_range(__u64 start, __u64 past)
{
	return start < past && (__s64)past > 0 && !((start | past) & 4095);
}

/* The task has the mmap_lock; PREEMPT_RT has no such word. */
static __always_inline bool may_change(__u64 mm)
{
	struct mm_struct *m = (void *)mm;

	if (!bpf_core_field_exists(m->mmap_lock.owner))
		return true;
	return (word_at(mm + bpf_core_field_offset(m->mmap_lock.owner)) & ~7ull) == silent.task;
}

/* The address space of the mapping at @at, if the task waits until its readers are through. */
static __always_inline __u64 mm_if_waited_for(__u64 at)
{
	struct vm_area_struct___silent *v = (void *)at;
	struct mm_struct___silent *mm = NULL;
	__u64 of;

	if (!bpf_core_field_exists(v->vm_refcnt) || !bpf_core_field_exists(mm->vma_writer_wait))
		return 0;
	of = word_at(at + bpf_core_field_offset(v->vm_mm));
	if ((__s64)of >= 0 ||
	    word_at(of + bpf_core_field_offset(mm->vma_writer_wait.task)) != silent.task ||
	    !may_change(of) ||
	    !is_range(word_at(at + bpf_core_field_offset(v->vm_start)),
		      word_at(at + bpf_core_field_offset(v->vm_end))))
		return 0;
	return number_at(at + bpf_core_field_offset(v->vm_refcnt)) & VMA_LOCK_OFFSET ? of : 0;
}

/* The task is in the queue of a lock, by an entry that it has on its stack. */
static __always_inline __u32 queued_part(void)
{
	struct wait_queue_entry *e = NULL;

	if (!silent.entry)
		return RAW_NO_PART;
	return number_at(silent.entry + bpf_core_field_offset(e->flags)) & WQ_FLAG_CUSTOM
		       ? RAW_READS_PART
		       : RAW_WRITES_PART;
}

/*
 * The part of a wait in which the task is, if there is a percpu-rwsem at @at; RAW_NO_PART: there is
 * none, or it does not wait. While a writer waits for readers the lock names it.
 */
static __always_inline __u32 percpu_part(__u64 at)
{
	struct percpu_rw_semaphore *s = (void *)at;
	struct percpu_rw_semaphore___silent *r = (void *)at;
	__u64 writer = word_at(at + bpf_core_field_offset(s->writer.task));
	int block = number_at(at + bpf_core_field_offset(s->block));
	int state = number_at(at + bpf_core_field_offset(r->rss.gp_state));

	if (number_at(at + bpf_core_field_offset(r->rss.gp_count)) <= 0 ||
	    !is_list(at + bpf_core_field_offset(r->rss.gp_wait.head)) ||
	    !is_list(at + bpf_core_field_offset(r->waiters.head)))
		return RAW_NO_PART;
	if (writer == silent.task && block == 1)
		return RAW_READERS_PART;
	if (block)
		return queued_part();
	return state == GP_ENTER ? RAW_RCU_PART : RAW_NO_PART;
}

static long silent_step(__u32 i, void *ctx)
{
	struct silent *s = &silent;
	__u64 at = s->words[i % RAW_SILENT_WORDS];

	if (i >= s->n)
		return 1;
	if (s->vma && at == s->vma)
		s->found = at;
	if (s->vma || at & 7 || (__s64)at >= 0)
		return s->found != 0;
	s->mm = mm_if_waited_for(at);
	s->part = s->mm ? RAW_NO_PART : percpu_part(at);
	if (s->mm || s->part != RAW_NO_PART)
		s->found = at;
	return s->found != 0;
}

/* Is there an entry by which the task is in a queue? It begins before the word with the task. */
static long entry_step(__u32 i, void *ctx)
{
	struct wait_queue_entry *e = NULL;
	struct silent *s = &silent;
	__u64 at = s->sp + i * sizeof(s->words[0]) - bpf_core_field_offset(e->private);

	if (i >= s->n)
		return 1;
	if (s->words[i % RAW_SILENT_WORDS] == s->task &&
	    is_list(at + bpf_core_field_offset(e->entry)))
		s->entry = at;
	return s->entry != 0;
}

static __always_inline void search_stack(struct task_struct *t)
{
	struct silent *s = &silent;
	__u64 sp = stack_of(t), n;

	s->sp = sp;
	s->found = s->entry = s->part = s->n = 0;
	s->end = (__u64)bpf_task_pt_regs(t);
	barrier(); /* from memory it is a number, with which the verifier lets us count */
	if (!sp || s->end <= sp)
		return;
	n = (s->end - sp) / sizeof(s->words[0]);
	n = n < RAW_SILENT_WORDS ? n : RAW_SILENT_WORDS;
	barrier_var(n); /* the same register for test and use */
	if (n > RAW_SILENT_WORDS)
		return;
	if (bpf_probe_read_kernel(s->words, n * sizeof(s->words[0]), (void *)sp))
		return;
	s->n = n;
	if (!s->vma)
		bpf_loop(RAW_SILENT_WORDS, entry_step, NULL, 0);
	bpf_loop(RAW_SILENT_WORDS, silent_step, NULL, 0);
}

static __always_inline void find_silent(struct task_struct *t, struct raw_blocked *r)
{
	struct task_struct___silent *task = (void *)t;
	struct vm_area_struct___silent *v;
	struct silent *s = &silent;

	s->task = (__u64)t;
	s->vma = s->mm = 0;
	search_stack(t);
	if (!s->found)
		return;
	r->lock = s->found;
	r->part = s->part;
	r->switches = (__u32)BPF_CORE_READ(task, nvcsw);
	if (!s->mm)
		return;
	v = (void *)s->found;
	r->mm = s->mm;
	r->is_foreign = (__u64)BPF_CORE_READ(task, mm) != s->mm;
	r->start = BPF_CORE_READ(v, vm_start);
	r->past = BPF_CORE_READ(v, vm_end);
}

#endif
