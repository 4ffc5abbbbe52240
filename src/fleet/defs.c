// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables that recordings are merged into: the texts that make two rows the same, and the sums.
 * A table is of classes of waits, as `diff` has them, or of a table of queries, whose columns it
 * names.
 */
#include "internal.h"
#include "kontend/columns-probes.h"
#include "kontend/query-hot.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WAITS                                                                                      \
	[WAIT_TOTAL] = {{COL_FINISHED_TOTAL, 6, 0, SR}, FOLD_SUM, NULL},                           \
	[WAIT_N] = {{COL_CONTENDED, 9, 1, SR}, FOLD_SUM, NULL},                                    \
	[WAIT_WAITING] = {{"waiting", "NOW", "tasks that wait at the end", COLUMN_COUNT, 4, 6,     \
			   SR},                                                                    \
			  FOLD_SUM,                                                                \
			  NULL},                                                                   \
	[WAIT_MAX] = {{COL_FINISHED_MAX, 6, 2, SR}, FOLD_MAX, NULL},                               \
	[WAIT_MIN] = {{COL_MIN, 6, 7, R}, FOLD_MIN, NULL}

#define KIND                                                                                       \
	{                                                                                          \
		COL_KIND, 10, 0, SR                                                                \
	}

/* NOLINTBEGIN(modernize-macro-to-enum): tables are read line by line */
const struct fleet_def fleet_defs[FLEET_TABLES + 1] = {
	[FLEET_LOCKS] = {.name = "locks",
			 .rule = "type, mode and name: the symbol of a static lock, the path of a "
				 "file, the program of an mmap_lock or pipe, any CPU for one of a "
				 "CPU, else the slab cache and function that waits most",
			 .measures = {WAITS},
			 .keys = {KIND,
				  {"name", "LOCK", "name of the lock, the same on every machine",
				   COLUMN_TEXT, 24, 0, SR | W}},
			 .by = BY_LOCK,
			 .has_hist = true},
	[FLEET_CALLERS] = {.name = "callers",
			   .rule = "type, mode and function that waits",
			   .measures = {WAITS},
			   .keys = {KIND, {COL_CALLER, 24, 0, SR | W}},
			   .by = BY_CALLER,
			   .has_hist = true},
	[FLEET_TYPES] = {.name = "types",
			 .rule = "type and mode",
			 .measures = {WAITS},
			 .keys = {{COL_KIND, 10, 0, SR | W}},
			 .by = BY_TYPE,
			 .has_hist = true},
	[FLEET_TASKS] = {.name = "tasks",
			 .rule = "name of the task that waits",
			 .measures = {WAITS},
			 .keys = {{"comm", "TASK", "name of the tasks that wait", COLUMN_TEXT, 16,
				   0, SR | W}},
			 .by = BY_TASK,
			 .has_hist = true},
	[FLEET_HOT] = {.name = "hot",
		       .rule = "object and function",
		       .measures = {{{COL_SAMPLES, 7, 0, SR}, FOLD_SUM, NULL},
				    {{COL_WAIT_BELOW, 6, 1, SR}, FOLD_SUM, NULL}},
		       .keys = {{"object", "OBJECT", "kernel, module or file that the code is in",
				 COLUMN_TEXT, 18, 2, SR},
				{COL_FUNCTION, 24, 0, SR | W}},
		       .kind = &query_hot_kind},
	[FLEET_SLOTS] =
		{.name = "slots",
		 .rule = "what the slots are for",
		 .measures = {{{"used", "USED", "breakpoint slots that were taken at the end",
				COLUMN_COUNT, 5, 0, SR},
			       FOLD_SUM,
			       NULL},
			      {{"slots", "SLOTS",
				"breakpoint slots of all CPUs: their debug registers", COLUMN_COUNT,
				5, 0, SR},
			       FOLD_SUM,
			       NULL},
			      {{"cpus", "CPUS", "CPUs that have them", COLUMN_COUNT, 5, 0, SR},
			       FOLD_ROWS,
			       "slots"},
			      {{"most_used", "MOST", "most that were taken at a time on a CPU",
				COLUMN_COUNT, 4, 1, SR},
			       FOLD_MAX,
			       NULL}},
		 .keys = {{"type", "TYPE", "purpose of the slots: any, or exec and data apart",
			   COLUMN_TEXT, 6, 0, SR | W}},
		 .kind = &query_perf_slots_kind,
		 .is_state = true},
	[FLEET_MMAP] =
		{.name = "mmap",
		 .rule = "program whose mmap_lock it is, mode, and what its times are of",
		 .measures = {{{COL_FINISHED_TOTAL, 6, 0, SR}, FOLD_SUM, NULL},
			      {{COL_CONTENDED, 9, 1, SR}, FOLD_SUM, NULL},
			      {{"acquired", "ACQUIRED",
				"times it was taken, also without "
				"waiting",
				COLUMN_COUNT, 8, 3, SR},
			       FOLD_SUM,
			       NULL},
			      {{"max_ns", "MAX", "longest finished acquisition", COLUMN_NS, 6,
				2, SR},
			       FOLD_MAX,
			       NULL},
			      {{"hold_total_ns", "HOLD",
				"how long it was held, as far as "
				"that is known",
				COLUMN_NS, 6, 4, SR},
			       FOLD_SUM,
			       NULL},
			      {{"hold_max_ns", "HOLDMAX", "longest hold", COLUMN_NS, 7, 4, SR},
			       FOLD_MAX,
			       NULL},
			      {{"failed", "FAILED", "attempts that ended without the lock",
				COLUMN_COUNT, 6, 8, R},
			       FOLD_SUM,
			       NULL}},
		 .keys = {{COL_MODE, 4, 0, SR},
			  {"of_what", "OF", "basis of P50 to MAX: all acquisitions, or waits only",
			   COLUMN_TEXT, 8, 5, SR},
			  {"comm", "MMAP_LOCK OF", "program whose mmap_locks they are", COLUMN_TEXT,
			   16, 0, SR | W}},
		 .from = {NULL, "of", NULL},
		 .kind = &query_mmap_kind,
		 .has_hist = true},
	[FLEET_UPROBES] = {.name = "uprobes",
			   .rule = "binary and function",
			   .measures = {{{COL_HITS, 6, 0, SR}, FOLD_SUM, NULL},
					{{"probes", "PROBES", "probes at the function",
					  COLUMN_COUNT, 6, 1, SR},
					 FOLD_ROWS,
					 "hits"},
					{{"misses", "MISSES",
					  "hits that their programs were not "
					  "run for",
					  COLUMN_COUNT, 6, 3, SR},
					 FOLD_SUM,
					 NULL}},
			   .keys = {{COL_PROBE, 24, 0, SR | W}},
			   .kind = &query_uprobe_probes_kind,
			   .is_state = true},
	[FLEET_GROUPS] = {.name = "groups",
			  .rule = "id of the machine",
			  .measures = {WAITS,
				       {{"recordings", "FILES", "recordings of the group",
					 COLUMN_COUNT, 5, 1, SR},
					FOLD_SUM,
					NULL},
				       {{"measured_ns", "MEASURED", "duration of all measurements",
					 COLUMN_NS, 8, 2, SR},
					FOLD_SUM,
					NULL},
				       {{"lost", "LOST", "records that were lost or dropped",
					 COLUMN_COUNT, 5, 3, SR},
					FOLD_SUM,
					NULL}},
			  .keys = {{"machine_id", "MACHINE", "id of the machine, as in rows",
				    COLUMN_TEXT, 32, 9, R},
				   {"name", "NAME", "name of the host, kernel or service",
				    COLUMN_TEXT, 16, 0, SR | W}},
			  .has_hist = true},
};
/* NOLINTEND(modernize-macro-to-enum) */

static const struct {
	const char *name, *plural;
} bys[FLEET_BYS] = {
	[FLEET_BY_HOST] = {"host", "hosts"},
	[FLEET_BY_KERNEL] = {"kernel", "kernels"},
	[FLEET_BY_SERVICE] = {"service", "services"},
	[FLEET_BY_RECORDING] = {"recording", "recordings"},
};

const char *fleet_by_name(enum fleet_by by)
{
	return bys[by].name;
}

int fleet_by_parse(const char *s, enum fleet_by *ret)
{
	for (int by = 0; by < FLEET_BYS; by++) {
		if (strcmp(s, bys[by].name) == 0) {
			*ret = (enum fleet_by)by;
			return 0;
		}
	}
	return -EINVAL;
}

const char *fleet_table_name(enum fleet_at at, enum fleet_by by)
{
	return at == FLEET_GROUPS ? bys[by].plural : fleet_defs[at].name;
}

const char *fleet_table_rule(enum fleet_at at)
{
	return fleet_defs[at].rule;
}

static unsigned find_table(const char *name, size_t len)
{
	for (unsigned at = 0; at < FLEET_TABLES; at++)
		if (strlen(fleet_defs[at].name) == len && !memcmp(fleet_defs[at].name, name, len))
			return 1u << at;
	return 0;
}

int fleet_tables_parse(const char *names, unsigned *ret, struct error *err)
{
	unsigned all = 0;

	for (const char *s = names;; s++) {
		size_t len = strcspn(s, ",");
		unsigned one = find_table(s, len);

		if (!one)
			return error_set(
				err, -EINVAL,
				"There is no table '%.*s' of many recordings: give some of "
				"locks, callers, types, tasks, hot, slots, mmap, uprobes",
				(int)len, s);
		all |= one;
		s += len;
		if (!*s)
			break;
	}
	*ret = all;
	return 0;
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && memcmp(s + len - n, end, n) == 0;
}

/* The first part that is no slice, as systemd itself has it; of slices alone the last one. */
const char *fleet_service(const char *path, char *buf, size_t size)
{
	const char *unit = path;
	size_t len = strlen(path);

	for (const char *s = path; *s; s += strcspn(s, "/")) {
		s += strspn(s, "/");
		size_t n = strcspn(s, "/");

		if (!n)
			break;
		if (ends_with(s, n, ".service") || ends_with(s, n, ".scope") ||
		    ends_with(s, n, ".slice")) {
			unit = s;
			len = n;
		}
		if (!ends_with(s, n, ".slice"))
			break;
	}
	snprintf(buf, size, "%.*s", (int)len, unit);
	return buf;
}
