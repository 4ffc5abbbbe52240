// SPDX-License-Identifier: GPL-2.0-only
/*
 * --sort and --filter name columns of one table, that which the user asked for first; it is checked
 * before anything is measured, since an error after ten minutes would be a bad joke.
 */
#include "cmd.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame.h"
#include "kontend/query-hot.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"

#include <errno.h>
#include <string.h>

struct check_table {
	const struct column *columns;
	size_t n;
	const char *name;
	bool is_locks;
	enum query_by by;
};

static bool takes(const struct check_table *t, size_t column)
{
	return t->columns[column].flags && (!t->is_locks || query_locks_has(t->by, column));
}

static int check_sort(const char *sort, const struct check_table *t, struct error *err)
{
	for (size_t i = 0; i < t->n; i++)
		if (takes(t, i) && strcmp(t->columns[i].key, sort) == 0)
			return 0;
	return error_set(
		err, -EINVAL,
		"--sort '%s': the table '%s'%s%s has no such column; kontend-views(7) lists "
		"them",
		sort, t->name, t->is_locks ? " by " : "", t->is_locks ? query_by_name(t->by) : "");
}

static const struct {
	const char *name;
	const struct column *(*columns)(size_t *ret_n);
} tables[] = {
	[CMD_TABLE_LOCKS] = {"locks", query_locks_columns},
	[CMD_TABLE_WAITERS] = {"waiters", query_waiters_columns},
	[CMD_TABLE_CPUS] = {"cpus", query_cpus_columns},
	[CMD_TABLE_DIFF] = {"diff", query_diff_columns},
	[CMD_TABLE_SLOTS] = {"slots", query_perf_slots_columns},
	[CMD_TABLE_HOLDERS] = {"holders", query_perf_holders_columns},
	[CMD_TABLE_CONTEXTS] = {"contexts", query_perf_contexts_columns},
	[CMD_TABLE_EVENTS] = {"events", query_perf_events_columns},
	[CMD_TABLE_ROTATION] = {"rotation", query_rotation_columns},
	[CMD_TABLE_UPROBES] = {"uprobes", query_uprobe_probes_columns},
	[CMD_TABLE_FLAME] = {"flame", query_flame_columns},
	[CMD_TABLE_HOT] = {"hot", query_hot_columns},
	[CMD_TABLE_XOL] = {"xol", query_uprobe_areas_columns},
	[CMD_TABLE_MMAP] = {"mmap", query_mmap_columns},
};

static int choose(struct check_table *t, const struct opts *o, enum cmd_table which)
{
	enum cmd_table table = which == CMD_TABLE_NONE ? CMD_TABLE_LOCKS : which;

	*t = (struct check_table){
		.name = tables[table].name, .is_locks = table == CMD_TABLE_LOCKS, .by = BY_LOCK};
	t->columns = tables[table].columns(&t->n);
	return t->is_locks && o->by ? query_by_parse(o->by, &t->by) : 0;
}

enum cmd_table cmd_table_of(const char *view)
{
	if (view && !strcmp(view, "slots"))
		return CMD_TABLE_HOLDERS; /* that of the view which can be sorted */
	for (size_t i = 0; view && i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(view, tables[i].name))
			return (enum cmd_table)i;
	return CMD_TABLE_LOCKS;
}

int cmd_check_rows(const struct opts *o, enum cmd_table which, char *ret_filter, struct error *err)
{
	struct check_table t;
	int r = choose(&t, o, which);

	ret_filter[0] = '\0';
	if (r == 0 && o->filter)
		r = opts_filter(o->filter, ret_filter, OPTS_FILTER, err);
	if (r < 0 || which == CMD_TABLE_NONE) {
		if (r == 0 && (o->sort || o->filter))
			r = error_set(
				err, -EINVAL,
				"--sort and --filter need a view that is a table: overview, tree "
				"and hist cannot be sorted and filtered");
		return r;
	}
	if (o->sort)
		r = check_sort(o->sort, &t, err);
	return r < 0 ? r : query_filter_check(ret_filter, t.columns, t.n, err);
}
