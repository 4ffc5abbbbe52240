/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few members of the kernel's structures that the programs here read, by the kernel's own
 * names, as its headers have them from 5.15 to 6.18. libbpf finds out at load time where they are
 * in the running kernel; a member that is not there is asked about before (bpf_core_field_exists).
 * A structure of another shape in older kernels has its version after three underscores.
 */
#ifndef KONTEND_INSPECT_KERNEL_H
#define KONTEND_INSPECT_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

/* An array that user space has mapped. */
#define ARRAY(map, item, n)                                                                        \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, n);                                                            \
		__type(key, __u32);                                                                \
		__type(value, item);                                                               \
	} map SEC(".maps")

#define CORE __attribute__((preserve_access_index))

/* The context of a program, for a global function: a typed tracepoint's only from about 6.9 on. */
#if __has_attribute(btf_decl_tag)
#define CTX_ARG __attribute__((btf_decl_tag("arg:ctx")))
#else
#define CTX_ARG
#endif

struct list_head {
	struct list_head *next, *prev;
} CORE;

struct hlist_node {
	struct hlist_node *next;
} CORE;

struct hlist_head {
	struct hlist_node *first;
} CORE;

struct seq_file;
struct task_struct;
struct perf_event;
struct perf_event_context;
struct file_operations;

struct file {
	const struct file_operations *f_op;
	void *private_data;
} CORE;

struct bpf_iter_meta {
	struct seq_file *seq;
} CORE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} CORE;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
} CORE;

struct debug_info { /* arm64 */
	struct perf_event *hbp_break[16];
	struct perf_event *hbp_watch[16];
} CORE;

struct thread_struct {
	struct perf_event *ptrace_bps[4]; /* x86 */
	struct debug_info debug;
} CORE;

struct rq {
	int cpu;
} CORE;

struct cfs_rq {
	struct rq *rq;
} CORE;

struct sched_entity {
	struct cfs_rq *cfs_rq;
} CORE;

struct task_struct {
	unsigned int __state;
	int exit_state;
	struct sched_entity se;
	int pid, tgid;
	char comm[16];
	struct task_struct *group_leader;
	struct task_struct *parent;
	unsigned int ptrace;
	struct thread_struct thread;
	struct perf_event_context *perf_event_ctxp;
} CORE;

/* Before 6.2: a context for hardware events and one for software events. */
struct task_struct___two {
	struct perf_event_context *perf_event_ctxp[2];
} CORE;

#endif
