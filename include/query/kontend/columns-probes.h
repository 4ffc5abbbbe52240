/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_COLUMNS_PROBES_H
#define KONTEND_COLUMNS_PROBES_H

#include "kontend/columns.h"

/* The catalogue of columns, second part: perf events, breakpoints, uprobes, and the profile. */

/* Objects of snapshots. */
#define COL_ENDED "ended", "ENDED", "seen by a snapshot, but not by the last one", COLUMN_BOOL
#define COL_LAST_SEEN                                                                              \
	"last_seen_ns", "LAST-SEEN",                                                               \
		"time from its last snapshot to the end of measuring, if it has ended", COLUMN_NS

/* perf events and breakpoints. */
#define COL_SLOTS "slots", "SLOTS", "breakpoint slots of the CPU: its debug registers", COLUMN_INT
#define COL_EVENT_KIND                                                                             \
	"kind", "KIND",                                                                            \
		"perf fd, inherited (by fork or clone), ptrace (a debugger), kernel, or no fd",    \
		COLUMN_TEXT
#define COL_KEEPER                                                                                 \
	"holder", "HOLDER", "process that keeps the event: by a descriptor, or by ptrace",         \
		COLUMN_TEXT
#define COL_KEEPER_PID "pid", "PID", "process id of the process that keeps the event", COLUMN_INT
#define COL_KEEPERS                                                                                \
	"holder_pids", "HOLDER PIDS",                                                              \
		"process ids of all processes with a descriptor of the event", COLUMN_TEXT
#define COL_BOUND_CPU "cpu", "CPU", "CPU that the event is bound to", COLUMN_INT
#define COL_EVENT_STATE                                                                            \
	"state", "STATE", "active, inactive (its task is not on a CPU), off, error or exited",     \
		COLUMN_TEXT
#define COL_OPENER "owner", "OWNER", "task that opened the event", COLUMN_TEXT
#define COL_OPENER_PID "owner_pid", "OWNER PID", "process id of OWNER", COLUMN_INT
#define COL_TARGET "target", "TARGET", "task that the event counts", COLUMN_TEXT
#define COL_TARGET_TID                                                                             \
	"target_tid", "TARGET TID", "thread id of the task that the event counts", COLUMN_INT
#define COL_EVENT_ID "id", "ID", "number of the event in the kernel", COLUMN_INT
#define COL_ROTATING                                                                               \
	"rotating", "ROTATES", "events take turns, as there are more than counters", COLUMN_BOOL
#define COL_LOST                                                                                   \
	"lost_ns", "LOST",                                                                         \
		"time in which events could not count, as no counter was free, added up",          \
		COLUMN_NS
#define COL_PMU "pmu", "PMU", "PMU that counts", COLUMN_TEXT

/* uprobes. */
#define COL_PROBE "probe", "PROBE", "binary and function", COLUMN_TEXT
#define COL_PROBE_OFFSET "offset", "OFFSET", "offset of the probe in the binary", COLUMN_ADDR
#define COL_PROBED_PID                                                                             \
	"pid", "PID", "process id of the process that is probed; none: all processes", COLUMN_INT
#define COL_HITS "hits", "HITS", "hits since the probe was placed", COLUMN_COUNT
#define COL_HITS_PER_S                                                                             \
	"hits_per_s", "HITS/s", "hits per second since the snapshot before", COLUMN_RATE
#define COL_HITS_CPU_PCT "cpu_pct", "CPU%", "hits times cost, of one CPU", COLUMN_PCT
#define COL_XOL_USED "used", "USED", "slots in use now", COLUMN_COUNT
#define COL_RETURN_DEPTH                                                                           \
	"depth", "DEPTH", "return probes that the task is inside of; of several tasks, the most",  \
		COLUMN_COUNT
#define COL_XOL_WAITING "waiting", "WAITING", "tasks that wait for a slot", COLUMN_COUNT

/* The profile. */
#define COL_SAMPLES "samples", "SAMPLES", "samples", COLUMN_COUNT
#define COL_WAIT_BELOW "wait_ns", "WAIT", "time waited for locks in it and below it", COLUMN_NS
#define COL_GROUP                                                                                  \
	"group", "GROUP", "kind of lock or part of the kernel that it belongs to", COLUMN_TEXT
#define COL_FILE                                                                                   \
	"file", "OBJECT", "kernel, module or name of the file that the code is in", COLUMN_TEXT
#define COL_FILE_PATH                                                                              \
	"object", "PATH", "kernel, module or path of the file that the code is in", COLUMN_TEXT
#define COL_FUNCTION "symbol", "SYMBOL", "function", COLUMN_TEXT
#define COL_NAMES                                                                                  \
	"names", "NAMES",                                                                          \
		"recording, where the file is not here and the name is from the recording",        \
		COLUMN_TEXT

#endif
