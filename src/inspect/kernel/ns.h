/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of tasks as the PID namespace of kontend has them; a task outside of it has that of the
 * initial namespace, marked (taskid.h). A program that includes this has a config with an `ns`.
 */
#ifndef KONTEND_INSPECT_KERNEL_NS_H
#define KONTEND_INSPECT_KERNEL_NS_H

#include "base.h"
#include "ns-shared.h"

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} CORE;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} CORE;

struct task_struct___ns {
	int pid, tgid;
	struct pid *thread_pid;
	struct task_struct *group_leader;
} CORE;

/* @host: the number of @t in the initial namespace. */
static __always_inline int ns_number(struct task_struct *t, int host,
				     const volatile struct ns_config *c)
{
	struct task_struct___ns *task = (void *)t;
	struct pid *p;
	__u64 at, ns = 0;
	int nr = 0;

	if (!c->level || host <= 0)
		return host;
	p = BPF_CORE_READ(task, thread_pid);
	if (!p || BPF_CORE_READ(p, level) < c->level)
		return host | NS_OUTSIDE;
	at = (__u64)p + bpf_core_field_offset(p->numbers) +
	     c->level * (__u64)bpf_core_type_size(struct upid);
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (void *)(at + bpf_core_field_offset(((struct upid *)0)->ns)));
	if (ns != c->ns)
		return host | NS_OUTSIDE;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)(at + bpf_core_field_offset(((struct upid *)0)->nr)));
	return nr;
}

static __always_inline int ns_tid(struct task_struct *t, const volatile struct ns_config *c)
{
	struct task_struct___ns *task = (void *)t;

	return ns_number(t, BPF_CORE_READ(task, pid), c);
}

static __always_inline int ns_pid(struct task_struct *t, const volatile struct ns_config *c)
{
	struct task_struct___ns *task = (void *)t;
	int host = BPF_CORE_READ(task, tgid);

	return c->level ? ns_number(BPF_CORE_READ(task, group_leader), host, c) : host;
}

#endif
