/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's inodes, and what says where they are in which file system: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_FILES_H
#define KONTEND_INSPECT_KERNEL_FILES_H

#include "locks.h"

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} CORE;

struct qstr {
	const unsigned char *name;
} CORE;

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
} CORE;

#include "alias.h"

struct file_system_type {
	const char *name;
} CORE;

struct ns_common {
	unsigned int inum;
} CORE;

struct mnt_namespace {
	struct ns_common ns;
} CORE;

struct vfsmount {
	struct dentry *mnt_root;
} CORE;

struct mount {
	struct list_head mnt_instance; /* before 6.18; then */
	struct mount *mnt_next_for_sb;
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
} CORE;

struct super_block___files {
	unsigned long s_magic;
	unsigned int s_dev;
	struct dentry *s_root;
	struct file_system_type *s_type;
	struct list_head s_mounts;
} CORE;

/* 6.18 */
struct super_block___first {
	struct mount *s_mounts;
} CORE;

struct address_space___files {
	struct inode *host;
	struct rw_semaphore invalidate_lock;
	struct rw_semaphore i_mmap_rwsem;
} CORE;

struct inode___files {
	struct super_block___files *i_sb;
	unsigned long i_ino;
	unsigned int i_generation;
	struct rw_semaphore i_rwsem;
	struct address_space___files i_data;
	struct hlist_head i_dentry;
} CORE;

/* Inodes of file systems, around that of the kernel. */
struct xfs_inode___files {
	struct rw_semaphore i_lock;
	struct inode___files i_vnode;
} CORE;

struct ext4_inode_info___files {
	struct rw_semaphore i_data_sem;
	struct inode___files vfs_inode;
} CORE;

#endif
