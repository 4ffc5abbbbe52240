/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's sleeping locks, and what they are in, as far as they are read here: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_LOCKS_H
#define KONTEND_INSPECT_KERNEL_LOCKS_H

#include "base.h"
#include "rt.h"

struct atomic_value {
	long counter;
} CORE;

/* PREEMPT_RT has only the last of these members. */
struct rw_semaphore {
	struct atomic_value count, owner;
	struct list_head wait_list;	   /* the head of a list; */
	struct rwsem_waiter *first_waiter; /* in 7.3 a ring without one */
	struct rwbase_rt rwbase;
} CORE;

struct optimistic_spin_queue {
	struct atomic_int tail;
} CORE;

/* On PREEMPT_RT without these members, as it is a struct rt_mutex_base there. */
struct mutex {
	struct atomic_value owner;
	struct optimistic_spin_queue osq; /* CONFIG_MUTEX_SPIN_ON_OWNER */
	struct list_head wait_list;
	struct mutex_waiter *first_waiter;
} CORE;

struct rcuwait {
	struct task_struct *task;
} CORE;

struct percpu_rw_semaphore {
	struct rcuwait writer;	 /* who waits until the readers of before are through */
	struct atomic_int block; /* a writer has it, or waits so */
} CORE;

struct semaphore {
	struct list_head wait_list;
	struct semaphore_waiter *first_waiter;
	unsigned long last_holder; /* 6.16 */
} CORE;

enum rwsem_waiter_type { WAITING_FOR_WRITE, WAITING_FOR_READ };

struct rwsem_waiter {
	struct list_head list;
	struct task_struct *task;
	enum rwsem_waiter_type type;
} CORE;

struct mutex_waiter {
	struct list_head list;
	struct task_struct *task;
} CORE;

struct semaphore_waiter {
	struct list_head list;
	struct task_struct *task;
} CORE;

struct mm_struct {
	struct rw_semaphore mmap_lock;
} CORE;

struct thread_info {
	unsigned int cpu;
} CORE;

/* CONFIG_SCHED_INFO */
struct sched_info {
	unsigned long long last_arrival;
} CORE;

struct sched_entity___locks {
	unsigned long long sum_exec_runtime, prev_sum_exec_runtime;
	unsigned long long exec_start; /* when its time was last counted: by clock_task */
	struct cfs_rq *cfs_rq;
	unsigned char sched_delayed; /* 6.12: asleep, though its run queue still has it */
} CORE;

struct task_struct___locks {
	struct thread_info thread_info;
	unsigned int __state;
	int on_cpu, on_rq; /* of one byte in 7.3 */
	unsigned int policy;
	struct sched_entity___locks se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	unsigned long long start_time;
	unsigned long blocker;	  /* 6.16 */
	struct mutex *blocked_on; /* before 6.17 only with CONFIG_DEBUG_MUTEXES */
	struct rt_mutex_waiter *pi_blocked_on;
} CORE;

struct pipe_inode_info {
	struct mutex mutex;
} CORE;

struct address_space {
	struct rw_semaphore i_mmap_rwsem;
} CORE;

struct super_block___locks {
	unsigned long s_magic;
	unsigned int s_dev;
} CORE;

struct inode {
	struct super_block___locks *i_sb;
	unsigned long i_ino;
	unsigned int i_generation;
	struct rw_semaphore i_rwsem;
	struct address_space i_data;
	struct pipe_inode_info *i_pipe;
} CORE;

/* Inodes of file systems, around that of the kernel. */
struct xfs_inode___locks {
	struct rw_semaphore i_lock;
	struct inode i_vnode;
} CORE;

struct ext4_inode_info___locks {
	struct rw_semaphore i_data_sem;
	struct inode vfs_inode;
} CORE;

struct file___locks {
	struct inode *f_inode;
	struct mutex f_pos_lock;
} CORE;

struct kmem_cache {
	const char *name;
	int refcount;
} CORE;

#endif
