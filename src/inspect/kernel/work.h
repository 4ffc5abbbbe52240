/* SPDX-License-Identifier: GPL-2.0-only */
/* Workqueues, and completions: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_WORK_H
#define KONTEND_INSPECT_KERNEL_WORK_H

#include "locks.h"

struct swait_queue {
	struct task_struct *task;
	struct list_head task_list;
} CORE;

struct swait_queue_head {
	struct list_head task_list;
} CORE;

struct completion {
	struct swait_queue_head wait;
} CORE;

struct work_struct {
	struct atomic_value data;
	struct list_head entry;
	void *func;
} CORE;

struct wq_barrier {
	struct work_struct work;
	struct task_struct *task;
} CORE;

struct wq_flusher {
	struct list_head list;
	int flush_color;
	struct completion done;
} CORE;

struct worker_pool {
	struct list_head worklist, workers;
} CORE;

struct workqueue_struct {
	struct list_head pwqs;
	struct wq_flusher *first_flusher;
	char name[24];
} CORE;

struct pool_workqueue {
	struct worker_pool *pool;
	struct workqueue_struct *wq;
	int nr_in_flight[16];
	struct list_head pwqs_node;
} CORE;

struct worker {
	struct work_struct *current_work;
	void *current_func;
	struct pool_workqueue *current_pwq;
	struct list_head scheduled;
	struct task_struct *task;
	struct list_head node;
} CORE;

enum work_bits { WORK_STRUCT_PWQ_SHIFT = 8 }; /* from 6.9 on */

#endif
