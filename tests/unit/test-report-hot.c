// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the profile: the table hot and the flame graph, as text, CSV and JSON. The rows of the
 * graph are enough to draw it: each box lies on that of its caller, beside its siblings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "golden.h"
#include "json.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"
#include "kontend/report.h"
#include "synth-profile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CODE 0x400000ull
#define LOCK 0xffff888011111100ull

enum { LOCKING = 4, DEEP = 16 };

static const double CLOSE = 0.01;

static void sample(struct asked *w, uint32_t cpu, int tid, uint32_t n, const uint64_t *kernel,
		   uint32_t n_kernel, uint64_t user)
{
	struct synth_chain c = {
		.kernel = kernel, .n_kernel = n_kernel, .user = &user, .n_user = !!user};

	for (uint32_t i = 0; i < n; i++)
		synth_sample(w->rig.synth, cpu, START + 10 * MS + i, 50, tid, MS, c);
}

/* app/50 computes and faults, worker/51 takes an mmap_lock: on four CPUs, not on all alike. */
static void fill(struct asked *w)
{
	const uint64_t lock[LOCKING] = {
		synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH), synth_addr(SYNTH_DOWN_WRITE_KILLABLE),
		synth_addr(SYNTH_VM_MMAP_PGOFF), synth_addr(SYNTH_DO_SYSCALL_64)};
	const uint64_t fault = synth_addr(SYNTH_EXC_PAGE_FAULT);

	rig_init(&w->rig, 4);
	struct synth *s = w->rig.synth;
	synth_profile(s);
	synth_comm(s, 0, START, 50, 50, "app");
	synth_comm(s, 0, START, 50, 51, "worker");
	synth_mmap(s, 0, START, 50, CODE, 0x10000, 0x1000, "/bin/app");
	sample(w, 0, 50, 40, NULL, 0, CODE + 5);
	sample(w, 0, 50, 10, &fault, 1, CODE + 5);
	sample(w, 1, 51, 30, lock, LOCKING, CODE + 5);
	sample(w, 1, 51, 10, lock + 1, LOCKING - 1, CODE + 5);
	sample(w, 2, 51, 1, lock, LOCKING, CODE + 5);
	sample(w, 2, 50, 9, NULL, 0, CODE + 5);
	synth_begin(s, 1, START + 30 * MS, 50, 51, LOCK, LCB_F_WRITE, lock, LOCKING);
	synth_end(s, 1, START + 35 * MS, 50, 51, LOCK, 0);
	synth_begin(s, 1, START + 80 * MS, 50, 51, LOCK, LCB_F_WRITE, lock, LOCKING);
	synth_tick(s, START + 100 * MS);
}

static int setup(void **state)
{
	if (asked_setup_empty(state) < 0)
		return -1;
	fill(*state);
	asked_play(*state, NULL);
	return 0;
}

static void check_golden(struct query *q, const struct report_spec *s, const char *name)
{
	char *text = asked_report(q, s);

	golden_check(text, name);
	free(text);
}

static double number(const struct json *row, const char *key)
{
	const struct json *v = json_get(row, key);

	assert_non_null(v);
	return json_number(v);
}

static void the_flame_graph_has_every_format(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = REPORT_FLAME};

	check_golden(&w->q, &s, "report-flame");
	s.format = REPORT_CSV;
	check_golden(&w->q, &s, "report-flame-csv");
	s.format = REPORT_JSON;
	check_golden(&w->q, &s, "report-flame-json");
}

static void it_has_another_weight_and_a_part(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {
		.views = REPORT_FLAME, .weight = REPORT_WEIGHT_WAIT, .width = 80, .ascii = true};

	check_golden(&w->q, &s, "report-flame-wait");
	s.weight = REPORT_WEIGHT_ANY;
	s.hot_locks = true;
	s.flame_limit = 30;
	assert_int_equal(query_zoom_parse("cpu=1", NULL, &s.zoom, NULL), 0);
	check_golden(&w->q, &s, "report-flame-part");
}

static void groups_are_told_by_cpu(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = REPORT_HOT, .hot_by = HOT_GROUP};

	check_golden(&w->q, &s, "report-hot-group");
	s.format = REPORT_CSV;
	check_golden(&w->q, &s, "report-hot-group-csv");
	s.format = REPORT_JSON;
	char *text = asked_report(&w->q, &s);
	struct json_doc d;
	size_t at = 0;
	assert_int_equal(json_parse(&d, text, strlen(text), &at), 0);
	const struct json *rows = json_path(json_root(&d), "views.hot.rows");
	assert_int_equal(json_len(rows), 2);
	const struct json *cpus = json_get(json_at(rows, 1), "cpus");
	assert_string_equal(json_text(json_get(json_at(rows, 1), "group")), "rwsem");
	assert_int_equal(json_len(cpus), 3);
	assert_int_equal(json_u64(json_get(json_at(cpus, 1), "cpu")), 1);
	assert_int_equal(json_u64(json_get(json_at(cpus, 1), "samples")), 40);
	assert_true(number(json_at(cpus, 1), "pct") > 99.9);
	assert_true(number(json_at(cpus, 2), "pct") > 9.9);
	assert_true(number(json_at(cpus, 2), "pct") < 10.1);
	assert_int_equal(json_u64(json_get(json_at(cpus, 0), "samples")), 0);
	json_deinit(&d);
	free(text);
}

static void sorted_rows_can_be_cut(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {
		.views = REPORT_FLAME,
		.query = {.limit = 2, .sort = "self_samples", .filter = "kind:kernel"}};

	check_golden(&w->q, &s, "report-flame-sorted");
}

/* Depth first: the next box of a level begins after the one before, within its caller's. */
static void check_boxes(const struct json *rows)
{
	double from[DEEP + 1] = {0}, to[DEEP + 1] = {100};

	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *row = json_at(rows, i);
		size_t level = json_u64(json_get(row, "depth")) + 1;
		double x = number(row, "x"), w = number(row, "pct");
		assert_true(level < DEEP);
		assert_true(x > from[level] - CLOSE && x + w < to[level - 1] + CLOSE);
		assert_true(number(row, "self_pct") <= w && w > 0);
		from[level] = to[level] = x + w;
		from[level + 1] = x;
	}
}

static void boxes_lie_on_their_callers(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_FLAME};

	for (int weight = REPORT_WEIGHT_ANY; weight <= REPORT_WEIGHT_WAIT; weight++) {
		s.weight = (enum report_weight)weight;
		char *text = asked_report(&w->q, &s);
		struct json_doc d;
		size_t at = 0;
		assert_int_equal(json_parse(&d, text, strlen(text), &at), 0);
		const struct json *flame = json_path(json_root(&d), "views.flame");
		const struct json *rows = json_get(flame, "rows");
		assert_true(json_len(rows) > 4);
		check_boxes(rows);
		assert_int_equal(json_u64(json_get(flame, "samples")), 100);
		assert_int_equal(json_u64(json_get(flame, "wait_ns")), 25 * MS);
		json_deinit(&d);
		free(text);
	}
}

static void rows_below_a_limit_are_left_out(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = REPORT_HOT | REPORT_TREE, .percent_limit = 12};

	check_golden(&w->q, &s, "report-percent-limit");
}

static void every_allocation_may_fail(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {
		.format = REPORT_JSON, .views = REPORT_FLAME | REPORT_HOT, .hot_by = HOT_GROUP};
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	long n;

	for (n = 0;; n++) {
		FILE *f = open_memstream(&text, &len);
		assert_non_null(f);
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = report_write(&w->q, &s, f, &err);
		mem_fail_after(-1);
		fclose(f);
		free(text);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 2);
}

/* A snapshot of all events in which our own counted @running_ns of a second on each of two CPUs. */
static void add_samples(struct asked *w, uint64_t running_ns)
{
	struct perfsnap s = {.head = {.time_ns = START + 150 * MS}};

	for (int32_t cpu = 0; cpu < 2; cpu++) {
		struct snap_event e = {.id = 5 + (uint64_t)cpu,
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .cpu = cpu,
				       .state = SNAP_ACTIVE,
				       .flags = SNAP_OWN,
				       .enabled_ns = 1000 * MS,
				       .running_ns = cpu ? running_ns : 1000 * MS};
		assert_int_equal(perfsnap_add_event(&s, &e), 0);
		/* Others' of the same kind say nothing of ours. */
		e.id += 10;
		e.flags = 0;
		e.running_ns = 0;
		assert_int_equal(perfsnap_add_event(&s, &e), 0);
	}
	struct record_snapshot head = {
		.kind = SNAPSHOT_PERF, .version = SNAP_VERSION, .time_ns = s.head.time_ns};
	size_t len = sizeof(head) + perfsnap_size(&s);
	char *bytes = mem_calloc(1, len);

	assert_non_null(bytes);
	memcpy(bytes, &head, sizeof(head));
	perfsnap_encode(&s, bytes + sizeof(head));
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, bytes, len);
	synth_tick(w->rig.synth, START + 200 * MS);
	mem_free(bytes);
	perfsnap_deinit(&s);
}

/* The report of the profile where our event was running so long, as a text to free(). */
static char *report_of(uint64_t running_ns, enum report_format format)
{
	const struct report_spec s = {.views = REPORT_HOT, .format = format, .source_kind = "live"};
	struct asked w = {0};
	char *text;

	fill(&w);
	add_samples(&w, running_ns);
	asked_play(&w, NULL);
	text = asked_report(&w.q, &s);
	query_deinit(&w.q);
	rig_deinit(&w.rig);
	return text;
}

/* Samples of an event that shared its counter are too few, and the report has the factor. */
static void what_shared_its_counter_is_marked(void **state)
{
	static const struct {
		uint64_t running_ns;
		enum report_format format;
		const char *says, *not ;
	} cases[] = {
		{1000 * MS, REPORT_TEXT, "# hot: 100 samples of ", "of the time"},
		{600 * MS, REPORT_TEXT, "# hot: ~100 samples of ", "# hot: 100"},
		{600 * MS, REPORT_TEXT, "counted 80.0% of the time", "# hot: 100"},
		{600 * MS, REPORT_JSON, "\"running_pct\": 80", "null samples"},
	};
	struct asked *w = *state;
	struct query_hot_sum sum;

	query_begin(&w->q);
	assert_int_equal(query_hot_sum(&w->q, NULL, &sum), 0);
	assert_true(isnan(sum.running_pct));
	assert_false(query_hot_is_short(&sum));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = report_of(cases[i].running_ns, cases[i].format);

		if (!strstr(text, cases[i].says) || strstr(text, cases[i].not ))
			fail_msg("%zu: %s", i, text);
		free(text);
	}
}

#define ON_PROFILE(f) cmocka_unit_test_setup_teardown(f, setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_PROFILE(the_flame_graph_has_every_format),
		ON_PROFILE(it_has_another_weight_and_a_part),
		ON_PROFILE(groups_are_told_by_cpu),
		ON_PROFILE(sorted_rows_can_be_cut),
		ON_PROFILE(boxes_lie_on_their_callers),
		ON_PROFILE(rows_below_a_limit_are_left_out),
		ON_PROFILE(what_shared_its_counter_is_marked),
		ON_PROFILE(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
