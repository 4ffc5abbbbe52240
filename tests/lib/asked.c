// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fixtures and short forms for tests of queries; what is missing fails the test that asked for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/limits.h"

#include <stdlib.h>

int asked_setup_empty(void **state)
{
	*state = calloc(1, sizeof(struct asked));
	return *state ? 0 : -1;
}

void asked_play(struct asked *w, const struct model_limits *limits)
{
	struct model_limits all = limits ? *limits : model_limits_of(0);

	all.held = all.held ? all.held : model_limits_held(0);
	all.blame = all.blame ? all.blame : all.held;
	all.heat = all.heat ? all.heat : model_limits_heat(0);
	rig_play(&w->rig, &all);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
}

char *asked_report(struct query *q, const struct report_spec *s)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(q);
	if (report_write(q, s, f, &err) < 0)
		fail_msg("report_write: %s", err.text);
	fclose(f);
	return text;
}

int asked_setup(void **state)
{
	struct asked *w;

	if (asked_setup_empty(state) < 0)
		return -1;
	w = *state;
	canned_init(&w->rig);
	asked_play(w, NULL);
	return 0;
}

int asked_teardown(void **state)
{
	struct asked *w = *state;

	query_deinit(&w->q);
	rig_deinit(&w->rig);
	free(w);
	return 0;
}

struct table asked_locks(struct asked *w, struct query_spec s)
{
	struct error err = {0};
	struct table t;

	if (query_locks(&w->q, &s, &t, &err) < 0)
		fail_msg("query_locks: %s", err.text);
	return t;
}

struct table asked_waiters(struct asked *w, struct query_spec s)
{
	struct error err = {0};
	struct table t;

	if (query_waiters(&w->q, &s, &t, &err) < 0)
		fail_msg("query_waiters: %s", err.text);
	return t;
}

const struct value *cell_at(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	if (col == SIZE_MAX || row >= t->n_rows)
		fail_msg("no column %s or row %zu of %zu", key, row, t->n_rows);
	return table_value(t, row, col);
}

uint64_t cell_u(const struct table *t, size_t row, const char *key)
{
	assert_true(cell_at(t, row, key)->known);
	return cell_at(t, row, key)->u;
}

const char *cell_s(const struct table *t, size_t row, const char *key)
{
	return cell_at(t, row, key)->known ? cell_at(t, row, key)->s : "-";
}

uint64_t column_sum(const struct table *t, const char *key)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		n += cell_u(t, i, key);
	return n;
}
