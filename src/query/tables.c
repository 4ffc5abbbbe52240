// SPDX-License-Identifier: GPL-2.0-only
/* The registry of tables: a new one is a line here. */
#include "kontend/tables.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame.h"
#include "kontend/query-hot.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"

#include <string.h>

const struct table_def table_defs[] = {
	{"locks", "locks", "Locks", query_locks_columns},
	{"types", "types of locks", NULL, query_locks_columns},
	{"waiters", "waiters", "Waiters", query_waiters_columns},
	{"cpus", "CPUs", "CPUs", query_cpus_columns},
	{"diff", "differences", NULL, query_diff_columns},
	{"slots", "slots", "Slots", query_perf_slots_columns},
	{"holders", "holders", "Holders", query_perf_holders_columns},
	{"contexts", "contexts", "Contexts", query_perf_contexts_columns},
	{"events", "events", "Events", query_perf_events_columns},
	{"rotation", "rotation", "Rotation", query_rotation_columns},
	{"mmap", "mmap_locks", "mmap_locks by process", query_mmap_columns},
	{"hot", "the profile", "Hot", query_hot_columns},
	{"flame", "flame graph", "Flame graph", query_flame_columns},
	{"uprobes", "probes", "Uprobes", query_uprobe_probes_columns},
	{"upprocs", "probes by process", "Probes by process", query_uprobe_processes_columns},
	{"upwaits", "waits around uprobes", "Waits around uprobes", query_uprobe_waits_columns},
	{"xol", "out-of-line slots", "Out-of-line slots", query_uprobe_areas_columns},
	{"uptasks", "tasks in slots", "Tasks in slots", query_uprobe_tasks_columns},
	{"uphits", "hits by CPU", "Hits by CPU", query_uprobe_hits_columns},
	{NULL, NULL, NULL, NULL},
};

const struct table_def *tables_find(const char *name, size_t len)
{
	for (const struct table_def *t = table_defs; t->name; t++)
		if (strlen(t->name) == len && !memcmp(t->name, name, len))
			return t;
	return NULL;
}
