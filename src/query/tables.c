// SPDX-License-Identifier: GPL-2.0-only
/* The registry of tables: a new one is a line here. */
#include "kontend/tables.h"
#include "kontend/query-blame.h"
#include "kontend/query-blocked.h"
#include "kontend/query-chains.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame.h"
#include "kontend/query-heatmap.h"
#include "kontend/query-holds.h"
#include "kontend/query-hot.h"
#include "kontend/query-incidents.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-queued.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"
#include "kontend/query-why.h"

#include <string.h>

const struct table_def table_defs[] = {
	{&query_locks_kind, "locks", "Locks"},
	{&query_types_kind, "types of locks", NULL},
	{&query_waiters_kind, "waiters", "Waiters"},
	{&query_chains_kind, "chains", "Chains"},
	{&query_blocked_kind, "blocked tasks", "Blocked tasks"},
	{&query_why_kind, "activity of tasks", "Activity of tasks"},
	{&query_blame_kind, "tasks to blame", "Tasks to blame", &query_blame_all_kind},
	{&query_blame_held_kind, "held locks", "Held while others waited", &query_blame_all_kind},
	{&query_blame_did_kind, "what holders did", "Activity of holders", &query_blame_all_kind},
	{&query_holds_kind, "holds", "Held locks, waited for or not"},
	{&query_holds_chains_kind, "calls that take locks", "Calls that take locks"},
	{&query_holds_tasks_kind, "tasks that hold locks", "Tasks that hold locks"},
	{&query_queued_kind, "queues", "Queues of locks"},
	{&query_cpus_kind, "CPUs", "CPUs"},
	{&query_diff_kind, "differences", NULL},
	{&query_compare_kind, "B minus A", "B minus A"},
	{&query_perf_slots_kind, "slots", "Slots"},
	{&query_perf_holders_kind, "holders", "Holders"},
	{&query_perf_creations_kind, "creations", "Creations of breakpoints"},
	{&query_perf_contexts_kind, "contexts", "Contexts"},
	{&query_perf_events_kind, "events", "Events"},
	{&query_rotation_kind, "rotation", "Rotation"},
	{&query_mmap_kind, "mmap_locks", "mmap_locks by process"},
	{&query_hot_kind, "the profile", "Hot"},
	{&query_flame_kind, "flame graph", "Flame graph"},
	{&query_heatmap_kind, "waits by time and length", "Heat map"},
	{&query_uprobe_probes_kind, "probes", "Uprobes"},
	{&query_uprobe_processes_kind, "probes by process", "Probes by process"},
	{&query_uprobe_waits_kind, "waits around uprobes", "Waits around uprobes"},
	{&query_uprobe_areas_kind, "out-of-line slots", "Out-of-line slots"},
	{&query_uprobe_tasks_kind, "tasks in slots", "Tasks in slots"},
	{&query_uprobe_hits_kind, "hits by CPU", "Hits by CPU"},
	{&query_incidents_kind, "incidents", "Incidents"},
	{NULL, NULL, NULL},
};

const struct table_def *tables_find(const char *name, size_t len)
{
	for (const struct table_def *t = table_defs; t->kind; t++)
		if (strlen(t->kind->name) == len && !memcmp(t->kind->name, name, len))
			return t;
	return NULL;
}
