/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_INT_H
#define KONTEND_INSPECT_BPF_INT_H

#include "bpf-run.h"
#include "created.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/inspect.h"
#include "kontend/map64.h"
#include "shared.h"

/* Shared by the parts of the BPF inspector. */
enum bpf_program_index {
	PROG_LEARN_BASE,
	PROG_READ_CPUS,
	PROG_READ_CPU_CONTEXTS,
	PROG_READ_BREAKPOINTS,
	PROG_READ_AGAIN,
	PROG_WALK_TASKS, /* in a PID namespace, instead of iterators, which show its tasks only */
	PROG_WALK_HOLDERS,
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

/* Results of one snapshot, from all passes. */
struct raw_found {
	const struct raw_event *events;
	const struct raw_context *contexts;
	const struct raw_holder *holders;
	uint32_t n_events, n_contexts, n_holders;
	uint32_t dropped, torn;
};

/* Copies of the results of the earlier passes, since the programs overwrite the arrays. */
struct raw_copies {
	struct raw_event *events;
	struct raw_context *contexts;
	struct raw_holder *holders;
	size_t n_events, n_contexts, n_holders;
	size_t cap_events, cap_contexts, cap_holders;
};

/* The previous snapshot of the same kind. */
struct record_counter {
	struct map64 at; /* event id -> index into counted */
	struct counted {
		uint64_t id, count;
		bool is_current; /* the count was of the snapshot's time */
	} * counted, *next;
	size_t n, cap, n_next, cap_next;
	uint64_t last_ns, last_id;
	struct inspect_cost cost;
};

/* Tasks that had descriptors of breakpoints at the last walk through all descriptors. */
struct kept_holders {
	struct raw_holder *list;
	size_t n, cap;
	struct map64 known; /* ids of the breakpoints at that time */
	uint64_t time_ns, cost_ns;
};

/* Inherited events, and the tasks that they count: see whom_begin(). */
struct whom {
	struct map64 seen;     /* by the event's address in the kernel */
	struct map64 families; /* number of the event that was opened -> events of it */
	struct map64 counted;  /* the same and a task -> events that count it */
};

struct inspect_bpf {
	struct inspect base;
	struct bpf_object *object;
	int prog_fd[PROGS];
	struct bpf_link *link[PROGS]; /* of iterators */
	struct raw_state *state;
	struct bpf_run_part events, contexts, holders;
	uint32_t room; /* for events and for holders; for contexts half of it */
	const struct raw_cpu *cpus;
	struct raw_again *again;
	struct raw_found found;
	struct raw_copies copies;
	struct kept_holders kept;
	struct layout layout;
	int *own_fds; /* a software event a CPU; -1: the CPU was offline */
	uint32_t n_cpus;
	int32_t slots[RAW_POOLS]; /* per CPU; -1: not known */
	struct names names;
	struct cgroup_names cgroups;
	const struct raw_event *before;	   /* of the last event in the snapshot */
	struct map64 at_event, at_context; /* kernel address -> index + 1, in the snapshot made */
	struct record_counter tallies[INSPECT_WHATS], *now;
	struct whom whom;
	struct created created;
	int32_t *slot_tids; /* by event of the snapshot: the task whose slot it takes; 0: none */
	size_t n_slot_tids, cap_slot_tids;
};

/* Reads the layout of the running kernel from BTF; unknown offsets are RAW_NO_OFFSET. */
int layout_read(struct layout *ret, struct kerntypes *types, struct error *err);

/* Runs a program; @cpu < 0: on the current CPU. 0 or a negative errno, as below. */
int bpf_run(const struct inspect_bpf *i, int program, int cpu);
int bpf_iterate(const struct inspect_bpf *i, int program);

/* Reads @what into i->found. */
int bpf_read(struct inspect_bpf *i, enum inspect_what what);
void bpf_read_deinit(struct inspect_bpf *i);

/* Turns the results into a snapshot. 0 or -ENOMEM. */
int bpf_fill(struct inspect_bpf *i, enum inspect_what what, struct perfsnap *ret);
/* Adds slots and registers of CPUs; the snapshot has the events already. */
int bpf_fill_cpus(struct inspect_bpf *i, struct perfsnap *s);
/* Index + 1 of the object at kernel address @addr; 0: it is not in the snapshot. */
uint32_t bpf_index_of(const struct map64 *m, uint64_t addr);

void whom_deinit(struct whom *w);
void record_counter_deinit(struct record_counter *s);

#endif
