/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that a lock belongs to, and whether it is still that file's. An inode is identified by
 * its number, its generation and its device; the memory of a freed one keeps these until the next
 * one gets it. All is read by probe reads: memory that is no inode any more has other numbers.
 */
#ifndef KONTEND_INSPECT_LOCKS_READ_OBJECT_H
#define KONTEND_INSPECT_LOCKS_READ_OBJECT_H

#include "kernel/locks.h"

#include "kernel/walk-files.h"
#include "shared.h"

/* Numbers of locksnap.h. */
enum {
	NAME_MMAP = 1,
	NAME_INODE,
	NAME_IMMAP,
	NAME_POS,
	NAME_PIPE,
	NAME_XFS = 12,
	NAME_EXT4,
};

static __always_inline void read_file(struct inode *inode, struct raw_lock_file *ret)
{
	ret->ino = BPF_CORE_READ(inode, i_ino);
	ret->generation = BPF_CORE_READ(inode, i_generation);
	ret->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* The path from the lock to the inode may be gone alone. */
static __always_inline bool leads_to(const struct raw_lock_object *o)
{
	struct inode *inode = (void *)o->inode;
	__u64 base;

	if (o->kind == NAME_PIPE) {
		base = o->addr - bpf_core_field_offset(((struct pipe_inode_info *)0)->mutex);
		return (__u64)BPF_CORE_READ(inode, i_pipe) == base;
	}
	if (o->kind == NAME_POS) {
		base = o->addr - bpf_core_field_offset(((struct file___locks *)0)->f_pos_lock);
		return (__u64)BPF_CORE_READ((struct file___locks *)base, f_inode) == o->inode;
	}
	return true;
}

/* The inode of descriptor @fd of @task now; 0: none. */
static __always_inline __u64 inode_of(__u64 task, int fd)
{
	struct task_struct___files *t = (void *)task;
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file___locks *file;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	file = (void *)word_at((__u64)BPF_CORE_READ(table, fd) + (__u32)fd * 8ull);
	return (__u64)BPF_CORE_READ(file, f_inode);
}

#endif
