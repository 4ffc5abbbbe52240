// SPDX-License-Identifier: GPL-2.0-only
/*
 * --sort and --filter name columns of one table, the first that the user asked for; they are
 * checked before anything is measured, since an error after ten minutes would be a bad joke.
 */
#include "kontend/query-fields.h"
#include "kontend/tables.h"
#include "kontend/view.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* Locks are grouped by a key that decides which columns say something. */
static int check_sort(const char *sort, const struct table_kind *kind, enum query_by by,
		      struct error *err)
{
	bool is_locks = kind == &query_locks_kind;
	size_t column = table_find(kind, sort);

	if (column != SIZE_MAX && (!is_locks || query_locks_has(by, column)))
		return 0;
	return error_set(
		err, -EINVAL,
		"--sort '%s': the table '%s'%s%s has no such column; kontend-views(7) lists "
		"them",
		sort, kind->name, is_locks ? " by " : "", is_locks ? query_by_name(by) : "");
}

static int check_columns(const struct opts *o, const struct table_kind *kind, const char *filter,
			 struct error *err)
{
	enum query_by by = BY_LOCK;
	int r = kind == &query_locks_kind && o->by ? query_by_parse(o->by, &by) : 0;

	if (r == 0 && o->sort)
		r = check_sort(o->sort, kind, by, err);
	if (r == 0 && o->fields)
		r = query_fields_check(o->fields, kind, by, err);
	return r < 0 ? r : query_filter_check(filter, kind, err);
}

const struct table_def *cmd_table_of(const char *view)
{
	for (size_t i = 0; view && view_roots[i]; i++)
		if (!strcmp(view, view_roots[i]->name))
			return tables_find(view_roots[i]->tables,
					   strcspn(view_roots[i]->tables, " "));
	/* A column set of a view, by its name. */
	const struct table_def *set = view ? tables_find(view, strlen(view)) : NULL;

	return set ? set : &table_defs[0];
}

int cmd_check_rows(const struct opts *o, const struct table_def *table, char *ret_filter,
		   struct error *err)
{
	int r = 0;

	ret_filter[0] = '\0';
	if (o->filter)
		r = opts_filter(o->filter, ret_filter, OPTS_FILTER, err);
	if (r < 0 || (!table && !o->sort && !o->filter && !o->fields))
		return r;
	if (!table)
		return error_set(
			err, -EINVAL,
			"--sort, --filter and --fields need a view that is a table: overview, tree "
			"and hist have no columns");
	return check_columns(o, table->kind, ret_filter, err);
}
