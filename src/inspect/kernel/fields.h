/* SPDX-License-Identifier: GPL-2.0-only */
/* Members that prove what an object of the kernel is, and whose: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_FIELDS_H
#define KONTEND_INSPECT_KERNEL_FIELDS_H

#include "because.h"
#include "ns.h"

/* Tasks, and what they share. By enum pid_type: as a thread, as a process. */
struct pid___field {
	struct hlist_head tasks[2];
} CORE;

struct signal_struct___field {
	struct pid___field *pids[2];
} CORE;

struct mm_struct___field {
	struct task_struct *owner; /* CONFIG_MEMCG */
} CORE;

struct task_struct___field {
	struct pid___field *thread_pid;
	struct hlist_node pid_links[2];
	struct signal_struct___field *signal;
	void *sighand, *files;
	struct mm_struct___field *mm;
	unsigned long long start_time;
	struct perf_event_context___field *perf_event_ctxp; /* 6.2: one alone */
	struct bpf_local_storage *bpf_storage;
} CORE;

struct perf_event_context___field {
	struct task_struct___field *task;
} CORE;

struct bpf_local_storage {
	void *owner;
} CORE;

struct anon_vma {
	struct anon_vma *root;
	struct rb_root_cached rb_root;
} CORE;

struct vm_area_struct___field {
	struct mm_struct___field *vm_mm;
} CORE;

struct anon_vma_chain {
	struct vm_area_struct___field *vma;
	struct anon_vma *anon_vma;
	struct rb_node rb;
} CORE;

struct kvm {
	struct mm_struct___field *mm;
	struct list_head vm_list;
} CORE;

struct futex_hash_bucket {
	struct futex_private_hash *priv;
} CORE;

/* 6.16 */
struct futex_private_hash {
	struct mm_struct___field *mm;
	struct futex_hash_bucket queues[1];
} CORE;

struct perf_event___field {
	struct list_head event_entry;
	struct task_struct *owner;
	struct perf_event___field *parent, *group_leader;
} CORE;

struct cfs_rq___field {
	struct rq *rq;
	struct task_group *tg;
} CORE;

/* Files. */
struct qstr___field {
	unsigned long long hash_len;
} CORE;

struct inode___field {
	void *i_flctx, *i_pipe;
	unsigned long i_ino;
	unsigned int i_generation;
	struct super_block___field *i_sb;
} CORE;

struct dentry___field {
	struct dentry___field *d_parent;
	struct qstr___field d_name;
	struct inode___field *d_inode;
	struct super_block___field *d_sb;
} CORE;

struct block_device___field {
	struct gendisk *bd_disk;
} CORE;

struct super_block___field {
	unsigned int s_dev;
	char s_id[32];
	struct dentry___field *s_root;
	struct block_device___field *s_bdev;
	struct file_system_type___because *s_type;
	void *s_fs_info;
} CORE;

struct ext4_sb_info {
	struct super_block___field *s_sb;
	void *s_blockgroup_lock;
} CORE;

struct kernfs_root {
	struct kernfs_node___field *kn;
	struct list_head supers;
} CORE;

struct kernfs_elem_dir {
	struct kernfs_root *root;
} CORE;

struct kernfs_node___field {
	struct kernfs_elem_dir dir;
	void *priv;
	__u64 id;
} CORE;

struct kernfs_super_info {
	struct super_block___field *sb;
	struct kernfs_root *root;
	struct list_head node;
} CORE;

struct path___field {
	struct dentry___field *dentry;
} CORE;

struct counter___field {
	long long counter;
} CORE;

struct file_ref___field {
	struct counter___field refcnt;
} CORE;

struct file___field {
	void *private_data;
	struct inode___field *f_inode;
	struct path___field f_path;
	struct file_ref___field f_ref; /* 6.13; before it: */
	struct counter___field f_count;
} CORE;

struct rb_node___field {
	unsigned long __rb_parent_color;
	struct rb_node___field *rb_right, *rb_left;
} CORE;

struct uprobe {
	struct rb_node___field rb_node;
	struct list_head consumers;
	struct inode___field *inode;
	long long offset;
} CORE;

struct eventpoll {
	struct file___field *file;
} CORE;

/* Memory. */
struct zone {
	struct pglist_data *zone_pgdat;
	const char *name;
} CORE;

struct lruvec {
	struct pglist_data *pgdat; /* CONFIG_MEMCG */
} CORE;

struct pglist_data {
	struct zone node_zones[1];
	int node_id, nr_zones;
	struct lruvec __lruvec;
} CORE;

struct mem_cgroup_per_node {
	struct lruvec lruvec;
	struct mem_cgroup___field *memcg;
} CORE;

struct cgroup_subsys_state___field {
	struct cgroup___field *cgroup;
} CORE;

struct mem_cgroup___field {
	struct cgroup_subsys_state___field css;
	struct mem_cgroup_per_node *nodeinfo[1];
} CORE;

struct task_group {
	struct cgroup_subsys_state___field css;
	struct cfs_rq___field **cfs_rq;
} CORE;

struct cgroup___field {
	struct kernfs_node___field *kn;
	struct cgroup_subsys_state___field *subsys[1];
} CORE;

struct kmem_cache___field {
	const char *name;
	struct kmem_cache_node *node[1]; /* before 7.x */
} CORE;

struct kmem_cache_per_node_ptrs { /* from 7.x on; both are all of it */
	struct node_barn *barn;
	struct kmem_cache_node *node;
} CORE;

struct kmem_cache___per_node {
	struct kmem_cache_per_node_ptrs per_node[1];
} CORE;

/* A barn, since 6.18, has sheaves of objects of its cache. */
struct node_barn {
	struct list_head sheaves_full, sheaves_empty;
} CORE;

struct slab_sheaf {
	struct list_head barn_list;
	struct kmem_cache___field *cache;
} CORE;

struct kmem_cache_node {
	struct list_head partial;
	struct node_barn *barn;
} CORE;

struct slab {
	struct list_head slab_list;
	struct kmem_cache___field *slab_cache;
} CORE;

#endif
