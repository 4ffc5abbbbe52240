// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map against the waits that were stated: in whatever number of columns and rows, of all
 * and of a part; its picture, which must be XML; and streams that are empty, odd or huge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/cell.h"
#include "kontend/heatmap.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-heatmap.h"
#include "kontend/query-hist.h"
#include "kontend/wait-filter.h"
#include "kontend/wait.h"
#include "xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS

static struct query_heatmap map_of(struct query *q, struct query_heatmap_spec s)
{
	struct query_heatmap h;

	assert_int_equal(query_heatmap(q, &s, &h), 0);
	return h;
}

static uint64_t sum_of(const struct query_heatmap *h, uint64_t *ret_ns)
{
	uint64_t n = 0;

	*ret_ns = 0;
	for (size_t i = 0; i < (size_t)h->rows * h->columns; i++) {
		n += h->cells[i].n;
		*ret_ns += h->cells[i].ns;
	}
	return n;
}

static void cells_add_up_in_any_size(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 7, 40, 128, 1000};
	struct asked *w = *state;
	uint64_t ns, n = 0, total = 0;

	query_begin(&w->q);
	for (size_t i = 0; i < w->rig.engine.model->cells->n; i++) {
		const struct cell_table *t = w->rig.engine.model->cells;
		n += cell_n(t, &t->cells[i]);
		total += t->cells[i].total_ns;
	}
	for (size_t c = 0; c < sizeof(sizes) / sizeof(*sizes); c++)
		for (size_t r = 0; r < sizeof(sizes) / sizeof(*sizes); r++) {
			struct query_heatmap h =
				map_of(&w->q, (struct query_heatmap_spec){.columns = sizes[c],
									  .rows = sizes[r]});
			assert_true(h.columns >= 1 && h.columns <= sizes[c]);
			assert_true(h.rows >= 1 && h.rows <= sizes[r]);
			/* Neither is more than half empty for lack of a finer scale. */
			assert_true(h.column_ns == 1 << HEAT_BASE || 2 * h.columns >= sizes[c]);
			assert_int_equal(sum_of(&h, &ns), n);
			assert_int_equal(ns, total);
			assert_int_equal(h.n, n);
			assert_int_equal(h.ns, total);
			assert_int_equal(h.n_inflight, w->rig.engine.model->waits->in_flight);
		}
}

static void a_part_is_that_of_the_table(void **state)
{
	struct asked *w = *state;

	query_begin(&w->q);
	for (int by = 0; by < QUERY_BYS; by++) {
		struct table t = asked_locks(w, (struct query_spec){.by = (enum query_by)by});
		for (size_t i = 0; i < t.n_rows; i++) {
			struct query_heatmap_spec s = {.scope.mask = 1u << by};
			s.scope.id[by] = t.ids[i];
			struct query_heatmap h = map_of(&w->q, s);
			assert_int_equal(h.n, cell_u(&t, i, "contended"));
			assert_int_equal(h.n_inflight, cell_u(&t, i, "waiting"));
		}
	}
}

static void a_filter_is_obeyed(void **state)
{
	struct asked *w = *state;

	query_begin(&w->q);
	struct query_heatmap all = map_of(&w->q, (struct query_heatmap_spec){0});
	assert_int_equal(wait_filter_set(&w->q, "type:rwsem", NULL), 0);
	struct query_heatmap some = map_of(&w->q, (struct query_heatmap_spec){0});
	wait_filter_end(&w->q);
	assert_int_equal(wait_filter_set(&w->q, "!type:rwsem", NULL), 0);
	struct query_heatmap rest = map_of(&w->q, (struct query_heatmap_spec){0});
	wait_filter_end(&w->q);
	assert_true(some.n && rest.n);
	assert_int_equal(some.n + rest.n, all.n);
	assert_int_equal(some.ns + rest.ns, all.ns);
	assert_int_equal(some.n_inflight + rest.n_inflight, all.n_inflight);
}

/* Of the cells from one column and row to another. */
static uint64_t sum_range(const struct query_heatmap *h, const uint32_t c[2], const uint32_t r[2],
			  uint64_t *ret_ns)
{
	uint64_t n = 0;

	*ret_ns = 0;
	for (uint32_t row = r[0]; row <= r[1]; row++)
		for (uint32_t column = c[0]; column <= c[1]; column++) {
			n += query_heatmap_at(h, column, row)->n;
			*ret_ns += query_heatmap_at(h, column, row)->ns;
		}
	return n;
}

static void check_part(struct asked *w, const struct heat_part *p, uint64_t n, uint64_t ns)
{
	struct query_hist hist;

	query_begin(&w->q);
	w->q.part = *p;
	assert_int_equal(wait_filter_set(&w->q, NULL, NULL), 0);
	for (int by = 0; by < QUERY_BYS; by++) {
		struct table t =
			asked_locks(w, (struct query_spec){.by = (enum query_by)by, .ended = true});
		assert_int_equal(column_sum(&t, "contended"), n);
		assert_int_equal(column_sum(&t, "total_ns"), ns);
		for (size_t i = 0; i < t.n_rows && cell_u(&t, i, "contended"); i++) {
			assert_true(cell_u(&t, i, "max_ns") >= p->lower_ns);
			assert_true(!p->upper_ns || cell_u(&t, i, "max_ns") < p->upper_ns);
		}
	}
	assert_int_equal(query_hist(&w->q, NULL, &hist), 0);
	assert_int_equal(hist.n_waits, n);
	assert_int_equal(hist.total_ns, ns);
	struct query_heatmap h = map_of(&w->q, (struct query_heatmap_spec){0});
	assert_int_equal(h.n, n);
	assert_int_equal(h.ns, ns);
	wait_filter_end(&w->q);
	w->q.part = (struct heat_part){0};
}

/* Whatever is selected of a map, tables have as many waits, which were so long together. */
static void a_part_has_what_its_cells_have(void **state)
{
	struct asked *w = *state;
	unsigned seed = 1;

	for (int round = 0; round < 200; round++) {
		const struct query_heatmap_spec spec = {.columns =
								(uint32_t)(rand_r(&seed) % 90 + 1),
							.rows = (uint32_t)(rand_r(&seed) % 50 + 1)};
		query_begin(&w->q);
		struct query_heatmap h = map_of(&w->q, spec);
		uint32_t c[] = {(uint32_t)rand_r(&seed) % h.columns, 0};
		uint32_t r[] = {(uint32_t)rand_r(&seed) % h.rows, 0};
		c[1] = c[0] + (uint32_t)rand_r(&seed) % (h.columns - c[0]);
		r[1] = r[0] + (uint32_t)rand_r(&seed) % (h.rows - r[0]);
		const struct heat_part p = {.from_ns = query_heatmap_time(&h, c[0]),
					    .to_ns = query_heatmap_time(&h, c[1] + 1),
					    .lower_ns = query_heatmap_lower(&h, r[0]),
					    .upper_ns = query_heatmap_upper(&h, r[1])};
		uint64_t ns, n = sum_range(&h, c, r, &ns);
		check_part(w, &p, n, ns);
	}
	/* And of a filter, too. */
	query_begin(&w->q);
	w->q.part = (struct heat_part){.lower_ns = 1};
	assert_int_equal(wait_filter_set(&w->q, "type:rwsem", NULL), 0);
	struct table t = asked_locks(w, (struct query_spec){.ended = true});
	assert_true(t.n_rows);
	for (size_t i = 0; i < t.n_rows; i++)
		assert_string_equal(cell_s(&t, i, "type"), "rwsem");
	wait_filter_end(&w->q);
}

/* Rates are of the time that was selected; waits that go on are of now. */
static void a_part_has_its_own_time(void **state)
{
	struct asked *w = *state;

	query_begin(&w->q);
	struct query_heatmap h = map_of(&w->q, (struct query_heatmap_spec){.columns = 30});
	const uint64_t from = query_heatmap_time(&h, 5), to = query_heatmap_time(&h, 15);
	for (int open = 0; open < 2; open++) {
		query_begin(&w->q);
		w->q.part = (struct heat_part){.from_ns = from, .to_ns = open ? 0 : to};
		assert_int_equal(wait_filter_set(&w->q, NULL, NULL), 0);
		const uint64_t end = open ? w->rig.engine.model->now_ns : to;
		struct table t = asked_locks(w, (struct query_spec){.ended = true});
		for (size_t i = 0; i < t.n_rows; i++) {
			const double rate =
				(double)cell_u(&t, i, "contended") * 1e9 / (double)(end - from);
			assert_true(cell_at(&t, i, "cont_per_s")->d > rate * 0.999 &&
				    cell_at(&t, i, "cont_per_s")->d < rate * 1.001 + 1e-9);
		}
		t = asked_waiters(w, (struct query_spec){0});
		assert_int_equal(t.n_rows, open ? w->rig.engine.model->waits->in_flight : 0);
		wait_filter_end(&w->q);
	}
}

/* One wait of 5 ms each 100 ms, and one that has not ended. */
static void state_regular(struct asked *w)
{
	struct synth *s = w->rig.synth = synth_new(1);
	const uint64_t frame = synth_addr(SYNTH_VM_MUNMAP);

	synth_prologue(s, synth_kallsyms);
	synth_round(s, CANNED_START);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = CANNED_START + i * 100 * MS + 20 * MS;
		synth_begin(s, 0, t, 7, 7, 4096, LCB_F_WRITE, &frame, 1);
		synth_end(s, 0, t + 5 * MS, 7, 7, 4096, 0);
		if (i % 10 == 9)
			synth_tick(s, t + 60 * MS);
	}
	synth_begin(s, 0, CANNED_START + 3990 * MS, 8, 8, 4096, LCB_F_WRITE, &frame, 1);
	synth_round(s, CANNED_START + 4000 * MS);
}

static void each_is_when_it_ended_and_how_long_it_was(void **state)
{
	struct asked *w = *state;

	state_regular(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	struct query_heatmap h =
		map_of(&w->q, (struct query_heatmap_spec){.columns = 4000, .rows = 100});
	uint32_t found = 0;
	for (uint32_t c = 0; c < h.columns; c++) {
		uint64_t from = query_heatmap_time(&h, c), to = from + h.column_ns;
		for (uint32_t r = 0; r < h.rows; r++) {
			if (!query_heatmap_at(&h, c, r)->n)
				continue;
			uint64_t end = CANNED_START + found++ * 100 * MS + 25 * MS;
			assert_true(end >= from && end < to);
			assert_true(query_heatmap_lower(&h, r) <= 5 * MS &&
				    query_heatmap_upper(&h, r) > 5 * MS);
			assert_int_equal(query_heatmap_at(&h, c, r)->ns, 5 * MS);
		}
	}
	assert_int_equal(found, 40);
	assert_int_equal(h.n_inflight, 1);
	/* The last second: from a column on. */
	w->q.window_ns = 1000 * MS;
	h = map_of(&w->q, (struct query_heatmap_spec){0});
	assert_true(h.n == 10);
	assert_true(h.begin_ns <= CANNED_START + 3000 * MS &&
		    h.begin_ns + h.column_ns > CANNED_START + 3000 * MS);
}

static char *picture(struct asked *w, struct heatmap_spec s, int want)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0, at;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(&w->q);
	assert_int_equal(heatmap_write(&w->q, &s, f, &err), want);
	fclose(f);
	if (!want && xml_check(text, &at) < 0)
		fail_msg("no XML from byte %zu: %.60s", at, text + at);
	return text;
}

static void pictures(void **state)
{
	struct asked *w = *state;
	char *text = picture(w, (struct heatmap_spec){0}, 0);

	golden_check(text, "export-heatmap");
	free(text);
	text = picture(w, (struct heatmap_spec){.by_wait = true}, 0);
	golden_check(text, "export-heatmap-wait");
	free(text);
}

static void nothing_makes_no_picture(void **state)
{
	struct asked *w = *state;

	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, synth_kallsyms);
	asked_play(w, NULL);
	free(picture(w, (struct heatmap_spec){0}, -ENODATA));
	query_begin(&w->q);
	struct query_heatmap h = map_of(&w->q, (struct query_heatmap_spec){0});
	assert_int_equal(h.rows, 0);
	assert_true(h.columns >= 1 && h.known);
}

/* A wait at the begin of all time and one at its end, of no length and of the greatest. */
static void state_odd(struct asked *w)
{
	struct synth *s = w->rig.synth = synth_new(2);
	const uint64_t frame = synth_addr(SYNTH_VM_MUNMAP), far = UINT64_MAX - 1000;

	synth_prologue(s, synth_kallsyms);
	synth_begin(s, 0, 1, 7, 7, 4096, LCB_F_MUTEX, &frame, 1);
	synth_end(s, 0, 1, 7, 7, 4096, 0);
	synth_begin(s, 1, 2, 8, 8, 4096, LCB_F_MUTEX, &frame, 1);
	synth_end(s, 1, far, 8, 8, 4096, 0);
	synth_round(s, far + 10);
	/* The clock goes back. */
	synth_begin(s, 0, 500, 7, 7, 4096, LCB_F_MUTEX, &frame, 1);
	synth_end(s, 0, 600, 7, 7, 4096, 0);
	synth_round(s, 700);
}

static void odd_streams(void **state)
{
	struct asked *w = *state;
	uint64_t ns;

	state_odd(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	for (uint32_t columns = 0; columns < 300; columns += 7) {
		struct query_heatmap h = map_of(
			&w->q, (struct query_heatmap_spec){.columns = columns, .rows = columns});
		assert_true(h.columns && h.columns <= (columns ? columns : 128));
		assert_int_equal(sum_of(&h, &ns), h.n);
		assert_true(h.n >= 2);
	}
	free(picture(w, (struct heatmap_spec){0}, 0));
	free(picture(w, (struct heatmap_spec){.by_wait = true}, 0));
	for (int f = REPORT_TEXT; f <= REPORT_JSON; f++) {
		struct report_spec s = {.format = (enum report_format)f, .views = REPORT_HEAT};
		free(asked_report(&w->q, &s));
	}
}

static void one_who_keeps_nothing_says_so(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = REPORT_HEAT};

	canned_init(&w->rig);
	rig_play(&w->rig, NULL);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "heat map of waits: not known"));
	free(text);
}

static void levels_are_in_order(void **state)
{
	(void)state;
	for (uint64_t most = 1; most < 1ull << 63; most *= 3)
		for (unsigned levels = 1; levels < 9; levels++) {
			unsigned before = 0;
			const uint64_t least = levels % 3 == 0 ? 0 : levels % 3 == 1 ? 1 : most / 2;
			for (uint64_t v = 1; v <= most && v < 1ull << 62; v = v * 2 - v / 3 + 1) {
				unsigned level = query_heatmap_level(v, least, most, levels);
				assert_true(level >= before && level >= 1 && level <= levels);
				assert_true(v > least || v >= most || level == 1);
				before = level;
			}
			assert_int_equal(query_heatmap_level(most, least, most, levels), levels);
			assert_int_equal(query_heatmap_level(0, least, most, levels), 0);
		}
	assert_int_equal(query_heatmap_level(UINT64_MAX, 1, UINT64_MAX, 7), 7);
	assert_int_equal(query_heatmap_level(5, 1, 9, 0), 0);
}

static void memory_that_fails_is_no_answer(void **state)
{
	struct asked *w = *state;
	struct query_heatmap h;
	int r = -ENOMEM;

	for (long k = 0; r < 0; k++) {
		query_begin(&w->q);
		mem_fail_after(k);
		r = query_heatmap(&w->q, &(struct query_heatmap_spec){.columns = 3000}, &h);
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		assert_true(k < 1000);
	}
}

#define OF(TEST, SETUP) cmocka_unit_test_setup_teardown(TEST, SETUP, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF(cells_add_up_in_any_size, asked_setup),
		OF(a_part_is_that_of_the_table, asked_setup),
		OF(a_filter_is_obeyed, asked_setup),
		OF(a_part_has_what_its_cells_have, asked_setup),
		OF(a_part_has_its_own_time, asked_setup),
		OF(each_is_when_it_ended_and_how_long_it_was, asked_setup_empty),
		OF(pictures, asked_setup),
		OF(nothing_makes_no_picture, asked_setup_empty),
		OF(odd_streams, asked_setup_empty),
		OF(one_who_keeps_nothing_says_so, asked_setup_empty),
		OF(memory_that_fails_is_no_answer, asked_setup),
		cmocka_unit_test(levels_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
