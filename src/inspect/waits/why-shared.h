/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by user space and the programs of why.bpf.c: plain C types, sizes are multiples of 8. */
#ifndef KONTEND_INSPECT_WAITS_WHY_SHARED_H
#define KONTEND_INSPECT_WAITS_WHY_SHARED_H

#include "ns-shared.h"
#include "on-shared.h"

enum {
	RAW_WHY_IDS = 16384,
	RAW_WHY_TASKS = 8192,	 /* threads that are followed */
	RAW_WHY_WAKERS = 256,	 /* of them, because they wake others */
	RAW_WHY_MARKS = 1 << 16, /* by the lower bits of a thread's number: may it be followed? */
};

struct raw_why_config {
	struct ns_config ns;
	unsigned int threads;	     /* `ids` has threads, not processes */
	int self;		     /* process that measures: taskid.h */
	unsigned int user_frames;    /* of sleeps, */
	unsigned int frames_ns;	     /* for so long in a period (frames-shared.h); 0: always */
	unsigned long long waker_ns; /* a task is followed so long after it woke one */
	unsigned long long least_ns; /* shorter pauses of wakers are left out */
	unsigned long long open_ns;  /* what lasts longer is reported before its end */
	unsigned char on_calls[ON_CALLS];
};

struct raw_why_state {
	unsigned long long wakers;  /* followed now */
	unsigned long long waiting; /* chosen tasks that wait for a CPU now */
	unsigned long long dropped; /* tasks for which there was no room */
	unsigned long long records, missed;
};

#endif
