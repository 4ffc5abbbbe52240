/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TASKREC_H
#define KONTEND_TASKREC_H

/*
 * Record that a BPF program writes, within a PID namespace, about tasks outside of it, which perf's
 * records do not identify: a task starts, changes its name, or ends. Raw data of a sample of the
 * software event bpf-output. The BPF program includes this file: plain C types only.
 */
#define TASKREC_MAGIC 0x4b534154544e4f4bull /* "KONTTASK" */

enum taskrec_what { TASKREC_FORK, TASKREC_COMM, TASKREC_EXIT };

struct taskrec {
	unsigned long long magic;
	unsigned int what;
	int pid, tid;	/* taskid.h */
	int ppid, ptid; /* of a fork: the parent */
	char comm[16];	/* new name */
	unsigned int pad;
};

#endif
