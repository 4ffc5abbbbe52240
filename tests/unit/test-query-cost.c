// SPDX-License-Identifier: GPL-2.0-only
/* The cost of kontend itself, as the stream reports it: shares of one CPU, if there is any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-cost.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS

static void put_cost(struct asked *w, const struct record_cost *c, size_t len)
{
	struct {
		struct record_snapshot head;
		struct record_cost cost;
	} r = {.head = {.kind = SNAPSHOT_COST, .version = RECORD_COST_VERSION}, .cost = *c};

	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &r, sizeof(r.head) + len);
}

static void play(struct asked *w, const struct record_cost *c, size_t len)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	if (len)
		put_cost(w, c, len);
	asked_play(w, NULL);
}

static struct record_cost sample(void)
{
	return (struct record_cost){.from_ns = CANNED_START,
				    .to_ns = CANNED_START + 1000 * MS,
				    .cpu_ns = 32 * MS,
				    .drain_ns = 6 * MS,
				    .looks_ns = 11 * MS};
}

static void shares_are_of_one_cpu(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;
	char text[QUERY_COST_TEXT];

	play(w, &r, sizeof(r));
	struct query_cost c = query_cost(&w->q);
	assert_true(c.known);
	assert_int_equal(c.rest_ns, 15 * MS);
	assert_string_equal(query_cost_text(&c, text, sizeof(text)),
			    "3.2% of a CPU: draining rings 0.6%, snapshots 1.1%, the rest 1.5%");
}

static void memory_of_the_kernel_is_said_where_it_is_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;
	char text[QUERY_COST_TEXT];

	r.perf_rings = 4 << 20;
	r.bpf_rings = 8 << 20;
	r.bpf_maps = 16 << 20;
	play(w, &r, sizeof(r));
	struct query_cost c = query_cost(&w->q);
	assert_int_equal(c.kernel, 28 << 20);
	assert_non_null(strstr(query_cost_text(&c, text, sizeof(text)),
			       "the rest 1.5%; 28.0M of the kernel's memory"));
}

static void what_the_first_versions_recorded_is_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;
	char text[QUERY_COST_TEXT];

	play(w, &r, RECORD_COST_LEAST);
	struct query_cost c = query_cost(&w->q);
	assert_true(c.known);
	assert_int_equal(c.kernel, 0);
	assert_null(strstr(query_cost_text(&c, text, sizeof(text)), "memory"));
}

static void following_holders_is_said_where_it_was_done(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;
	char text[QUERY_COST_TEXT];

	r.follow_ns = MS;
	r.follow_records = 8100;
	r.follow_missed = 3;
	r.follow_times = 2;
	r.follow_attached_ns = 12500 * MS;
	play(w, &r, sizeof(r));
	struct query_cost c = query_cost(&w->q);
	assert_true(c.follow);
	assert_int_equal(c.follow_ns, MS);
	assert_int_equal(c.follow_times, 2);
	assert_non_null(strstr(query_cost_text(&c, text, sizeof(text)),
			       "; holders of locks followed for 12.5s: 8.10k records, 3 not "
			       "followed"));
}

static void own_memory_is_said_where_it_is_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;
	char text[QUERY_COST_TEXT];

	r.perf_rings = 28 << 20;
	r.resident = 96 << 20;
	play(w, &r, sizeof(r));
	struct query_cost c = query_cost(&w->q);
	assert_int_equal(c.resident, 96 << 20);
	assert_non_null(strstr(query_cost_text(&c, text, sizeof(text)),
			       "the rest 1.5%; 96.0M of memory; 28.0M of the kernel's memory"));
	c.symbols_dropped = 14;
	assert_non_null(strstr(query_cost_text(&c, text, sizeof(text)),
			       "; 96.0M of memory, 14 tables of symbols dropped; 28.0M"));
}

static void fourth_versions_do_not_have_own_memory(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	r.resident = 96 << 20;
	r.follow_ns = MS;
	play(w, &r, RECORD_COST_IDLE);
	assert_int_equal(query_cost(&w->q).resident, 0);
	assert_int_equal(query_cost(&w->q).follow_ns, MS);
}

/* The memory was known before. */
static void second_versions_do_not_follow(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	r.perf_rings = 4 << 20;
	r.follow_ns = MS;
	play(w, &r, RECORD_COST_MEMORY);
	struct query_cost c = query_cost(&w->q);
	assert_int_equal(c.perf_rings, 4 << 20);
	assert_false(c.follow);
	assert_int_equal(c.follow_ns, 0);
}

/* The clocks of threads are read one after the other: parts may come to more than all. */
static void the_rest_is_not_below_zero(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	r.cpu_ns = 16 * MS;
	play(w, &r, sizeof(r));
	assert_int_equal(query_cost(&w->q).rest_ns, 0);
}

static void what_is_not_there_is_not_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	play(w, &r, 0);
	assert_false(query_cost(&w->q).known);
}

static void what_is_cut_is_not_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	play(w, &r, RECORD_COST_LEAST - 1);
	assert_false(query_cost(&w->q).known);
}

static void what_took_no_time_is_not_known(void **state)
{
	struct record_cost r = sample();
	struct asked *w = *state;

	r.to_ns = r.from_ns;
	play(w, &r, sizeof(r));
	assert_false(query_cost(&w->q).known);
}

static void reports_have_it(void **state)
{
	struct record_cost r = sample();
	struct report_spec spec = {.format = REPORT_JSON, .views = REPORT_OVERVIEW};
	struct asked *w = *state;

	play(w, &r, sizeof(r));
	char *json = asked_report(&w->q, &spec);
	assert_non_null(strstr(json, "\"cost\": {\"cpu_ns\": 32000000, \"drain_ns\": 6000000, "
				     "\"looks_ns\": 11000000, \"rest_ns\": 15000000, "
				     "\"cpu_pct\": 3.200, \"resident_bytes\": null, "
				     "\"symbols_dropped\": 0, \"perf_rings_bytes\": null, "
				     "\"bpf_rings_bytes\": null, \"bpf_maps_bytes\": null, "
				     "\"follow_ns\": null, \"follow_attached_ns\": null, "
				     "\"follow_times\": null, \"follow_records\": null, "
				     "\"follow_missed\": null}"));
	free(json);
	spec.format = REPORT_TEXT;
	char *text = asked_report(&w->q, &spec);
	assert_non_null(strstr(text, "# kontend itself: 3.2% of a CPU: "));
	free(text);
}

#define T(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(shares_are_of_one_cpu),
		T(the_rest_is_not_below_zero),
		T(what_is_not_there_is_not_known),
		T(what_is_cut_is_not_known),
		T(what_took_no_time_is_not_known),
		T(reports_have_it),
		T(own_memory_is_said_where_it_is_known),
		T(fourth_versions_do_not_have_own_memory),
		T(memory_of_the_kernel_is_said_where_it_is_known),
		T(what_the_first_versions_recorded_is_known),
		T(following_holders_is_said_where_it_was_done),
		T(second_versions_do_not_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
