/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_INT_H
#define KONTEND_INSPECT_BPF_INT_H

#include "inspect-shared.h"
#include "kontend/inspect.h"
#include "kontend/map64.h"
#include "names.h"

/* Shared by the parts of the BPF inspector. */
struct bpf_object;
struct bpf_link;

enum bpf_program_index {
	PROG_LEARN_BASE,
	PROG_READ_CPUS,
	PROG_READ_CPU_CONTEXTS,
	PROG_READ_BREAKPOINTS,
	PROG_RUN, /* up to here: run by test_run; from here: iterators */
	PROG_LEARN = PROG_RUN,
	PROG_READ_TASKS,
	PROG_READ_HOLDERS,
	PROGS,
};

/* How the kernel lays out its per-CPU breakpoint accounting, from BTF. */
struct layout {
	struct raw_config config;
	uint32_t pools;		  /* 1: data and execution share; 2: execution, data; 0: unknown */
	uint32_t info_stride;	  /* of one pool's struct bp_cpuinfo */
	uint32_t info_cpu_pinned; /* offset of cpu_pinned in it */
	uint32_t regs[RAW_POOLS]; /* debug registers that the arrays have room for */
	bool has_revoked;	  /* enum perf_event_state as it is since 6.15 */
};

struct inspect_bpf {
	struct inspect base;
	struct bpf_object *object;
	int prog_fd[PROGS];
	struct bpf_link *link[PROGS]; /* of iterators */
	struct raw_state *state;
	const struct raw_event *events;
	const struct raw_context *contexts;
	const struct raw_holder *holders;
	const struct raw_cpu *cpus;
	struct layout layout;
	int *own_fds; /* a software event a CPU; -1: the CPU was offline */
	uint32_t n_cpus;
	int32_t slots[RAW_POOLS]; /* per CPU; -1: not known */
	struct names names;
	const struct raw_event *before;	   /* that the last event of the snapshot was made of */
	struct map64 at_event, at_context; /* kernel address -> index + 1, in the snapshot made */
	struct map64 counts;		   /* event id -> index into counted */
	struct counted {
		uint64_t id, count;
	} * counted, *counted_next;
	size_t n_counted, cap_counted, n_next, cap_next;
	uint64_t last_ns, last_id; /* of the snapshot before */
};

/* What BTF says of the running kernel; offsets it does not know are RAW_NO_OFFSET. */
int layout_read(struct layout *ret, struct error *err);

/* Turns the raw arrays into a snapshot. 0 or -ENOMEM. */
int bpf_fill(struct inspect_bpf *i, struct snap *ret);

#endif
