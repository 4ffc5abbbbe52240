// SPDX-License-Identifier: GPL-2.0-only
/* The columns that a user wants: in which order, and what a table makes of that. */
#include "kontend/query-columns.h"
#include "kontend/query.h"
#include "kontend/tables.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct query_columns wanted(const char *keys)
{
	struct query_columns c = {0};
	struct error err = {0};

	assert_int_equal(query_columns_set(&c, "locks", keys, &err), 0);
	return c;
}

static const struct column *find_column(const struct column *c, const char *key)
{
	return &c[table_find(&query_locks_kind, key)];
}

static void apply(const struct query_columns *c, struct column *ret)
{
	memcpy(ret, query_locks_kind.columns, query_locks_kind.n_columns * sizeof(*ret));
	query_columns_apply(c, "locks", ret, query_locks_kind.n_columns);
}

static void what_is_not_wanted_is_not_there(void **state)
{
	const struct query_columns c = wanted("max_ns, total_ns,max_ns");
	struct column columns[TABLE_COLUMNS];
	char text[QUERY_COLUMNS_TEXT];

	(void)state;
	assert_string_equal(query_columns_text(query_columns_find(&c, "locks"), text),
			    "max_ns,total_ns");
	apply(&c, columns);
	assert_true(find_column(columns, "max_ns")->flags & COLUMN_SCREEN);
	assert_true(find_column(columns, "total_ns")->flags & COLUMN_SCREEN);
	assert_false(find_column(columns, "wait_ns_per_s")->flags & COLUMN_SCREEN);
	assert_true(find_column(columns, "wait_ns_per_s")->flags & COLUMN_REPORT);
	/* The name of rows is there in any case. */
	assert_true(find_column(columns, "name")->flags & COLUMN_SCREEN);
	assert_true(find_column(columns, "task")->flags & COLUMN_SCREEN);
	assert_true(find_column(columns, "max_ns")->priority <=
		    find_column(columns, "total_ns")->priority);
}

/* The one that is built as the least important goes before all others. */
static void the_first_stays_longest(void **state)
{
	struct query_columns_of built, of;
	struct query_columns c = {0};
	struct column columns[TABLE_COLUMNS];
	unsigned last = 0;

	(void)state;
	query_columns_built(&query_locks_kind, &built);
	assert_true(built.n > 10);
	of = built;
	of.order[0] = built.order[built.n - 1];
	memcpy(of.order + 1, built.order, built.n - 1);
	query_columns_put(&c, &of);
	apply(&c, columns);
	for (size_t i = 0; i < of.n; i++) {
		const struct column *now = &columns[of.order[i]];

		assert_true(now->priority >= last);
		assert_true(now->priority > last || last < TABLE_NICE || !i);
		last = now->priority;
	}
	assert_true(columns[of.order[0]].priority < TABLE_NICE);
}

static void as_built_is_no_wish(void **state)
{
	struct query_columns c = wanted("max_ns");
	struct query_columns_of built;

	(void)state;
	assert_int_equal(c.n, 1);
	query_columns_built(&query_locks_kind, &built);
	query_columns_put(&c, &built);
	assert_int_equal(c.n, 0);
	assert_null(query_columns_find(&c, "locks"));
	assert_null(query_columns_find(NULL, "locks"));
}

static void tables_are_apart(void **state)
{
	struct query_columns c = wanted("max_ns");
	struct column columns[TABLE_COLUMNS];
	struct error err = {0};
	size_t n = 0;

	(void)state;
	assert_int_equal(query_columns_set(&c, "waiters", "cpu", &err), 0);
	assert_int_equal(query_columns_set(&c, "locks", "avg_ns", &err), 0);
	assert_int_equal(c.n, 2);
	apply(&c, columns);
	assert_true(find_column(columns, "avg_ns")->flags & COLUMN_SCREEN);
	assert_false(find_column(columns, "max_ns")->flags & COLUMN_SCREEN);
	for (const struct table_def *t = table_defs; t->kind; t++)
		n++;
	assert_true(n <= QUERY_COLUMNS_TABLES);
}

static void what_is_wrong_is_said(void **state)
{
	struct query_columns c = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(query_columns_set(&c, "nix", "max_ns", &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no table 'nix'; tables: locks, "));
	err = (struct error){0};
	assert_int_equal(query_columns_set(&c, "locks", "max_ns,max", &err), -EINVAL);
	assert_non_null(strstr(err.text, "no column 'max' in table 'locks'; columns: "));
	assert_null(strstr(err.text, "owner_pid")); /* in reports alone */
	assert_int_equal(c.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_wanted_is_not_there),
		cmocka_unit_test(the_first_stays_longest),
		cmocka_unit_test(as_built_is_no_wish),
		cmocka_unit_test(tables_are_apart),
		cmocka_unit_test(what_is_wrong_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
