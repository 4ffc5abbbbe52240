/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_STREAM_H
#define KONTEND_TESTS_STREAM_H

#include "kontend/live.h"
#include <sys/types.h>

enum { STREAM_EVENTS = 6, STREAM_CPUS = 64, STREAM_IDS = 4096, STREAM_TASKS = 65536 };

/* Content of a stream, decoded by hand, and every breach of the promises of record.h. */
struct stream {
	pid_t pid; /* its samples are counted; 0: of the first process that is seen */
	uint64_t ids[STREAM_EVENTS][STREAM_IDS];
	size_t n_ids[STREAM_EVENTS];
	unsigned n_attrs;
	uint64_t begins, ends; /* of `pid` */
	uint64_t others;       /* samples of other processes */
	uint64_t other_tids;   /* samples of `pid`, but not of the thread `tid` */
	pid_t tid;	       /* 0 = any */
	uint64_t chains;       /* begins with at least two frames */
	uint64_t per_cpu[STREAM_CPUS];
	uint64_t lost, dropped, comms, cgroups, fills, rounds, ticks;
	uint64_t late;	   /* events that follow a round or tick that covers them */
	uint64_t promised; /* the highest round or tick */
	uint64_t last_tick;
	uint64_t tick_ns;	 /* what should be between two ticks; 0 = not looked at */
	uint64_t gaps, odd_gaps; /* of that length, of no multiple of it (a stall skips some) */
	uint64_t cgroup_id;	 /* of the last sample of `pid` */
	char comm[64];		 /* of `pid`, the last one */
	char pre_comm[64];	 /* of `pid`, as synthesized */
	char cgroup_path[256];	 /* the path that cgroup_want got */
	uint64_t cgroup_want;
	bool has_cgroup; /* sample_type has it */
	unsigned order;	 /* record kinds of the prologue, as bits, in order */
	bool ended;
};

void stream_init(struct stream *s, pid_t pid);
/* All records that come until none does for @timeout_ms, at most some thousands. */
void stream_take(struct stream *st, struct source *s, int timeout_ms);
/* Until SOURCE_END, which must come within a minute of silence. */
void stream_take_all(struct stream *st, struct source *s);
void stream_deinit(struct stream *st);

#endif
