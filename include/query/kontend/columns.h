/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_COLUMNS_H
#define KONTEND_COLUMNS_H

#include "kontend/table.h"

/*
 * The catalogue of columns that several tables share. An entry is the first members of a struct
 * column: key, title, help and type. A table adds what concerns its layout: width, priority, flags
 * and the ways to make rows in which the column says something:
 *
 *	[C_PID] = {COL_PID, 7, 9, R},
 *
 * So a key means the same in all tables, and its help is written once. A table whose column has the
 * same key and another meaning has a help of its own; tests/unit/test-columns.c lists these tables
 * with the reason. Entries with an argument differ between tables in the noun or in the title only.
 */

/* Flags of most columns, in short: on the screen, in reports, in both, and with room to spare. */
enum { S = COLUMN_SCREEN, R = COLUMN_REPORT, SR = COLUMN_SCREEN | COLUMN_REPORT, W = COLUMN_WIDE };

/* Tasks, processes and CPUs. "The row's task": waiter, holder or root, as the table says. */
#define COL_TASK "task", "TASK", "name and thread id of the task", COLUMN_TEXT
#define COL_PROCESS "process", "PROCESS", "name and process id of the process", COLUMN_TEXT
#define COL_PID "pid", "PID", "process id of the row's task or process", COLUMN_INT
#define COL_TID "tid", "TID", "thread id of the row's task", COLUMN_INT
#define COL_COMM "comm", "COMM", "name of the row's task or process, without its id", COLUMN_TEXT
#define COL_CPU "cpu", "CPU", "number of the CPU", COLUMN_INT
#define COL_WAIT_CPU "cpu", "CPU", "CPU on which the wait began", COLUMN_INT
#define COL_CGROUP "cgroup", "CGROUP", "path of the cgroup of the task that waits", COLUMN_TEXT
#define COL_STACK "stack", "CALL CHAIN", "call chain, innermost function first", COLUMN_TEXT

/* The place where a holder acquired a lock, and how. */
#define COL_GOT_IN                                                                                 \
	"caller", "GOT IN",                                                                        \
		"function in which the holder acquired the lock; ~ the worst of several",          \
		COLUMN_TEXT
#define COL_GOT_IN_STACK(TITLE)                                                                    \
	"stack", TITLE, "call chain in which the holder acquired the lock, innermost first",       \
		COLUMN_TEXT
#define COL_HELD_KIND                                                                              \
	"kind", "TYPE", "type of the lock, and the mode in which it was held", COLUMN_TEXT

/* Locks. */
#define COL_LOCK                                                                                   \
	"lock", "ADDRESS", "address of the lock; unknown where the row spans several", COLUMN_ADDR
#define COL_KIND "kind", "TYPE", "type and mode of the lock, as perf lock names them", COLUMN_TEXT
#define COL_TYPE "type", "TYPE", "type of the lock, without the mode", COLUMN_TEXT
#define COL_MODE "mode", "MODE", "R for readers, W for writers", COLUMN_TEXT
#define COL_NAME_AS(TITLE)                                                                         \
	"name", TITLE,                                                                             \
		"name of the lock: the object that it belongs to, its symbol, or the function "    \
		"that waits for it most "                                                          \
		"and the end of its address; ~ the worst of several",                              \
		COLUMN_TEXT
#define COL_NAME COL_NAME_AS("LOCK")
#define COL_OBJECT                                                                                 \
	"object", "OBJECT",                                                                        \
		"kind of the lock: mmap_lock, i_rwsem, a per-CPU variable, or the slab cache "     \
		"that it is in",                                                                   \
		COLUMN_TEXT
#define COL_PATH "path", "PATH", "path of the file that the lock belongs to", COLUMN_TEXT
#define COL_LOCKS                                                                                  \
	"locks", "LOCKS", "number of locks that the row spans, each mode counted", COLUMN_COUNT
#define COL_CALLER                                                                                 \
	"caller", "CALLER",                                                                        \
		"function that waits for the lock; ~ the one that waits most of several",          \
		COLUMN_TEXT
#define COL_SYSCALL                                                                                \
	"syscall", "SYSCALL",                                                                      \
		"system call that waits, page fault, or how else the task came into the kernel; "  \
		"~ the one that waits most of several",                                            \
		COLUMN_TEXT
#define COL_SYSCALL_REASON                                                                         \
	"syscall_reason", "SYSCALL REASON", "why SYSCALL is not known, or none", COLUMN_TEXT
#define COL_AT                                                                                     \
	"at", "AT",                                                                                \
		"line of the program that waits, outside of libraries of languages: file, line "   \
		"and function, without debug information the function; ~ the one that waits "      \
		"most of several, or inside such a library",                                       \
		COLUMN_TEXT
#define COL_AT_REASON "at_reason", "AT REASON", "why AT is not known, or none", COLUMN_TEXT
#define COL_ON                                                                                     \
	"on", "ON",                                                                                \
		"file, socket, process or memory that the arguments of the system call name, or "  \
		"the file of the lock; ~ the one that most is waited on of several",               \
		COLUMN_TEXT
#define COL_ON_REASON "on_reason", "ON REASON", "why ON is not known, or none", COLUMN_TEXT
#define COL_READERS_WAITING "readers_waiting", "R", "tasks that wait to read now", COLUMN_COUNT
#define COL_WRITERS_WAITING                                                                        \
	"writers_waiting", "W", "tasks that wait to write now, or for a lock without modes",       \
		COLUMN_COUNT

/* The present holder of a lock, and the task that gets it next. */
#define COL_HOLDER                                                                                 \
	"holder", "HOLDER",                                                                        \
		"task that holds the lock now: name and thread id; W a writer, R? a reader: by "   \
		"its calls, or one that had it; free, to NAME: no task, and that one is next",     \
		COLUMN_TEXT
#define COL_OWNER_PID "owner_pid", "OWNER PID", "process id of the holder", COLUMN_INT
#define COL_OWNER_TID "owner_tid", "OWNER TID", "thread id of the holder", COLUMN_INT
#define COL_OWNER_COMM "owner_comm", "OWNER COMM", "name of the holder, without its id", COLUMN_TEXT
#define COL_CERTAINTY(KEY)                                                                         \
	KEY, "CERTAINTY",                                                                          \
		"certainty of the holder: sure, a writer or the owner of a mutex; evidence, a "    \
		"reader as its calls say, or the writer of a percpu-rwsem; hint, a reader that "   \
		"had it, or the last one that had a semaphore; free, no task: it is being handed " \
		"over",                                                                            \
		COLUMN_TEXT
#define COL_HELD                                                                                   \
	"held_ns", "HELD",                                                                         \
		"time for which the holder has had the lock: of a file since it was seen to take " \
		"it, else so long at least; of others as every snapshot has seen, if it is sure",  \
		COLUMN_NS
#define COL_HELD_MOST                                                                              \
	"held_most_ns", "HELD MOST",                                                               \
		"age of the process that took the lock of a file unseen and has it: it cannot "    \
		"have had it for longer",                                                          \
		COLUMN_NS
#define COL_RCU                                                                                    \
	"rcu_ns", "RCU",                                                                           \
		"of the wait of a percpu-rwsem's writer: for a grace period of RCU, as far as "    \
		"snapshots have seen it",                                                          \
		COLUMN_NS
#define COL_READERS_PART                                                                           \
	"readers_ns", "READERS", "the same, until the readers of before were through", COLUMN_NS
#define COL_FD "fd", "FD", "number of the descriptor", COLUMN_INT
#define COL_OWNER_FUNCTION                                                                         \
	"owner_function", "LAST SEEN IN",                                                          \
		"function in which the holder slept in the last snapshot", COLUMN_TEXT
#define COL_NEXT_PID                                                                               \
	"next_pid", "NEXT PID",                                                                    \
		"process id of the task that gets a free lock next, as the first in its queue",    \
		COLUMN_INT
#define COL_NEXT_TID                                                                               \
	"next_tid", "NEXT TID", "thread id of the task that gets a free lock next", COLUMN_INT
#define COL_NEXT_COMM                                                                              \
	"next_comm", "NEXT COMM", "name of the task that gets a free lock next", COLUMN_TEXT
#define COL_READERS_EVIDENT                                                                        \
	"readers_evident", "READERS",                                                              \
		"tasks that seem to hold it as readers, each with what it does and the call that " \
		"shows it: evidence, no proof",                                                    \
		COLUMN_TEXT

/* Of a task that is runnable, or of a holder that is. */
#define COL_OFF_PID                                                                                \
	"kept_off_pid", "OFF PID", "process id of the task that has its CPU, if it is runnable",   \
		COLUMN_INT
#define COL_OFF_TID "kept_off_tid", "OFF TID", "thread id of that one", COLUMN_INT
#define COL_OFF_COMM "kept_off_comm", "OFF COMM", "name of that one", COLUMN_TEXT

/* Waits. */
#define COL_WAITING "waiting", "NOW", "tasks that wait now", COLUMN_COUNT
#define COL_CONT_RATE "cont_per_s", "CONT/s", "contentions per second", COLUMN_RATE
#define COL_WAIT_RATE                                                                              \
	"wait_ns_per_s", "WAIT/s",                                                                 \
		"time waited per second, waits in flight included: the average number of tasks "   \
		"that wait",                                                                       \
		COLUMN_NSRATE
#define COL_WAIT_PCT "wait_pct", "WAIT%", "share of WAIT/s of all rows", COLUMN_PCT
#define COL_CONTENDED "contended", "CONTENDED", "finished waits", COLUMN_COUNT
#define COL_TOTAL "total_ns", "TOTAL", "time of all waits, those in flight included", COLUMN_NS
#define COL_SPIN                                                                                   \
	"spin_ns", "SPIN", "time spent spinning for mutexes and spinlocks, on a CPU", COLUMN_NS
#define COL_BLOCK "block_ns", "BLOCK", "time spent waiting without a CPU", COLUMN_NS
#define COL_SPIN_RATE                                                                              \
	"spin_ns_per_s", "SPIN/s", "SPIN per second: the number of CPUs that spin", COLUMN_NSRATE
#define COL_WAIT_LOST                                                                              \
	"wait_lost_ns", "LOST",                                                                    \
		"time waited while a CPU was idle that the task may use: about what the waits "    \
		"cost",                                                                            \
		COLUMN_NS
#define COL_WAIT_LOST_RATE                                                                         \
	"wait_lost_ns_per_s", "LOST/s", "LOST per second: tasks that would have run, on average",  \
		COLUMN_NSRATE
#define COL_WAIT_LOST_PCT                                                                          \
	"wait_lost_pct", "LOST%", "share of LOST in the time waited; the rest cost nothing",       \
		COLUMN_PCT
#define COL_WAIT_PAR                                                                               \
	"wait_par", "PAR", "other threads of the process that ran meanwhile", COLUMN_RATE
#define COL_MAX "max_ns", "MAX", "longest wait, waits in flight included", COLUMN_NS
#define COL_MIN "min_ns", "MIN", "shortest wait", COLUMN_NS
#define COL_WAIT_ENDED "ended", "ENDED", "all waits of the row have ended", COLUMN_BOOL
#define COL_ENDED_NS "ended_ns", "ENDED", "time since the last wait of the row ended", COLUMN_NS
#define COL_WAITED_BY_ALL(TITLE)                                                                   \
	"waited_ns", TITLE, "waiting time of all tasks of the row so far, added up", COLUMN_NS
/* Of finished waits alone: sums that can be compared and added up. */
#define COL_FINISHED_TOTAL "total_ns", "TOTAL", "time of all finished waits", COLUMN_NS
#define COL_FINISHED_AVG "avg_ns", "AVG", "average finished wait", COLUMN_NS
#define COL_FINISHED_MAX "max_ns", "MAX", "longest finished wait", COLUMN_NS
/* @WHAT has the durations: "waits", "holds". */
#define COL_P50(WHAT) "p50_ns", "P50", "half of the " WHAT " were shorter, within 13 %", COLUMN_NS
#define COL_P90(WHAT) "p90_ns", "P90", "90 % of the " WHAT " were shorter, within 13 %", COLUMN_NS
#define COL_P99(WHAT) "p99_ns", "P99", "99 % of the " WHAT " were shorter, within 13 %", COLUMN_NS
#define COL_LAST(WHAT) "last_ns", "LAST", "time since the latest " WHAT " ended", COLUMN_NS
/* Buckets of durations, which no table shows: three series, the limits and the numbers. */
#define COL_HIST_FROM(KEY) KEY, "", "buckets of durations: from", COLUMN_SERIES
#define COL_HIST_TO(KEY) KEY, "", "buckets of durations: up to, but not with", COLUMN_SERIES
#define COL_HIST_N(KEY) KEY, "", "number of durations in each bucket", COLUMN_SERIES

/* Time for which holders kept others waiting, by what the holder did. */
#define COL_WAITED_BY_OTHERS                                                                       \
	"waited_ns", "WAITED", "time that others waited for the lock meanwhile, added up", COLUMN_NS
#define COL_MOSTLY                                                                                 \
	"mostly", "MOSTLY",                                                                        \
		"main activity of the holder, and its reason: the task that kept it off the CPU, " \
		"the cause and function of its sleep, the function in which it ran, or the lock "  \
		"that it waited for",                                                              \
		COLUMN_TEXT
#define COL_MOSTLY_STATE                                                                           \
	"mostly_state", "MOSTLY STATE",                                                            \
		"MOSTLY in parts: running, runnable, asleep, io, lock, not_followed, circle or "   \
		"unknown",                                                                         \
		COLUMN_TEXT
#define COL_MOSTLY_PCT "mostly_pct", "MOSTLY%", "share of MOSTLY in the time", COLUMN_PCT
#define COL_MOSTLY_WHO "mostly_who", "KEPT OFF BY", "task that had the CPU", COLUMN_TEXT
#define COL_MOSTLY_IN                                                                              \
	"mostly_in", "ASLEEP IN", "function in which the holder slept, or ran", COLUMN_TEXT
#define COL_MOSTLY_WHAT                                                                            \
	"mostly_what", "WAITED FOR", "cause of the sleep, by its calls, or the lock", COLUMN_TEXT
#define COL_RUNNING "running_pct", "RUN%", "share of the time in which the holder ran", COLUMN_PCT
#define COL_RUNNABLE                                                                               \
	"runnable_pct", "RDY%",                                                                    \
		"share in which the holder was ready to run and another task had the CPU",         \
		COLUMN_PCT
#define COL_ASLEEP                                                                                 \
	"asleep_pct", "SLP%", "share in which the holder slept, and not for I/O or a lock",        \
		COLUMN_PCT
#define COL_IO "io_pct", "I/O%", "share in which the holder slept for I/O", COLUMN_PCT
#define COL_RUNNING_NS "running_ns", "RUN", "RUN% as time", COLUMN_NS
#define COL_RUNNABLE_NS "runnable_ns", "RDY", "RDY% as time", COLUMN_NS
#define COL_ASLEEP_NS "asleep_ns", "SLP", "SLP% as time", COLUMN_NS
#define COL_IO_NS "io_ns", "I/O", "I/O% as time", COLUMN_NS
#define COL_NOT_FOLLOWED_NS                                                                        \
	"not_followed_ns", "NOT", "time in which the holder was not followed", COLUMN_NS
#define COL_CHARGED_LAST "last_ns", "LAST", "time since it last happened", COLUMN_NS

/* Comparisons: a column of either side, as COL_A(COL_CONTENDED), and what is between them. */
#define COL_A(...) COL_SIDE("a", "A", __VA_ARGS__)
#define COL_B(...) COL_SIDE("b", "B", __VA_ARGS__)
#define COL_SIDE(PREFIX, SIDE, KEY, TITLE, HELP, TYPE)                                             \
	PREFIX "_" KEY, SIDE ":" TITLE, "in " SIDE ": " HELP, TYPE
/* A column of both sides in a table: numbers @A and @B; width, priority and flags follow. */
#define COL_SIDES(A, B, COL, ...) [A] = {COL_A(COL), __VA_ARGS__}, [B] = {COL_B(COL), __VA_ARGS__}
#define COL_CHANGE "change", "CHANGE", "new, gone, more, less or same (within 1 %)", COLUMN_TEXT
#define COL_DELTA(TITLE)                                                                           \
	"delta_ns_per_s", TITLE, "wait per second in B less that in A", COLUMN_NSRATE
#define COL_ROW_NAME "name", "NAME", "name of the row", COLUMN_TEXT

#endif
