/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF links that place uprobes, and paths of files up to the root of a task: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_LINKS_H
#define KONTEND_INSPECT_KERNEL_LINKS_H

#include "uprobe.h"

struct bpf_iter__bpf_link {
	struct bpf_iter_meta *meta;
	struct bpf_link *link;
} CORE;

struct qstr {
	const unsigned char *name;
} CORE;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} CORE;

struct vfsmount {
	struct dentry *mnt_root;
} CORE;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} CORE;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} CORE;

struct fs_struct {
	struct path root;
} CORE;

struct task_struct___root {
	struct fs_struct *fs;
} CORE;

struct bpf_uprobe {
	long long offset;
	unsigned long ref_ctr_offset;
	struct uprobe_consumer consumer;
} CORE;

struct bpf_uprobe_multi_link {
	struct path path;
	struct bpf_link link;
	__u32 cnt;
	struct bpf_uprobe *uprobes;
	struct task_struct *task;
} CORE;

#endif
