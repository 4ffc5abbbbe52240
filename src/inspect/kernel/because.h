/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures that lead from a sleeping task to the object that it waits for: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_BECAUSE_H
#define KONTEND_INSPECT_KERNEL_BECAUSE_H

#include "cgroup.h"
#include "locks.h"
#include "walk.h"
#include "work.h"

/* Entries of wait queues, which are on the stacks of their tasks. */
struct wait_queue_head {
	unsigned int lock;
	struct list_head head;
} CORE;

struct wait_queue_entry {
	unsigned int flags;
	void *private; /* the task */
	void *func;
	struct list_head entry;
} CORE;

struct wait_page_queue {
	struct folio___because *folio;
	int bit_nr;
	struct wait_queue_entry wait;
} CORE;

struct wait_bit_key {
	void *flags;
	int bit_nr;
} CORE;

struct wait_bit_queue_entry {
	struct wait_bit_key key;
	struct wait_queue_entry wq_entry;
} CORE;

struct userfaultfd_ctx {
	struct mm_struct *mm;
} CORE;

struct userfaultfd_wait_queue {
	struct wait_queue_entry wq;
	struct userfaultfd_ctx *ctx;
} CORE;

/* Pages, buffers and files. */
struct file_system_type___because {
	const char *name;
} CORE;

struct super_block___because {
	unsigned int s_dev;
	struct file_system_type___because *s_type;
	void *s_fs_info;
} CORE;

struct inode___because {
	unsigned short i_mode;
	unsigned int i_rdev;
	struct super_block___because *i_sb;
	struct address_space i_data;
	struct hlist_head i_dentry;
} CORE;

struct address_space___because {
	struct inode___because *host;
} CORE;

struct folio___because {
	struct address_space___because *mapping;
} CORE;

struct block_device {
	unsigned int bd_dev;
} CORE;

struct buffer_head {
	struct folio___because *b_folio; /* from 6.4 on */
	struct folio___because *b_page;
	struct block_device *b_bdev;
} CORE;

struct qstr {
	const char *name;
} CORE;

union dentry_union {
	struct hlist_node d_alias;
} CORE;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	union dentry_union d_u;
} CORE;

#include "alias.h"

struct file___because {
	struct inode___because *f_inode;
	void *private_data;
} CORE;

/* FUSE. */
struct fuse_conn;

struct fuse_mount {
	struct fuse_conn *fc;
	struct super_block___because *sb;
} CORE;

struct fuse_req {
	struct wait_queue_head waitq;
	struct fuse_mount *fm;
} CORE;

struct fuse_dev {
	struct fuse_conn *fc;
} CORE;

/* From 7.x on. */
struct fuse_chan {
	struct fuse_conn *conn;
} CORE;

struct fuse_dev___chan {
	struct fuse_chan *chan;
} CORE;

/* Logs of ext4 and ocfs2. */
struct journal_s {
	struct wait_queue_head j_wait_transaction_locked, j_wait_done_commit, j_wait_commit,
		j_wait_updates, j_wait_reserved, j_fc_wait;
	struct block_device *j_fs_dev;
	struct task_struct *j_task;
} CORE;

struct transaction_s {
	struct journal_s *t_journal;
} CORE;

struct jbd2_journal_handle {
	struct transaction_s *h_transaction;
} CORE;

/* Cgroups. */
enum cgroup_subsys_id___because { cpu_cgrp_id = 1, memory_cgrp_id = 4, freezer_cgrp_id = 6 };

struct kernfs_node___because {
	struct kernfs_node___because *__parent; /* from 6.15 on */
	struct kernfs_node___because *parent;
	const char *name;
} CORE;

struct cgroup_freezer_state {
	bool e_freeze;
} CORE;

struct cgroup___because {
	struct kernfs_node___because *kn;
	struct cgroup_freezer_state freezer;
} CORE;

struct cgroup_subsys_state___because {
	struct cgroup___because *cgroup;
	struct cgroup_subsys_state___because *parent;
} CORE;

struct css_set___because {
	struct cgroup_subsys_state___because *subsys[1];
	struct cgroup___because *dfl_cgrp;
} CORE;

struct page_counter {
	struct atomic_value usage;
	unsigned long high, max;
	struct page_counter *parent;
} CORE;

struct mem_cgroup {
	struct cgroup_subsys_state___because css;
	struct page_counter memory;
} CORE;

struct freezer {
	struct cgroup_subsys_state___because css;
	unsigned int state;
} CORE;

struct rq___because {
	struct task_struct *curr;
} CORE;

/* Tasks. */
struct core_thread {
	struct task_struct *task;
} CORE;

struct core_state {
	struct core_thread dumper;
} CORE;

struct signal_struct___because {
	struct core_state *core_state; /* from 5.16 on */
} CORE;

struct task_struct___because {
	unsigned int __state, flags, ptrace;
	unsigned int rt_priority;
	struct mm_struct *mm;
	struct task_struct *parent;
	struct signal_struct___because *signal;
	struct css_set___because *cgroups;
	void *journal_info;
	char comm[16];
} CORE;

#endif
