// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of the table "blame", once, and the kinds of table made of them: one for each column
 * set, which screens, texts and CSV show, and one with all columns, for JSON. A set has its columns
 * under short names, as in --sort; with all columns those of held and did have a prefix, so that
 * each name is there once. In all kinds a column has the same place.
 */
#include "columns.h"
#include "rows.h"

enum { S = COLUMN_SCREEN, R = COLUMN_REPORT, SR = S | R, W = COLUMN_WIDE };

#define FLAGS(SET, OWN, F) ((SET) == (OWN) ? (F) : (SET) == BLAME_ALL ? (F)&R : 0)
#define KEY(SET, OWN, SHORT, LONG) ((SET) == (OWN) ? (SHORT) : (SET) == BLAME_ALL ? (LONG) : "")
/* A column of one set; the rest is the ways to make rows in which it says something. */
#define OF(SET, OWN, SHORT, LONG, TITLE, HELP, TYPE, WIDTH, PRIORITY, F, ...)                      \
	{                                                                                          \
		KEY(SET, OWN, SHORT, LONG), TITLE, HELP, TYPE, WIDTH, PRIORITY,                    \
			FLAGS(SET, OWN, F), __VA_ARGS__                                            \
	}
#define WAITS(SET, SHORT, ...) OF(SET, BLAME_WAITS, SHORT, SHORT, __VA_ARGS__)
#define HELD(SET, SHORT, LONG, ...) OF(SET, BLAME_HELD, SHORT, LONG, __VA_ARGS__)
#define DID(SET, SHORT, LONG, ...) OF(SET, BLAME_DID, SHORT, LONG, __VA_ARGS__)
/* Waits are charged to the root; in the other sets the row has the lock itself. */
#define ROOT(SET, A, B) ((SET) == BLAME_WAITS || (SET) == BLAME_ALL ? (A) : (B))

#define ROW_COLUMNS(SET)                                                                           \
	[C_TASK] = {"task",                                                                        \
		    ROOT(SET, "BECAUSE OF", "HOLDER"),                                             \
		    ROOT(SET, "the root: the task that held the lock, and waited for none itself", \
			 "task that held the lock: name and thread id"),                           \
		    COLUMN_TEXT,                                                                   \
		    ROOT(SET, 18, 16),                                                             \
		    0,                                                                             \
		    S,                                                                             \
		    1 << BLAME_BY_TASK},                                                           \
	[C_PROCESS] = {"process",                                                                  \
		       ROOT(SET, "BECAUSE OF", "HOLDER"),                                          \
		       ROOT(SET, "the process of the root: name and process id",                   \
			    "the process that held it: name and process id"),                      \
		       COLUMN_TEXT,                                                                \
		       ROOT(SET, 18, 16),                                                          \
		       0,                                                                          \
		       S,                                                                          \
		       1 << BLAME_BY_PROCESS},                                                     \
	[C_PID] = {"pid",                                                                          \
		   "PID",                                                                          \
		   ROOT(SET, "process id of the root", "process id of the holder"),                \
		   COLUMN_INT,                                                                     \
		   7,                                                                              \
		   9,                                                                              \
		   R,                                                                              \
		   BLAME_BY_WHO},                                                                  \
	[C_TID] = {"tid",                                                                          \
		   "TID",                                                                          \
		   ROOT(SET, "thread id of the root", "thread id of the holder"),                  \
		   COLUMN_INT,                                                                     \
		   7,                                                                              \
		   9,                                                                              \
		   R,                                                                              \
		   1 << BLAME_BY_TASK},                                                            \
	[C_COMM] = {"comm", "COMM", "its name", COLUMN_TEXT, 16, 9, R, BLAME_BY_WHO},              \
	[C_STATE] = WAITS(SET, "state", "IT WAS", "activity of the root, or why it is not known",  \
			  COLUMN_TEXT, 20, 0, SR, 1 << BLAME_BY_STATE),                            \
	[C_STACK] = {"stack",                                                                      \
		     (SET) == BLAME_HELD ? "CALL CHAIN" : "GOT IN, AND ITS CALLERS",               \
		     ROOT(SET,                                                                     \
			  "call chain in which the root had got the lock, from the call site "     \
			  "outwards",                                                              \
			  "call chain in which the holder had got the lock, from the call site "   \
			  "outwards"),                                                             \
		     COLUMN_TEXT,                                                                  \
		     40,                                                                           \
		     0,                                                                            \
		     SR | W,                                                                       \
		     1 << BLAME_BY_STACK},                                                         \
	[C_ROW] = {(SET) == BLAME_HELD ? "" : "row",                                               \
		   "ROW",                                                                          \
		   ROOT(SET,                                                                       \
			"kind of the row: task, reader (which one is not known), other "           \
			"(forgotten) or unknown",                                                  \
			"kind of the row: task, reader (which one is not known) or other "         \
			"(forgotten)"),                                                            \
		   COLUMN_TEXT,                                                                    \
		   7,                                                                              \
		   9,                                                                              \
		   (SET) == BLAME_HELD ? 0 : R,                                                    \
		   BLAME_BY_WHO},

#define WAITS_COLUMNS(SET)                                                                         \
	[C_KIND] = WAITS(SET, "kind", "TYPE", "type and mode in which the root had the lock",      \
			 COLUMN_TEXT, 10, 4, SR, 0),                                               \
	[C_LOCK] = WAITS(SET, "lock", "ADDRESS",                                                   \
			 "address of the lock; unknown where the row spans several", COLUMN_ADDR,  \
			 18, 9, R, 0),                                                             \
	[C_NAME] = WAITS(SET, "name", "LOCK",                                                      \
			 "the lock that the root had; ~ the one that cost most of several",        \
			 COLUMN_TEXT, 18, 0, SR | W, 0),                                           \
	[C_LOCKS] = WAITS(SET, "locks", "LOCKS",                                                   \
			  "number of locks that the row spans, each mode counted", COLUMN_COUNT,   \
			  5, 6, SR, ~(1u << BLAME_BY_LOCK)),                                       \
	[C_WAITED] = WAITS(SET, "waited_ns", "WAITED", "time that all waiters lost because of it", \
			   COLUMN_NS, 6, 0, SR, 0),                                                \
	[C_PCT] = WAITS(SET, "waited_pct", "WAIT%",                                                \
			"its share of all time waited, with or without a known holder",            \
			COLUMN_PCT, 5, 1, SR, 0),                                                  \
	[C_MOSTLY] = WAITS(                                                                        \
		SET, "mostly", "MOSTLY",                                                           \
		"main activity of the root in WAITED, and its reason: the task that kept it "      \
		"off the CPU, or the cause and function of its sleep",                             \
		COLUMN_TEXT, 22, 0, SR | W, 0),                                                    \
	[C_CALLER] = WAITS(                                                                        \
		SET, "caller", "GOT IN",                                                           \
		"function in which the root had got the lock, where it had waited for it; ~ "      \
		"of several the one that cost most",                                               \
		COLUMN_TEXT, 18, 3, SR | W, 0),                                                    \
	[C_WAITS] = WAITS(SET, "waits", "WHO LOSES MOST",                                          \
			  "lock and function with the most waiting time", COLUMN_TEXT, 24, 3,      \
			  S | W, 0),                                                               \
	[C_RUNNING] = WAITS(SET, "running_pct", "RUN%", "part of WAITED while the root ran",       \
			    COLUMN_PCT, 5, 2, SR, 0),                                              \
	[C_RUNNABLE] = WAITS(SET, "runnable_pct", "RDY%",                                          \
			     "while it was ready to run and another task had the CPU", COLUMN_PCT, \
			     5, 2, SR, 0),                                                         \
	[C_ASLEEP] = WAITS(SET, "asleep_pct", "SLP%", "while it was asleep, and not for I/O",      \
			   COLUMN_PCT, 5, 2, SR, 0),                                               \
	[C_IO] = WAITS(SET, "io_pct", "I/O%", "while it was asleep for I/O", COLUMN_PCT, 5, 2, SR, \
		       0),                                                                         \
	[C_OTHER] = WAITS(                                                                         \
		SET, "other_pct", "OTH%",                                                          \
		"the rest: it was not followed, in a circle of waits, or no holder is known",      \
		COLUMN_PCT, 5, 2, SR, 0),                                                          \
	[C_RUNNING_NS] = WAITS(SET, "running_ns", "RUN", "RUN% as time", COLUMN_NS, 6, 9, R, 0),   \
	[C_RUNNABLE_NS] = WAITS(SET, "runnable_ns", "RDY", "RDY% as time", COLUMN_NS, 6, 9, R, 0), \
	[C_ASLEEP_NS] = WAITS(SET, "asleep_ns", "SLP", "SLP% as time", COLUMN_NS, 6, 9, R, 0),     \
	[C_IO_NS] = WAITS(SET, "io_ns", "I/O", "I/O% as time", COLUMN_NS, 6, 9, R, 0),             \
	[C_NOT_FOLLOWED_NS] = WAITS(SET, "not_followed_ns", "NOT FOLLOWED",                        \
				    "time without known activity", COLUMN_NS, 6, 9, R, 0),         \
	[C_CIRCLE_NS] = WAITS(SET, "circle_ns", "CIRCLE", "in a circle of waits, as time",         \
			      COLUMN_NS, 6, 9, R, 0),                                              \
	[C_UNKNOWN_NS] = WAITS(SET, "unknown_ns", "UNKNOWN", "no holder is known, as time",        \
			       COLUMN_NS, 6, 9, R, 0),                                             \
	[C_CHAINED] = WAITS(SET, "chained_pct", "CHAIN%",                                          \
			    "part of WAITED for other locks, whose holders waited for this root",  \
			    COLUMN_PCT, 6, 5, SR, 0),                                              \
	[C_CHAINED_NS] =                                                                           \
		WAITS(SET, "chained_ns", "CHAIN", "CHAIN% as time", COLUMN_NS, 6, 9, R, 0),        \
	[C_MOSTLY_STATE] =                                                                         \
		WAITS(SET, "mostly_state", "MOSTLY STATE",                                         \
		      "MOSTLY in parts: running, runnable, asleep, io, not_followed, circle, "     \
		      "unknown",                                                                   \
		      COLUMN_TEXT, 12, 9, R, 0),                                                   \
	[C_MOSTLY_PCT] =                                                                           \
		WAITS(SET, "mostly_pct", "MOSTLY%", "its part of WAITED", COLUMN_PCT, 5, 9, R, 0), \
	[C_MOSTLY_WHO] = WAITS(SET, "mostly_who", "KEPT OFF BY", "task that had the CPU",          \
			       COLUMN_TEXT, 16, 9, R, 0),                                          \
	[C_MOSTLY_IN] =                                                                            \
		WAITS(SET, "mostly_in", "ASLEEP IN", "the function", COLUMN_TEXT, 16, 9, R, 0),    \
	[C_MOSTLY_WHAT] = WAITS(SET, "mostly_what", "ASLEEP FOR",                                  \
				"reason of the sleep, by its calls", COLUMN_TEXT, 16, 9, R, 0),    \
	[C_WAITS_NAME] = WAITS(SET, "waits_name", "WAITED FOR", "the lock of WHO LOSES MOST",      \
			       COLUMN_TEXT, 18, 9, R, 0),                                          \
	[C_WAITS_CALLER] = WAITS(SET, "waits_caller", "WAITED IN", "and the function",             \
				 COLUMN_TEXT, 18, 9, R, 0),                                        \
	[C_LAST] = WAITS(SET, "last_ns", "LAST", "time since it last happened", COLUMN_NS, 6, 6,   \
			 SR, 0),

#define HELD_COLUMNS(SET)                                                                          \
	[C_HELD_KIND] = HELD(SET, "kind", "held_kind", "TYPE",                                     \
			     "type and mode in which it was held", COLUMN_TEXT, 10, 0, SR, 0),     \
	[C_HELD_LOCK] = HELD(SET, "lock", "held_lock", "ADDRESS",                                  \
			     "address of the lock; unknown where the row spans several",           \
			     COLUMN_ADDR, 18, 9, R, 0),                                            \
	[C_HELD_NAME] = HELD(SET, "name", "held_name", "LOCK",                                     \
			     "name of the lock; ~ the one held longest of several", COLUMN_TEXT,   \
			     20, 0, SR | W, 0),                                                    \
	[C_HELD_LOCKS] = HELD(SET, "locks", "held_locks", "LOCKS",                                 \
			      "number of locks that the row spans, each mode counted",             \
			      COLUMN_COUNT, 5, 6, SR, ~(1u << BLAME_BY_LOCK)),                     \
	[C_HELD_TIMES] =                                                                           \
		HELD(SET, "held", "held", "HELD", "times that it was held while others waited",    \
		     COLUMN_COUNT, 6, 1, SR, 0),                                                   \
	[C_HELD_TOTAL] = HELD(SET, "total_ns", "held_total_ns", "TOTAL",                           \
			      "total time, an upper bound; exact for the times counted in EXACT",  \
			      COLUMN_NS, 7, 0, SR, 0),                                             \
	[C_HELD_WAITED] = HELD(SET, "waited_ns", "held_waited_ns", "WAITED",                       \
			       "time that others waited for the lock meanwhile, added up",         \
			       COLUMN_NS, 6, 0, SR, 0),                                            \
	[C_HELD_PCT] = HELD(SET, "waited_pct", "held_waited_pct", "WAIT%",                         \
			    "its share of all time waited, or of all holds, if these cost more",   \
			    COLUMN_PCT, 5, 3, SR, 0),                                              \
	[C_HELD_AVG] =                                                                             \
		HELD(SET, "avg_ns", "held_avg_ns", "AVG", "TOTAL / HELD", COLUMN_NS, 6, 2, SR, 0), \
	[C_HELD_P50] =                                                                             \
		HELD(SET, "p50_ns", "held_p50_ns", "P50",                                          \
		     "half of the times were shorter, within 13 %", COLUMN_NS, 6, 3, SR, 0),       \
	[C_HELD_P90] =                                                                             \
		HELD(SET, "p90_ns", "held_p90_ns", "P90",                                          \
		     "90 % of the times were shorter, within 13 %", COLUMN_NS, 6, 5, SR, 0),       \
	[C_HELD_P99] =                                                                             \
		HELD(SET, "p99_ns", "held_p99_ns", "P99",                                          \
		     "99 % of the times were shorter, within 13 %", COLUMN_NS, 6, 1, SR, 0),       \
	[C_HELD_MAX] =                                                                             \
		HELD(SET, "max_ns", "held_max_ns", "MAX", "the longest", COLUMN_NS, 6, 1, SR, 0),  \
	[C_HELD_LAST] = HELD(SET, "last_ns", "held_last_ns", "LAST",                               \
			     "time since the latest one ended", COLUMN_NS, 6, 6, SR, 0),           \
	[C_HELD_CALLER] =                                                                          \
		HELD(SET, "caller", "held_caller", "GOT IN",                                       \
		     "function in which the holder had got the lock; ~ the one held longest of "   \
		     "several",                                                                    \
		     COLUMN_TEXT, 20, 1, SR | W, 0),                                               \
	[C_HELD_EXACT] = HELD(SET, "exact", "held_exact", "EXACT",                                 \
			      "number of times that are exact, as the release was reported",       \
			      COLUMN_COUNT, 6, 4, SR, 0),                                          \
	[C_HELD_HANDED] = HELD(SET, "handovers", "handovers", "HANDED",                            \
			       "hand-overs with a known duration", COLUMN_COUNT, 6, 8, SR, 0),     \
	[C_HELD_HANDED_P50] =                                                                      \
		HELD(SET, "handover_p50_ns", "handover_p50_ns", "HO-P50",                          \
		     "half of the hand-overs, from a release until the next one had the lock, "    \
		     "were shorter, within 13 %",                                                  \
		     COLUMN_NS, 6, 7, SR, 0),                                                      \
	[C_HELD_HANDED_P99] =                                                                      \
		HELD(SET, "handover_p99_ns", "handover_p99_ns", "HO-P99",                          \
		     "99 % of the hand-overs were shorter, within 13 %", COLUMN_NS, 6, 7, SR, 0),  \
	[C_HELD_HANDED_MAX] = HELD(SET, "handover_max_ns", "handover_max_ns", "HO-MAX",            \
				   "the longest of them", COLUMN_NS, 6, 8, SR, 0),

#define DID_COLUMNS(SET)                                                                           \
	[C_DID_KIND] = DID(SET, "kind", "did_kind", "TYPE", "type and mode in which it was held",  \
			   COLUMN_TEXT, 10, 1, SR, 0),                                             \
	[C_DID_LOCK] = DID(SET, "lock", "did_lock", "ADDRESS",                                     \
			   "address of the lock; unknown where the row spans several",             \
			   COLUMN_ADDR, 18, 9, R, 0),                                              \
	[C_DID_NAME] = DID(SET, "name", "did_name", "LOCK",                                        \
			   "name of the lock; ~ the one with most TIME of several", COLUMN_TEXT,   \
			   18, 0, SR | W, 0),                                                      \
	[C_DID_LOCKS] = DID(SET, "locks", "did_locks", "LOCKS",                                    \
			    "number of locks that the row spans, each mode counted", COLUMN_COUNT, \
			    5, 6, SR, ~(1u << BLAME_BY_LOCK)),                                     \
	[C_DID_TIME] =                                                                             \
		DID(SET, "time_ns", "did_time_ns", "TIME",                                         \
		    "time that known holders had it while others waited", COLUMN_NS, 6, 0, SR, 0), \
	[C_DID_MOSTLY] =                                                                           \
		DID(SET, "mostly", "did_mostly", "MOSTLY",                                         \
		    "main activity of the holders in TIME, and its reason: the task that kept "    \
		    "them off the CPU, the cause and function of their sleep, or the lock that "   \
		    "they waited for",                                                             \
		    COLUMN_TEXT, 22, 1, SR | W, 0),                                                \
	[C_DID_RUNNING] = DID(SET, "running_pct", "did_running_pct", "RUN%",                       \
			      "part of TIME while they ran", COLUMN_PCT, 5, 1, SR, 0),             \
	[C_DID_RUNNABLE] = DID(SET, "runnable_pct", "did_runnable_pct", "RDY%",                    \
			       "while they were ready to run and another task had the CPU",        \
			       COLUMN_PCT, 5, 1, SR, 0),                                           \
	[C_DID_ASLEEP] =                                                                           \
		DID(SET, "asleep_pct", "did_asleep_pct", "SLP%",                                   \
		    "while they were asleep, and not for I/O or a lock", COLUMN_PCT, 5, 1, SR, 0), \
	[C_DID_IO] = DID(SET, "io_pct", "did_io_pct", "I/O%", "while they were asleep for I/O",    \
			 COLUMN_PCT, 5, 2, SR, 0),                                                 \
	[C_DID_PASSED] = DID(SET, "lock_pct", "did_lock_pct", "LCK%",                              \
			     "while they waited for another lock themselves, in a circle or not",  \
			     COLUMN_PCT, 5, 2, SR, 0),                                             \
	[C_DID_NOT_FOLLOWED] = DID(SET, "not_followed_pct", "did_not_followed_pct", "NOT%",        \
				   "while they were not followed", COLUMN_PCT, 5, 2, SR, 0),       \
	[C_DID_RUNNING_NS] = DID(SET, "running_ns", "did_running_ns", "RUN", "RUN% as time",       \
				 COLUMN_NS, 6, 7, SR, 0),                                          \
	[C_DID_RUNNABLE_NS] = DID(SET, "runnable_ns", "did_runnable_ns", "RDY", "RDY% as time",    \
				  COLUMN_NS, 6, 7, SR, 0),                                         \
	[C_DID_ASLEEP_NS] = DID(SET, "asleep_ns", "did_asleep_ns", "SLP", "SLP% as time",          \
				COLUMN_NS, 6, 7, SR, 0),                                           \
	[C_DID_IO_NS] =                                                                            \
		DID(SET, "io_ns", "did_io_ns", "I/O", "I/O% as time", COLUMN_NS, 6, 7, SR, 0),     \
	[C_DID_PASSED_NS] =                                                                        \
		DID(SET, "lock_ns", "did_lock_ns", "LCK", "LCK% as time", COLUMN_NS, 6, 7, SR, 0), \
	[C_DID_NOT_FOLLOWED_NS] = DID(SET, "not_followed_ns", "did_not_followed_ns", "NOT",        \
				      "NOT% as time", COLUMN_NS, 6, 7, SR, 0),                     \
	[C_DID_WAITED] = DID(SET, "waited_ns", "did_waited_ns", "WAITED",                          \
			     "time that others waited for the lock meanwhile, together",           \
			     COLUMN_NS, 6, 3, SR, 0),                                              \
	[C_DID_CALLER] =                                                                           \
		DID(SET, "caller", "did_caller", "GOT IN",                                         \
		    "function in which the holder had got the lock, where it had waited for it; "  \
		    "~ of several the one with most TIME",                                         \
		    COLUMN_TEXT, 18, 3, SR | W, 0),                                                \
	[C_DID_MOSTLY_STATE] =                                                                     \
		DID(SET, "mostly_state", "did_mostly_state", "MOSTLY STATE",                       \
		    "MOSTLY in parts: running, runnable, asleep, io, lock, circle, "               \
		    "not_followed",                                                                \
		    COLUMN_TEXT, 12, 9, R, 0),                                                     \
	[C_DID_MOSTLY_PCT] = DID(SET, "mostly_pct", "did_mostly_pct", "MOSTLY%",                   \
				 "its part of TIME", COLUMN_PCT, 5, 9, R, 0),                      \
	[C_DID_MOSTLY_WHO] = DID(SET, "mostly_who", "did_mostly_who", "KEPT OFF BY",               \
				 "task that had the CPU", COLUMN_TEXT, 16, 9, R, 0),               \
	[C_DID_MOSTLY_IN] = DID(SET, "mostly_in", "did_mostly_in", "ASLEEP IN", "the function",    \
				COLUMN_TEXT, 16, 9, R, 0),                                         \
	[C_DID_MOSTLY_WHAT] =                                                                      \
		DID(SET, "mostly_what", "did_mostly_what", "WAITED FOR",                           \
		    "reason of the sleep, by its calls, or the lock", COLUMN_TEXT, 16, 9, R, 0),   \
	[C_DID_LAST] = DID(SET, "last_ns", "did_last_ns", "LAST", "time since it last happened",   \
			   COLUMN_NS, 6, 6, SR, 0),

#define COLUMNS(SET)                                                                               \
	{                                                                                          \
		ROW_COLUMNS(SET)                                                                   \
		WAITS_COLUMNS(SET)                                                                 \
		HELD_COLUMNS(SET)                                                                  \
		DID_COLUMNS(SET)                                                                   \
		[C_LOCK_ID] = {                                                                    \
			"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0,     \
			9,	   0},                                                             \
	}

static const struct column waits[C_COLUMNS] = COLUMNS(BLAME_WAITS),
			   held[C_COLUMNS] = COLUMNS(BLAME_HELD),
			   did[C_COLUMNS] = COLUMNS(BLAME_DID), all[C_COLUMNS] = COLUMNS(BLAME_ALL);

_Static_assert(C_COLUMNS <= (int)TABLE_COLUMNS, "more columns than a table may have");

const struct table_kind query_blame_kind = {"blame", waits, C_COLUMNS, blame_fill, blame_rank};
const struct table_kind query_blame_held_kind = {"held", held, C_COLUMNS, blame_fill, blame_rank};
const struct table_kind query_blame_did_kind = {"did", did, C_COLUMNS, blame_fill, blame_rank};
const struct table_kind query_blame_all_kind = {"blame", all, C_COLUMNS, blame_fill, blame_rank};
