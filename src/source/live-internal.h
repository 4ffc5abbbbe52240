/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_LIVE_INTERNAL_H
#define KONTEND_SOURCE_LIVE_INTERNAL_H

/* Shared by live*.c and drain-bursts.c here: the parts of a live session. */
#include "kontend/kallsyms-thread.h"
#include "kontend/mmlevel.h"
#include "kontend/perf-session.h"
#include "kontend/pmus.h"
#include "kontend/procfs.h"
#include "kontend/queue.h"
#include "kontend/record.h"
#include "kontend/sideband.h"
#include "kontend/tracefs.h"

/*
 * live-timers.c: rotation of events. Does a PMU rotate, which tracepoints and which function's
 * timers show it? A failure does not end the session: `pmus` has the reason. `= {0}` measures
 * nothing.
 */
struct live_timers {
	bool tick; /* measures the timer tick, too */
	struct pmus pmus;
	struct tracepoint entry, exit; /* ids 0: not measured */
	uint64_t mux, tick_handler;    /* addresses of their functions; 0: not known */
	bool is_mux, is_tick;	       /* kallsyms has it, maybe without the address */
	bool on;		       /* the filters of the session pass their events */
	struct snapshot_source look;   /* reports changes of `pmus` */
	struct {
		struct record_snapshot head;
		struct pmus pmus;
	} body; /* of the last report */
};

/* @others: the other snapshots of the session; borrowed. */
struct snapshot_source *live_timers_look(struct live_timers *t, struct snapshot_source *others);
/* @tracefs: its path. */
void live_timers_read(struct live_timers *t, const char *tracefs);
/* The offset of the field hrtimer in the raw data of an entry. */
uint32_t live_timers_offset(const struct live_timers *t);
/* Searches the text of /proc/kallsyms for the functions. */
void live_timers_find(struct live_timers *t, const char *kallsyms, size_t len);
/* Sets the filters of the session. */
void live_timers_aim(struct live_timers *t, struct perf_session *ps);
void live_timers_enable(const struct live_timers *t, struct perf_session *ps);
/* The list of PMUs as a SNAPSHOT record. 0 or -ENOMEM. */
int live_timers_put(struct live_timers *t, struct queue *q);
void live_timers_deinit(struct live_timers *t);

/*
 * live-mmap-count.c: counts of a tracepoint on all measured CPUs or tasks. `= {0}` counts nothing.
 */
struct live_mmap_count {
	int *fds;
	size_t n;
};

/* Counts tracepoint @id; @command: the child of TARGET_COMMAND. A refusal leaves no count. */
void live_mmap_count_open(struct live_mmap_count *c, uint32_t id, const struct target *t,
			  pid_t command);
/* Since it was opened; 0: there is no count. */
uint64_t live_mmap_count_now(const struct live_mmap_count *c);
void live_mmap_count_close(struct live_mmap_count *c);

/*
 * live-mmap.c: the events of mmap_locks, on the requested level. A kernel without them does not end
 * the session: the level becomes MMLEVEL_CONTENDED, and `how` has the reason. `= {0}` requests
 * none.
 */
struct live_mmap {
	struct mmlevel_how how;		      /* level, one_in: as requested */
	struct tracepoint tp[PERF_MM_EVENTS]; /* ids 0: not measured */
	struct live_mmap_count count;	      /* of all acquisitions, on MMLEVEL_SAMPLED */
	struct {
		struct record_snapshot head;
		struct mmlevel_how how;
	} body; /* of the last record */
};

/* Finds the events in @tracefs, a path, and measures the cost of one on this machine. */
void live_mmap_read(struct live_mmap *m, const char *tracefs);
/* Sets the ids of their tracepoints, and whether they are on in bursts only. */
void live_mmap_options(const struct live_mmap *m, struct perf_session_options *o);
/* On MMLEVEL_SAMPLED: opens the count of acquisitions of @t. */
void live_mmap_count(struct live_mmap *m, const struct target *t, pid_t command);
/* On MMLEVEL_ALL: switches the events on. */
void live_mmap_enable(const struct live_mmap *m, struct perf_session *ps);
/* On MMLEVEL_SAMPLED: when the drain switches them on. */
struct burst live_mmap_burst(const struct live_mmap *m);
/* FORMAT records, and how they are measured as a SNAPSHOT. 0 or -ENOMEM. */
int live_mmap_put(struct live_mmap *m, struct queue *q);
void live_mmap_deinit(struct live_mmap *m);

/*
 * live-cost.c: ns that an event of an mmap_lock costs the task that causes it; 0: it cannot be
 * measured.
 */
uint32_t live_cost_mmap_ns(const struct tracepoint tp[PERF_MM_EVENTS]);
/*
 * The part of a measured context switch that kontend's own switch record takes, in picoseconds for
 * each event of the task that leaves the CPU. 0: not known, as no events can be opened.
 */
uint64_t live_cost_switch_ps(void);

/*
 * live-prologue.c: the records that a reader of a live stream needs before its first event: HOST,
 * KALLSYMS, FORMAT, ATTR; and then COMM and CGROUP records of existing tasks and cgroups.
 */
struct live_prologue {
	struct queue *queue;
	struct perf_session *session;
	const struct target *target;
	const struct tracepoint *begin, *end, *release; /* release: id 0: there is none */
	struct kallsyms_thread *kallsyms;		/* NULL: the file is read now */
	struct live_timers *timers; /* gets its functions from kallsyms, and its filters */
	struct live_mmap *mmap;
	const char *refused; /* see struct record_machine; NULL: nothing */
};

/* 0 or -ENOMEM with @err. */
int live_prologue_put(const struct live_prologue *p, struct error *err);
/* The tasks whose names are to be read: all, or these. */
struct live_prologue_tasks {
	const struct procfs_task *tasks;
	size_t n; /* 0: all */
	bool cgroups;
	bool maps;			     /* also the code that their processes have mapped */
	bool data_maps;			     /* and their other mappings */
	const struct sideband_source *names; /* of tasks that are not in /proc; NULL: none */
};

/* Reads /proc and the cgroup tree, which takes a moment if there are many tasks. */
int live_prologue_tasks(struct queue *q, struct perf_session *ps,
			const struct live_prologue_tasks *t, struct error *err);

#endif
