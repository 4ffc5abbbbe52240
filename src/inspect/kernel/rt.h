/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's rt-mutexes, of which PREEMPT_RT makes its other locks: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_RT_H
#define KONTEND_INSPECT_KERNEL_RT_H

#include "base.h"

/* Of rt_mutex_base.owner. */
enum { RT_WAITERS = 1 };

struct atomic_int {
	int counter;
} CORE;

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right, *rb_left;
} CORE;

struct rb_root {
	struct rb_node *rb_node;
} CORE;

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
} CORE;

/* On PREEMPT_RT mutexes and spinlocks are this and no more. */
struct rt_mutex_base {
	struct rb_root_cached waiters;
	struct task_struct *owner;
} CORE;

/*
 * Of PREEMPT_RT: rwsems and rwlocks begin with this. A writer has the rt-mutex, then keeps readers
 * out and waits for the last of them; a reader that comes meanwhile waits for the rt-mutex.
 */
struct rwbase_rt {
	struct atomic_int readers;
	struct rt_mutex_base rtmutex;
} CORE;

struct rt_waiter_node {
	struct rb_node entry;
} CORE;

struct rt_mutex_waiter {
	struct rb_node tree_entry;  /* before 6.5 */
	struct rt_waiter_node tree; /* from then on */
	struct task_struct *task;
	struct rt_mutex_base *lock;
} CORE;

/* Where the rt-mutex is in a reader-writer lock of PREEMPT_RT; 0: this kernel is none. */
static __always_inline __u64 rt_mutex_within(void)
{
	return bpf_core_field_exists(((struct rwbase_rt *)0)->rtmutex)
		       ? bpf_core_field_offset(((struct rwbase_rt *)0)->rtmutex)
		       : 0;
}

#endif
