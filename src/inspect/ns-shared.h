/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_NS_SHARED_H
#define KONTEND_INSPECT_NS_SHARED_H

/* The PID namespace that kontend is in. Included by BPF programs, too: plain C types only. */
enum {
	NS_TASKS = 65536,
	NS_OUTSIDE = 1 << 30, /* TASKID_OUTSIDE */
};

struct ns_config {
	unsigned int level; /* 0: the initial one, whose numbers tasks have anyway */
	unsigned int pad;
	unsigned long long ns; /* address of its struct pid_namespace */
};

struct ns_task {
	int host_pid, host_tid; /* in the initial namespace */
	int pid, tid;		/* as the model has them: taskid.h */
	char comm[16];
};

struct ns_state {
	struct ns_config own; /* of the process that ran learn_ns */
	unsigned int n_tasks; /* also those beyond NS_TASKS */
	unsigned int torn;    /* walks that did not come back to where they began */
};

#endif
