// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of the table "blame", once, and the kinds of table made of them: one for each column
 * set, which screens, texts and CSV show, and one with all columns, for JSON. A set has its columns
 * under short names, as in --sort; with all columns those of held and did have a prefix, so that
 * each name is there once. In all kinds a column has the same place.
 */
#include "columns.h"
#include "kontend/columns.h"
#include "rows.h"

#define FLAGS(SET, OWN, F) ((SET) == (OWN) ? (F) : (SET) == BLAME_ALL ? (F)&R : 0)
#define KEY_OF(SET, OWN, SHORT, LONG) ((SET) == (OWN) ? (SHORT) : (SET) == BLAME_ALL ? (LONG) : "")
/* A column of one set; the rest is the ways to make rows in which it says something. */
#define OF(SET, OWN, PREFIX, KEY, TITLE, HELP, TYPE, WIDTH, PRIORITY, F, ...)                      \
	{                                                                                          \
		KEY_OF(SET, OWN, KEY, PREFIX KEY), TITLE, HELP, TYPE, WIDTH, PRIORITY,             \
			FLAGS(SET, OWN, F), __VA_ARGS__                                            \
	}
#define WAITS(SET, ...) OF(SET, BLAME_WAITS, "", __VA_ARGS__)
#define HELD(SET, ...) OF(SET, BLAME_HELD, "held_", __VA_ARGS__)
#define DID(SET, ...) OF(SET, BLAME_DID, "did_", __VA_ARGS__)
/* No other set has that key, so it needs no prefix. */
#define HELD_ALONE(SET, ...) OF(SET, BLAME_HELD, "", __VA_ARGS__)
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
			    "process that held the lock: name and process id"),                    \
		       COLUMN_TEXT,                                                                \
		       ROOT(SET, 18, 16),                                                          \
		       0,                                                                          \
		       S,                                                                          \
		       1 << BLAME_BY_PROCESS},                                                     \
	[C_PID] = {COL_PID, 7, 9, R, BLAME_BY_WHO},                                                \
	[C_TID] = {COL_TID, 7, 9, R, 1 << BLAME_BY_TASK},                                          \
	[C_COMM] = {COL_COMM, 16, 9, R, BLAME_BY_WHO},                                             \
	[C_STATE] = WAITS(SET, "state", "IT WAS", "activity of the root, or why it is not known",  \
			  COLUMN_TEXT, 20, 0, SR, 1 << BLAME_BY_STATE),                            \
	[C_STACK] = {COL_GOT_IN_STACK((SET) == BLAME_HELD ? "CALL CHAIN"                           \
							  : "GOT IN, AND ITS CALLERS"),            \
		     40, 0, SR | W, 1 << BLAME_BY_STACK},                                          \
	[C_SYSCALL] =                                                                              \
		{"syscall",                                                                        \
		 "SYSCALL",                                                                        \
		 "system call in which the holder acquired the lock; ~ the worst of several",      \
		 COLUMN_TEXT,                                                                      \
		 10,                                                                               \
		 6,                                                                                \
		 SR},                                                                              \
	[C_SYSCALL_REASON] = {COL_SYSCALL_REASON, 20, 9, R}, [C_ON] = {COL_ON, 16, 6, SR | W},     \
	[C_ON_REASON] = {COL_ON_REASON, 20, 9, R},                                                 \
	[C_AT] = {"at",                                                                            \
		  "AT",                                                                            \
		  "line of the program that acquired the lock; ~ the worst of several, or inside " \
		  "a library of its language",                                                     \
		  COLUMN_TEXT,                                                                     \
		  20,                                                                              \
		  3,                                                                               \
		  SR | W},                                                                         \
	[C_AT_REASON] = {COL_AT_REASON, 20, 9, R},                                                 \
	[C_ROW] = {(SET) == BLAME_HELD ? "" : "row",                                               \
		   "ROW",                                                                          \
		   "kind of the row: task, reader (which one is not known), other (forgotten) or " \
		   "unknown",                                                                      \
		   COLUMN_TEXT,                                                                    \
		   7,                                                                              \
		   9,                                                                              \
		   (SET) == BLAME_HELD ? 0 : R,                                                    \
		   BLAME_BY_WHO},

#define WAITS_COLUMNS(SET)                                                                         \
	[C_KIND] = WAITS(SET, COL_HELD_KIND, 10, 4, SR, 0),                                        \
	[C_LOCK] = WAITS(SET, COL_LOCK, 18, 9, R, 0),                                              \
	[C_NAME] = WAITS(SET, COL_NAME, 18, 0, SR | W, 0),                                         \
	[C_LOCKS] = WAITS(SET, COL_LOCKS, 5, 6, SR, ~(1u << BLAME_BY_LOCK)),                       \
	[C_WAITED] =                                                                               \
		WAITS(SET, "waited_ns", "WAITED",                                                  \
		      "time that all waiters lost because of the root", COLUMN_NS, 6, 0, SR, 0),   \
	[C_PCT] = WAITS(SET, "waited_pct", "WAIT%",                                                \
			"share of all time waited, with or without a known holder", COLUMN_PCT, 5, \
			1, SR, 0),                                                                 \
	[C_LOST] = WAITS(SET, COL_WAIT_LOST, 6, 4, SR, 0),                                         \
	[C_LOST_PCT] = WAITS(SET, COL_WAIT_LOST_PCT, 5, 6, SR, 0),                                 \
	[C_PAR] = WAITS(SET, COL_WAIT_PAR, 5, 5, SR, 0),                                           \
	[C_MOSTLY] = WAITS(SET, COL_MOSTLY, 22, 0, SR | W, 0),                                     \
	[C_ENDS] = WAITS(SET, "ends_at", "ENDS AT",                                                \
			 "object for which the root sleeps now, and the device or task at the "    \
			 "end of that chain",                                                      \
			 COLUMN_TEXT, 20, 2, SR | W, 1 << BLAME_BY_TASK),                          \
	[C_CALLER] = WAITS(SET, COL_GOT_IN, 18, 3, SR | W, 0),                                     \
	[C_WAITS] = WAITS(SET, "waits", "WHO LOSES MOST",                                          \
			  "lock and function with the most waiting time", COLUMN_TEXT, 24, 3,      \
			  S | W, 0),                                                               \
	[C_RUNNING] = WAITS(SET, COL_RUNNING, 5, 2, SR, 0),                                        \
	[C_RUNNABLE] = WAITS(SET, COL_RUNNABLE, 5, 2, SR, 0),                                      \
	[C_ASLEEP] = WAITS(SET, COL_ASLEEP, 5, 2, SR, 0),                                          \
	[C_IO] = WAITS(SET, COL_IO, 5, 2, SR, 0),                                                  \
	[C_OTHER] = WAITS(SET, "other_pct", "OTH%",                                                \
			  "share in which the holder was not followed, waited in a circle, or "    \
			  "was not known",                                                         \
			  COLUMN_PCT, 5, 2, SR, 0),                                                \
	[C_RUNNING_NS] = WAITS(SET, COL_RUNNING_NS, 6, 9, R, 0),                                   \
	[C_RUNNABLE_NS] = WAITS(SET, COL_RUNNABLE_NS, 6, 9, R, 0),                                 \
	[C_ASLEEP_NS] = WAITS(SET, COL_ASLEEP_NS, 6, 9, R, 0),                                     \
	[C_IO_NS] = WAITS(SET, COL_IO_NS, 6, 9, R, 0),                                             \
	[C_NOT_FOLLOWED_NS] = WAITS(SET, COL_NOT_FOLLOWED_NS, 6, 9, R, 0),                         \
	[C_CIRCLE_NS] = WAITS(SET, "circle_ns", "CIRCLE", "time in a circle of waits", COLUMN_NS,  \
			      6, 9, R, 0),                                                         \
	[C_UNKNOWN_NS] = WAITS(SET, "unknown_ns", "UNKNOWN", "time without a known holder",        \
			       COLUMN_NS, 6, 9, R, 0),                                             \
	[C_CHAINED] = WAITS(SET, "chained_pct", "CHAIN%",                                          \
			    "part of WAITED for other locks, whose holders waited for this root",  \
			    COLUMN_PCT, 6, 5, SR, 0),                                              \
	[C_CHAINED_NS] =                                                                           \
		WAITS(SET, "chained_ns", "CHAIN", "CHAIN% as time", COLUMN_NS, 6, 9, R, 0),        \
	[C_MOSTLY_STATE] = WAITS(SET, COL_MOSTLY_STATE, 12, 9, R, 0),                              \
	[C_MOSTLY_PCT] = WAITS(SET, COL_MOSTLY_PCT, 5, 9, R, 0),                                   \
	[C_MOSTLY_WHO] = WAITS(SET, COL_MOSTLY_WHO, 16, 9, R, 0),                                  \
	[C_MOSTLY_IN] = WAITS(SET, COL_MOSTLY_IN, 16, 9, R, 0),                                    \
	[C_MOSTLY_WHAT] = WAITS(SET, COL_MOSTLY_WHAT, 16, 9, R, 0),                                \
	[C_WAITS_NAME] = WAITS(SET, "waits_name", "WAITED FOR", "lock of WHO LOSES MOST",          \
			       COLUMN_TEXT, 18, 9, R, 0),                                          \
	[C_WAITS_CALLER] = WAITS(SET, "waits_caller", "WAITED IN", "function of WHO LOSES MOST",   \
				 COLUMN_TEXT, 18, 9, R, 0),                                        \
	[C_LAST] = WAITS(SET, COL_CHARGED_LAST, 6, 6, SR, 0),

#define HELD_COLUMNS(SET)                                                                          \
	[C_HELD_KIND] = HELD(SET, COL_HELD_KIND, 10, 0, SR, 0),                                    \
	[C_HELD_LOCK] = HELD(SET, COL_LOCK, 18, 9, R, 0),                                          \
	[C_HELD_NAME] = HELD(SET, COL_NAME, 20, 0, SR | W, 0),                                     \
	[C_HELD_LOCKS] = HELD(SET, COL_LOCKS, 5, 6, SR, ~(1u << BLAME_BY_LOCK)),                   \
	[C_HELD_TIMES] = HELD_ALONE(SET, "held", "HELD",                                           \
				    "times that the lock was held while others waited",            \
				    COLUMN_COUNT, 6, 1, SR, 0),                                    \
	[C_HELD_TOTAL] =                                                                           \
		HELD(SET, "total_ns", "TOTAL",                                                     \
		     "time of all holds, an upper bound; exact for the holds counted in EXACT",    \
		     COLUMN_NS, 7, 0, SR, 0),                                                      \
	[C_HELD_WAITED] = HELD(SET, COL_WAITED_BY_OTHERS, 6, 0, SR, 0),                            \
	[C_HELD_PCT] = HELD(SET, "waited_pct", "WAIT%",                                            \
			    "share of all time waited, or of all holds, if these cost more",       \
			    COLUMN_PCT, 5, 3, SR, 0),                                              \
	[C_HELD_AVG] =                                                                             \
		HELD(SET, "avg_ns", "AVG", "average hold: TOTAL / HELD", COLUMN_NS, 6, 2, SR, 0),  \
	[C_HELD_P50] = HELD(SET, COL_P50("holds"), 6, 3, SR, 0),                                   \
	[C_HELD_P90] = HELD(SET, COL_P90("holds"), 6, 5, SR, 0),                                   \
	[C_HELD_P99] = HELD(SET, COL_P99("holds"), 6, 1, SR, 0),                                   \
	[C_HELD_MAX] = HELD(SET, "max_ns", "MAX", "longest hold", COLUMN_NS, 6, 1, SR, 0),         \
	[C_HELD_LAST] = HELD(SET, COL_LAST("hold"), 6, 6, SR, 0),                                  \
	[C_HELD_CALLER] = HELD(SET, COL_GOT_IN, 20, 1, SR | W, 0),                                 \
	[C_HELD_EXACT] = HELD(SET, "exact", "EXACT",                                               \
			      "holds with an exact duration, as the release was reported",         \
			      COLUMN_COUNT, 6, 4, SR, 0),                                          \
	[C_HELD_HANDED] =                                                                          \
		HELD_ALONE(SET, "handovers", "HANDED", "hand-overs with a known duration",         \
			   COLUMN_COUNT, 6, 8, SR, 0),                                             \
	[C_HELD_HANDED_P50] = HELD_ALONE(                                                          \
		SET, "handover_p50_ns", "HO-P50",                                                  \
		"half of the hand-overs, from a release until the next one had the lock, "         \
		"were shorter, within 13 %",                                                       \
		COLUMN_NS, 6, 7, SR, 0),                                                           \
	[C_HELD_HANDED_P99] = HELD_ALONE(SET, "handover_p99_ns", "HO-P99",                         \
					 "99 % of the hand-overs were shorter, within 13 %",       \
					 COLUMN_NS, 6, 7, SR, 0),                                  \
	[C_HELD_HANDED_MAX] = HELD_ALONE(SET, "handover_max_ns", "HO-MAX", "longest hand-over",    \
					 COLUMN_NS, 6, 8, SR, 0),

#define DID_COLUMNS(SET)                                                                           \
	[C_DID_KIND] = DID(SET, COL_HELD_KIND, 10, 1, SR, 0),                                      \
	[C_DID_LOCK] = DID(SET, COL_LOCK, 18, 9, R, 0),                                            \
	[C_DID_NAME] = DID(SET, COL_NAME, 18, 0, SR | W, 0),                                       \
	[C_DID_LOCKS] = DID(SET, COL_LOCKS, 5, 6, SR, ~(1u << BLAME_BY_LOCK)),                     \
	[C_DID_TIME] = DID(SET, "time_ns", "TIME",                                                 \
			   "time that known holders had the lock while others waited", COLUMN_NS,  \
			   6, 0, SR, 0),                                                           \
	[C_DID_MOSTLY] = DID(SET, COL_MOSTLY, 22, 1, SR | W, 0),                                   \
	[C_DID_RUNNING] = DID(SET, COL_RUNNING, 5, 1, SR, 0),                                      \
	[C_DID_RUNNABLE] = DID(SET, COL_RUNNABLE, 5, 1, SR, 0),                                    \
	[C_DID_ASLEEP] = DID(SET, COL_ASLEEP, 5, 1, SR, 0),                                        \
	[C_DID_IO] = DID(SET, COL_IO, 5, 2, SR, 0),                                                \
	[C_DID_PASSED] =                                                                           \
		DID(SET, "lock_pct", "LCK%",                                                       \
		    "share in which the holder waited for another lock, in a circle or not",       \
		    COLUMN_PCT, 5, 2, SR, 0),                                                      \
	[C_DID_NOT_FOLLOWED] =                                                                     \
		DID(SET, "not_followed_pct", "NOT%", "share in which the holder was not followed", \
		    COLUMN_PCT, 5, 2, SR, 0),                                                      \
	[C_DID_RUNNING_NS] = DID(SET, COL_RUNNING_NS, 6, 7, SR, 0),                                \
	[C_DID_RUNNABLE_NS] = DID(SET, COL_RUNNABLE_NS, 6, 7, SR, 0),                              \
	[C_DID_ASLEEP_NS] = DID(SET, COL_ASLEEP_NS, 6, 7, SR, 0),                                  \
	[C_DID_IO_NS] = DID(SET, COL_IO_NS, 6, 7, SR, 0),                                          \
	[C_DID_PASSED_NS] = DID(SET, "lock_ns", "LCK", "LCK% as time", COLUMN_NS, 6, 7, SR, 0),    \
	[C_DID_NOT_FOLLOWED_NS] = DID(SET, COL_NOT_FOLLOWED_NS, 6, 7, SR, 0),                      \
	[C_DID_WAITED] = DID(SET, COL_WAITED_BY_OTHERS, 6, 3, SR, 0),                              \
	[C_DID_CALLER] = DID(SET, COL_GOT_IN, 18, 3, SR | W, 0),                                   \
	[C_DID_MOSTLY_STATE] = DID(SET, COL_MOSTLY_STATE, 12, 9, R, 0),                            \
	[C_DID_MOSTLY_PCT] = DID(SET, COL_MOSTLY_PCT, 5, 9, R, 0),                                 \
	[C_DID_MOSTLY_WHO] = DID(SET, COL_MOSTLY_WHO, 16, 9, R, 0),                                \
	[C_DID_MOSTLY_IN] = DID(SET, COL_MOSTLY_IN, 16, 9, R, 0),                                  \
	[C_DID_MOSTLY_WHAT] = DID(SET, COL_MOSTLY_WHAT, 16, 9, R, 0),                              \
	[C_DID_LAST] = DID(SET, COL_CHARGED_LAST, 6, 6, SR, 0),

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
