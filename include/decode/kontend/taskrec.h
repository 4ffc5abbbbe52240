/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TASKREC_H
#define KONTEND_TASKREC_H

/*
 * What a BPF program of ours writes into a ring, within a PID namespace, of the tasks outside of
 * it, of which perf's records say nothing: that one begins, has another name, or ends. Raw data of
 * a sample of the software event bpf-output. Included by the program, too: plain C types only.
 */
#define TASKREC_MAGIC 0x4b534154544e4f4bull /* "KONTTASK" */

enum taskrec_what { TASKREC_FORK, TASKREC_COMM, TASKREC_EXIT };

struct taskrec {
	unsigned long long magic;
	unsigned int what;
	int pid, tid;	/* taskid.h */
	int ppid, ptid; /* of a fork: whose child it is */
	char comm[16];	/* of a new name */
	unsigned int pad;
};

#endif
