// SPDX-License-Identifier: GPL-2.0-only
/*
 * --sort and --filter name columns of one table, that which the user asked for first; it is checked
 * before anything is measured, since an error after ten minutes would be a bad joke.
 */
#include "kontend/query.h"
#include "kontend/tables.h"
#include "kontend/view.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* Locks are grouped by a key that decides which columns say something. */
struct check_table {
	const struct table_def *def;
	const struct column *columns;
	size_t n;
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
		sort, t->def->name, t->is_locks ? " by " : "",
		t->is_locks ? query_by_name(t->by) : "");
}

static int check_columns(const struct opts *o, const struct table_def *def, const char *filter,
			 struct error *err)
{
	struct check_table t = {.def = def, .is_locks = !strcmp(def->name, "locks"), .by = BY_LOCK};
	int r = t.is_locks && o->by ? query_by_parse(o->by, &t.by) : 0;

	t.columns = def->columns(&t.n);
	if (r == 0 && o->sort)
		r = check_sort(o->sort, &t, err);
	return r < 0 ? r : query_filter_check(filter, t.columns, t.n, err);
}

const struct table_def *cmd_table_of(const char *view)
{
	for (size_t i = 0; view && view_roots[i]; i++)
		if (!strcmp(view, view_roots[i]->name))
			return tables_find(view_roots[i]->tables,
					   strcspn(view_roots[i]->tables, " "));
	return &table_defs[0];
}

int cmd_check_rows(const struct opts *o, const struct table_def *table, char *ret_filter,
		   struct error *err)
{
	int r = 0;

	ret_filter[0] = '\0';
	if (o->filter)
		r = opts_filter(o->filter, ret_filter, OPTS_FILTER, err);
	if (r < 0 || (!table && !o->sort && !o->filter))
		return r;
	if (!table)
		return error_set(err, -EINVAL,
				 "--sort and --filter need a view that is a table: overview, tree "
				 "and hist cannot be sorted and filtered");
	return check_columns(o, table, ret_filter, err);
}
