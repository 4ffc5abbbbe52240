// SPDX-License-Identifier: GPL-2.0-only
/* Columns that are asked for: these, in that order, in all formats; the rest is not lost for code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/query-fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void columns_stand_as_asked_for(void **state)
{
	struct asked *w = *state;
	struct table plain = asked_locks(w, (struct query_spec){.by = BY_LOCK, .average = true});
	struct table t = plain;
	size_t shown = 0;

	assert_int_equal(query_fields(&w->q, "max_ns,kind,max_ns,owner_pid", &t, NULL), 0);
	assert_string_equal(t.columns[0].key, "max_ns");
	assert_string_equal(t.columns[1].key, "kind");
	assert_string_equal(t.columns[2].key, "owner_pid");
	for (size_t i = 0; i < t.n_columns; i++)
		shown += t.columns[i].flags != 0;
	assert_int_equal(shown, 3);
	assert_string_equal(t.columns[t.sort_col].key, plain.columns[plain.sort_col].key);
	assert_int_equal(t.n_columns, plain.n_columns);
	for (size_t row = 0; row < t.n_rows; row++)
		for (size_t i = 0; i < t.n_columns; i++) {
			size_t from = table_column(&plain, t.columns[i].key);
			assert_memory_equal(table_value(&t, row, i), table_value(&plain, row, from),
					    sizeof(struct value));
		}
	t = plain;
	assert_int_equal(query_fields(&w->q, NULL, &t, NULL), 0);
	assert_memory_equal(&t, &plain, sizeof(t));
}

static void reports_have_no_others(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_CSV,
				.views = REPORT_LOCKS,
				.query = {.limit = 1},
				.fields = "contended,kind"};
	char *text = asked_report(&w->q, &s);

	assert_int_equal(strncmp(text, "contended,kind\n", 15), 0);
	free(text);
	s.format = REPORT_JSON;
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "{\"contended\": "));
	assert_null(strstr(text, "max_ns"));
	free(text);
	s.format = REPORT_TEXT;
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "# CONTENDED  TYPE\n"));
	free(text);
}

static void refuse(const char *fields, enum query_by by, const char *word)
{
	struct error err = {0};

	assert_int_equal(query_fields_check(fields, &query_locks_kind, by, &err), -EINVAL);
	if (!strstr(err.text, word))
		fail_msg("%s: '%s' does not name %s", fields, err.text, word);
}

static void wrong_ones_are_named(void **state)
{
	struct asked *w = *state;
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	assert_int_equal(query_fields_check("kind,name", &query_locks_kind, BY_LOCK, NULL), 0);
	refuse("kind,nope", BY_LOCK, "'nope'");
	refuse("nope", BY_LOCK, "max_ns");
	refuse("pid", BY_LOCK, "'pid'");
	refuse("spark", BY_LOCK, "'spark'");
	refuse(",kind", BY_LOCK, "''");
	assert_int_equal(query_fields_check("pid", &query_locks_kind, BY_TASK, NULL), 0);
	assert_int_equal(query_fields(&w->q, "nope", &t, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_stand_as_asked_for, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(reports_have_no_others, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(wrong_ones_are_named, asked_setup, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
