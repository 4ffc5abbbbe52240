// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two measurements side by side: the canned stream as A, and as B one of half its length in which
 * one caller has gone, one is new, one waits as before and one more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "golden.h"
#include "json.h"
#include "kontend/diff.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct both {
	struct rig a, b;
	struct query qa, qb;
	struct diff_side side_a, side_b;
};

#define MS CANNED_MS
/* Other addresses than in A, as in another boot. */
#define B_MMAP_LOCK 0xffff8881deadbe00ull
#define B_PIPE_MUTEX 0xffff8881deadbf00ull

static void wait_in_b(struct both *w, uint64_t at, uint64_t ns, uint64_t lock, uint32_t flags,
		      enum synth_address inner, enum synth_address caller)
{
	uint64_t frames[] = {synth_addr(inner), synth_addr(caller), synth_addr(SYNTH_DO_SYSCALL_64),
			     synth_addr(SYNTH_ENTRY_SYSCALL)};

	synth_begin(w->b.synth, 0, at, 99, 99, lock, flags, frames, 4);
	synth_end(w->b.synth, 0, at + ns, 99, 99, lock, 0);
}

static void make_b(struct both *w)
{
	uint64_t t = CANNED_START;

	rig_init(&w->b, 2);
	synth_comm(w->b.synth, 0, 0, 99, 99, "mm");
	synth_round(w->b.synth, t);
	for (unsigned i = 0; i < 15; i++) /* in A: 3 s of 5 times 70 us a second */
		wait_in_b(w, t + i * 10 * MS, i < 10 ? 70 * MS / 1000 : 0, B_PIPE_MUTEX,
			  LCB_F_MUTEX, SYNTH_MUTEX_LOCK, SYNTH_PIPE_READ);
	wait_in_b(w, t + 200 * MS, 600 * MS, B_MMAP_LOCK, LCB_F_WRITE, SYNTH_DOWN_WRITE_KILLABLE,
		  SYNTH_VM_MMAP_PGOFF);
	wait_in_b(w, t + 900 * MS, 1 * MS, B_PIPE_MUTEX, LCB_F_MUTEX, SYNTH_MUTEX_LOCK,
		  SYNTH_PIPE_WRITE);
	synth_tick(w->b.synth, t + 1000 * MS);
	synth_round(w->b.synth, t + 1500 * MS);
	rig_play(&w->b, NULL);
}

static int setup(void **state)
{
	struct both *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	canned_init(&w->a);
	rig_play(&w->a, NULL);
	make_b(w);
	if (query_init(&w->qa, &w->a.engine) < 0 || query_init(&w->qb, &w->b.engine) < 0)
		return -1;
	w->side_a = (struct diff_side){.file = "old.data", .q = &w->qa};
	w->side_b = (struct diff_side){.file = "\x1b]new.data", .q = &w->qb};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct both *w = *state;

	query_deinit(&w->qa);
	query_deinit(&w->qb);
	rig_deinit(&w->a);
	rig_deinit(&w->b);
	free(w);
	return 0;
}

static char *write_diff(struct both *w, const struct diff_spec *s)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(&w->qa);
	query_begin(&w->qb);
	if (diff_write(&w->side_a, &w->side_b, s, f, &err) < 0)
		fail_msg("diff_write: %s", err.text);
	fclose(f);
	return text;
}

static struct table query_table(struct both *w, struct query_spec s)
{
	struct error err = {0};
	struct table t;

	query_begin(&w->qa);
	query_begin(&w->qb);
	if (query_diff(&w->qa, &w->qb, &s, &t, &err) < 0)
		fail_msg("query_diff: %s", err.text);
	return t;
}

static const struct value *at(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	assert_true(col != SIZE_MAX && row < t->n_rows);
	return table_value(t, row, col);
}

/* The row of that name and type. */
static size_t row_of(const struct table *t, const char *name, const char *kind)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (strcmp(at(t, i, "name")->s, name) == 0 &&
		    (!kind || strcmp(at(t, i, "kind")->s, kind) == 0))
			return i;
	fail_msg("no row %s", name);
	return 0;
}

static bool is_near(double a, double b)
{
	return a > b - 1 && a < b + 1;
}

static void says_what_is_new_gone_and_more(void **state)
{
	struct both *w = *state;
	struct table t = query_table(w, (struct query_spec){.by = BY_CALLER});
	size_t mmap = row_of(&t, "vm_mmap_pgoff", "rwsem:W");

	assert_int_equal(mmap, 0);
	assert_string_equal(at(&t, mmap, "change")->s, "more");
	/* A: 109 ms finished and 400 ms in flight in 3 s; B: 600 ms in 1.5 s. */
	assert_true(is_near(at(&t, mmap, "b_wait_ns_per_s")->d, 400e6));
	assert_true(is_near(at(&t, mmap, "delta_ns_per_s")->d,
			    400e6 - at(&t, mmap, "a_wait_ns_per_s")->d));
	assert_int_equal(at(&t, mmap, "b_contended")->u, 1);
	assert_int_equal(at(&t, mmap, "b_p99_ns")->u, 600 * MS);
	assert_string_equal(at(&t, row_of(&t, "pipe_write", NULL), "change")->s, "new");
	assert_false(at(&t, row_of(&t, "pipe_write", NULL), "ratio")->known);
	assert_string_equal(at(&t, row_of(&t, "rmqueue_bulk", NULL), "change")->s, "gone");
	assert_false(at(&t, row_of(&t, "rmqueue_bulk", NULL), "b_avg_ns")->known);
	for (size_t i = 1; i < t.n_rows; i++) {
		double above = at(&t, i - 1, "delta_ns_per_s")->d;
		double here = at(&t, i, "delta_ns_per_s")->d;

		assert_true((above < 0 ? -above : above) >= (here < 0 ? -here : here) - 1);
	}
}

/* Locks on the heap have other addresses in B: their waiting tasks identify them. */
static void rows_match_by_names(void **state)
{
	struct both *w = *state;
	struct table t = query_table(w, (struct query_spec){.by = BY_LOCK});

	assert_string_equal(at(&t, row_of(&t, "(vm_mmap_pgoff)", "rwsem:W"), "change")->s, "more");
	assert_string_equal(at(&t, row_of(&t, "tasklist_lock", NULL), "change")->s, "gone");
	t = query_table(w, (struct query_spec){.by = BY_TASK});
	assert_int_equal(at(&t, row_of(&t, "mm", NULL), "b_contended")->u, 17);
	t = query_table(w, (struct query_spec){.by = BY_CPU});
	assert_string_equal(at(&t, row_of(&t, "CPU 1", NULL), "change")->s, "gone");
}

static void every_dimension_adds_up(void **state)
{
	struct both *w = *state;

	for (int by = 0; by < QUERY_BYS; by++) {
		struct table t = query_table(w, (struct query_spec){.by = (enum query_by)by});
		uint64_t a = 0, b = 0;

		for (size_t i = 0; i < t.n_rows; i++) {
			a += at(&t, i, "a_total_ns")->u;
			b += at(&t, i, "b_total_ns")->u;
		}
		for (unsigned i = 0; i < LOCK_TYPES; i++) {
			a -= w->a.engine.model->types[i].total_ns;
			b -= w->b.engine.model->types[i].total_ns;
		}
		assert_int_equal(a, 0);
		assert_int_equal(b, 0);
	}
}

static void a_recording_does_not_differ_from_itself(void **state)
{
	struct both *w = *state;
	struct query_spec s = {.by = BY_CALLER};
	struct error err = {0};
	struct query again;
	struct table t;

	assert_int_equal(query_init(&again, &w->a.engine), 0);
	query_begin(&w->qa);
	query_begin(&again);
	assert_int_equal(query_diff(&w->qa, &again, &s, &t, &err), 0);
	assert_true(t.n_rows > 3);
	for (size_t i = 0; i < t.n_rows; i++) {
		assert_string_equal(at(&t, i, "change")->s, "same");
		assert_true(is_near(at(&t, i, "delta_ns_per_s")->d, 0));
	}
	query_deinit(&again);
}

static void formats(void **state)
{
	struct both *w = *state;
	struct diff_spec s = {.query.by = BY_CALLER};
	const struct json *rows;
	struct json_doc d;
	size_t where = 0;
	char *text;

	text = write_diff(w, &s);
	golden_check(text, "diff-text");
	free(text);
	s.format = REPORT_CSV;
	text = write_diff(w, &s);
	golden_check(text, "diff-csv");
	free(text);
	s.format = REPORT_JSON;
	text = write_diff(w, &s);
	golden_check(text, "diff-json");
	if (json_parse(&d, text, strlen(text), &where) < 0)
		fail_msg("no JSON from byte %zu: %.60s", where, text + where);
	assert_string_equal(json_text(json_path(json_root(&d), "schema")), "kontend.diff/1");
	assert_string_equal(json_text(json_path(json_root(&d), "a.file")), "old.data");
	assert_int_equal(json_u64(json_path(json_root(&d), "b.duration_ns")), 1500 * MS);
	rows = json_path(json_root(&d), "diff.rows");
	assert_int_equal(json_len(rows), 6);
	assert_string_equal(json_text(json_get(json_at(rows, 0), "change")), "more");
	json_deinit(&d);
	free(text);
}

static void sort_filter_and_limit_hold(void **state)
{
	struct both *w = *state;
	struct table t =
		query_table(w, (struct query_spec){.by = BY_CALLER, .filter = "change=gone"});

	for (size_t i = 0; i < t.n_rows; i++)
		assert_string_equal(at(&t, i, "change")->s, "gone");
	assert_true(t.n_rows > 0 && t.n_rows < t.n_total);
	t = query_table(w, (struct query_spec){.by = BY_CALLER, .sort = "a_contended", .limit = 2});
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(at(&t, 0, "name")->s, "rmqueue_bulk");
}

static void what_is_wrong_is_said(void **state)
{
	struct both *w = *state;
	struct diff_spec s = {.query = {.by = BY_CALLER, .sort = "nonsense"}};
	FILE *full = fopen("/dev/full", "w");
	struct error err = {0};

	assert_non_null(full);
	assert_int_equal(diff_write(&w->side_a, &w->side_b, &s, full, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nonsense"));
	s.query.sort = NULL;
	err = (struct error){0};
	assert_int_equal(diff_write(&w->side_a, &w->side_b, &s, full, &err), -ENOSPC);
	fclose(full);
}

static void memory_may_run_out_at_any_point(void **state)
{
	struct both *w = *state;
	struct diff_spec s = {.query.by = BY_LOCK};
	FILE *null = fopen("/dev/null", "w");
	long n;

	assert_non_null(null);
	for (n = 0;; n++) {
		query_begin(&w->qa);
		query_begin(&w->qb);
		mem_fail_after(n);
		int r = diff_write(&w->side_a, &w->side_b, &s, null, NULL);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
		query_deinit(&w->qa);
		query_deinit(&w->qb);
		assert_int_equal(query_init(&w->qa, &w->a.engine), 0);
		assert_int_equal(query_init(&w->qb, &w->b.engine), 0);
	}
	assert_true(n > 0);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_what_is_new_gone_and_more, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_match_by_names, setup, teardown),
		cmocka_unit_test_setup_teardown(every_dimension_adds_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_recording_does_not_differ_from_itself, setup,
						teardown),
		cmocka_unit_test_setup_teardown(formats, setup, teardown),
		cmocka_unit_test_setup_teardown(sort_filter_and_limit_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_may_run_out_at_any_point, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
