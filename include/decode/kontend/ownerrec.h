/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OWNERREC_H
#define KONTEND_OWNERREC_H

/*
 * Record that a BPF program writes into a ring when a task begins to wait for a lock: the raw data
 * of a sample of the software event bpf-output. The sample's own fields have the waiting task and
 * the time. The BPF program includes this file: plain C types only.
 */
#define OWNERREC_MAGIC 0x314e574f544e4f4bull /* "KONTOWN1" */

struct ownerrec {
	unsigned long long magic;
	unsigned long long lock;
	int pid, tid;	   /* of the owner; 0: no owner, a hand-over was under way */
	unsigned int hint; /* 1: a reader that held it; 0: a writer, or the owner of a mutex */
	unsigned int pad;
	char comm[16];
};

#endif
