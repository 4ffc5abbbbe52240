/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's uprobes as far as they are read here: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_UPROBE_H
#define KONTEND_INSPECT_KERNEL_UPROBE_H

#include "perf.h"

struct wait_queue_head {
	struct list_head head;
} CORE;

struct wait_queue_entry {
	void *private;
	struct list_head entry;
} CORE;

struct xol_area {
	struct wait_queue_head wq;
	unsigned long *bitmap;
	unsigned long vaddr;
} CORE;

struct uprobes_state {
	struct xol_area *xol_area;
} CORE;

struct mm_struct {
	struct uprobes_state uprobes_state;
} CORE;

enum uprobe_task_state {
	UTASK_RUNNING,
	UTASK_SSTEP,
};

struct uprobe {
	long long offset;
} CORE;

struct uprobe_task {
	enum uprobe_task_state state;
	unsigned int depth;
	struct uprobe *active_uprobe;
	unsigned long xol_vaddr;
} CORE;

struct task_struct___up {
	int pid, tgid;
	char comm[16];
	struct task_struct___up *group_leader;
	struct mm_struct *mm;
	struct uprobe_task *utask;
	struct list_head perf_event_list;
} CORE;

struct uprobe_consumer {
	void *handler;
	void *ret_handler;
} CORE;

struct trace_probe {
	struct list_head list;
} CORE;

struct trace_uprobe {
	struct uprobe_consumer consumer;
	char *filename;
	unsigned long offset;
	unsigned long ref_ctr_offset;
	unsigned long nhit; /* before 6.12 */
	struct trace_probe tp;
} CORE;

/* The file that it was placed in. */
struct super_block___placed {
	unsigned int s_dev;
} CORE;

struct inode___placed {
	struct super_block___placed *i_sb;
	unsigned long i_ino;
} CORE;

struct dentry___placed {
	struct inode___placed *d_inode;
} CORE;

struct path___placed {
	struct dentry___placed *dentry;
} CORE;

struct trace_uprobe___placed {
	struct path___placed path;
} CORE;

/* Since 6.12: each CPU has its own. */
struct trace_uprobe___percpu {
	unsigned long *nhits;
} CORE;

struct trace_probe_event {
	struct trace_event_call call;
	struct list_head probes;
} CORE;

struct perf_event___up {
	struct list_head owner_entry;
	struct bpf_prog *prog;
} CORE;

struct bpf_prog_aux {
	char name[16];
} CORE;

struct bpf_prog {
	struct bpf_prog_aux *aux;
} CORE;

struct bpf_link {
	__u32 id;
	enum bpf_link_type type;
	struct bpf_prog *prog;
} CORE;

struct bpf_array {
	void *pptrs[1];
} CORE;

#endif
