// SPDX-License-Identifier: GPL-2.0-only
/* Gain by fewer events or another interval, from points that are put into the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/hist-fine.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"
#include "kontend/pmus.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/rotation.h"

#include <linux/perf_event.h>
#include <string.h>

#define US 1000ull
#define MUX 0xffffffff81013000ull
#define TIMER 0xffff888000001000ull

enum { EACH = 250, POINTS = 8 };

static void add_pmu(struct model *m)
{
	struct {
		struct record_snapshot head;
		struct pmus pmus;
	} body = {.head = {.kind = SNAPSHOT_PMUS, .version = PMUS_VERSION}, .pmus = {.n = 1}};

	strcpy(body.pmus.items[0].name, "cpu");
	body.pmus.items[0].interval_ms = 4;
	assert_int_equal(model_snapshot(m, &body, sizeof(body.head) + pmus_size(&body.pmus)), 0);
}

/* EACH rotations of @ns on @cpu in the second that is measured. */
static void rotate(struct model *m, uint32_t cpu, uint64_t ns)
{
	struct event ev = {.cpu = cpu};

	ev.timer.timer = TIMER + cpu;
	ev.timer.function = MUX;
	for (unsigned i = 0; i < EACH; i++) {
		ev.kind = EVENT_TIMER_ENTRY;
		ev.time = CANNED_START + (4 * i + 1) * CANNED_MS;
		assert_int_equal(rotation_event(m->rotation, &ev), 0);
		ev.kind = EVENT_TIMER_EXIT;
		ev.time += ns;
		assert_int_equal(rotation_event(m->rotation, &ev), 0);
	}
}

static void add_point(struct model *m, uint32_t cpu, uint32_t events, uint64_t ns, unsigned n)
{
	struct rotation *r = m->rotation;

	if (!r->points) {
		r->points = mem_calloc(POINTS, sizeof(*r->points));
		r->cap_points = POINTS;
	}
	assert_true(r->n_points < POINTS);
	struct rotation_point *p = &r->points[r->n_points++];
	*p = (struct rotation_point){.key = MUX, .cpu = cpu, .events = events};
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(hist_fine_add(&p->time, ns), 0);
}

static struct model *play(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_START + 1000 * CANNED_MS);
	asked_play(w, NULL);
	return w->rig.engine.model;
}

static struct query_rotation_what_if *query_what_if(struct asked *w, size_t want)
{
	struct query_rotation_what_if *list;
	struct query_rotation_costs costs;
	size_t n;

	assert_int_equal(query_rotation_costs(&w->q, &costs), 0);
	assert_int_equal(query_rotation_what_ifs(&w->q, &costs, &list, &n), 0);
	assert_int_equal(n, want);
	return list;
}

static void assert_near(double got, double want)
{
	if (got < want * 0.98 || got > want * 1.02)
		fail_msg("%f is not near %f", got, want);
}

static void a_line_of_the_cpu_itself(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	char text[QUERY_ROTATION_TEXT];

	/* 12us + 1us x events on CPU 0; another machine on CPU 1. */
	rotate(m, 0, 112 * US);
	add_point(m, 0, 20, 32 * US, 100);
	add_point(m, 0, 100, 112 * US, EACH);
	add_point(m, 0, 0, 500 * US, 3); /* whose events have just gone */
	add_point(m, 1, 20, 200 * US, 1000);
	add_pmu(m);
	struct query_rotation_what_if *f = query_what_if(w, 1);
	assert_true(f->fit.known);
	assert_false(f->of_all);
	assert_near(f->fit.base_ns, 12000);
	assert_near(f->fit.per_event_ns, 1000);
	assert_near(f->cpu_pct, 2.8);
	/* 8 events, 1us each, 250 times a second. */
	assert_int_equal(f->fewer, 8);
	assert_near(f->saved_pct, 0.2);
	assert_int_equal(f->interval_ms, 4);
	assert_int_equal(f->other_ms, 8);
	assert_near(f->other_pct, 1.4);
	assert_string_equal(f->pmu, "cpu");
	query_rotation_fewer_text(f, text, sizeof(text));
	assert_non_null(strstr(text, "x events; 8 fewer save 0.20% of this CPU"));
	assert_string_equal(query_rotation_other_text(f, text, sizeof(text)),
			    "8 ms instead of 4 would halve it to 1.40%");
}

static void the_line_of_all_where_the_cpu_has_none(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	char text[QUERY_ROTATION_TEXT];

	rotate(m, 0, 32 * US);
	rotate(m, 1, 112 * US);
	add_point(m, 0, 20, 32 * US, EACH);
	add_point(m, 1, 100, 112 * US, EACH);
	struct query_rotation_what_if *f = query_what_if(w, 2);
	/* The largest consumer comes first. */
	assert_int_equal(f[0].cpu, 1);
	assert_int_equal(f[1].cpu, 0);
	assert_true(f[1].of_all && f[1].fit.known);
	assert_near(f[1].fit.per_event_ns, 1000);
	assert_non_null(strstr(query_rotation_fewer_text(f, text, sizeof(text)), "(all CPUs)"));
	/* No record lists the PMUs. */
	assert_null(f[0].pmu);
	assert_int_equal(f[0].interval_ms, 0);
	assert_string_equal(query_rotation_other_text(f, text, sizeof(text)), "");
}

static void one_number_of_events_is_no_line(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	char text[QUERY_ROTATION_TEXT];

	rotate(m, 0, 32 * US);
	add_point(m, 0, 20, 32 * US, EACH);
	struct query_rotation_what_if *f = query_what_if(w, 1);
	assert_false(f->fit.known);
	assert_int_equal(f->fewer, 0);
	query_rotation_fewer_text(f, text, sizeof(text));
	assert_non_null(strstr(text, "is not known"));
}

static void more_events_that_take_no_longer_save_nothing(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	char text[QUERY_ROTATION_TEXT];

	rotate(m, 0, 32 * US);
	add_point(m, 0, 20, 32 * US, EACH);
	add_point(m, 0, 40, 30 * US, EACH);
	struct query_rotation_what_if *f = query_what_if(w, 1);
	assert_int_equal(f->fewer, 0);
	query_rotation_fewer_text(f, text, sizeof(text));
	assert_non_null(strstr(text, "were not seen to take longer"));
}

/* Share of switches in the data taken from the rings. */
/* @each events of a task for each of four CPUs, which count on CPU @on; -1: it does not run. */
static void add_events_of_a_task(struct model *m, unsigned each, int on)
{
	struct snap_context c = {.addr = 0xffff888000009000ull, .cpu = -1, .tid = 9, .pid = 9};
	struct perfsnap s = {.head = {.method = SNAP_BPF}};

	assert_int_equal(perfsnap_add_context(&s, &c), 0);
	for (unsigned i = 0; i < 4 * each; i++) {
		int cpu = (int)(i / each);
		struct snap_event e = {.id = i + 1,
				       .type = PERF_TYPE_HARDWARE,
				       .cpu = cpu,
				       .oncpu = cpu == on ? on : -1,
				       .target_tid = 9,
				       .target_pid = 9,
				       .owner_pid = 7,
				       .context = 1,
				       .flags = SNAP_ROTATES,
				       .state = cpu == on ? SNAP_ACTIVE : SNAP_INACTIVE};
		assert_int_equal(perfsnap_add_event(&s, &e), 0);
	}
	size_t len = perfsnap_size(&s);
	struct record_snapshot *body = mem_calloc(1, sizeof(*body) + len);
	assert_non_null(body);
	*body = (struct record_snapshot){
		.kind = SNAPSHOT_PERF, .version = SNAP_VERSION, .time_ns = CANNED_START};
	perfsnap_encode(&s, body + 1);
	assert_int_equal(model_snapshot(m, body, sizeof(*body) + len), 0);
	mem_free(body);
	perfsnap_deinit(&s);
}

static void assert_elsewhere(const struct table *t, uint64_t events, uint64_t elsewhere)
{
	assert_int_equal(t->n_rows, 1);
	assert_int_equal(cell_u(t, 0, "events"), events);
	assert_int_equal(cell_u(t, 0, "elsewhere"), elsewhere);
}

static void events_for_other_cpus_cannot_count(void **state)
{
	struct query_spec spec = {.average = true};
	struct asked *w = *state;
	struct model *m = play(w);
	struct table t;

	rotate(m, 1, 70 * US);
	add_events_of_a_task(m, 29, 1);
	assert_int_equal(query_rotation(&w->q, &spec, &t, NULL), 0);
	assert_elsewhere(&t, 29, 3 * 29);
	assert_int_equal(query_perf_contexts(&w->q, &spec, &t, NULL), 0);
	assert_elsewhere(&t, 4 * 29, 3 * 29);
	assert_false(cell_at(&t, 0, "elsewhere")->approx);
}

static void wherever_it_runs_so_many_cannot_count(void **state)
{
	struct query_spec spec = {.average = true};
	struct asked *w = *state;
	struct table t;

	add_events_of_a_task(play(w), 5, -1);
	assert_int_equal(query_perf_contexts(&w->q, &spec, &t, NULL), 0);
	assert_elsewhere(&t, 20, 15);
	assert_true(cell_at(&t, 0, "elsewhere")->approx);
}

static void bursts_have_their_share_of_the_cpu_time(void **state)
{
	const struct record_burst b = {.from_ns = CANNED_START,
				       .to_ns = CANNED_START + 100 * CANNED_MS,
				       .turn_ns = 5 * US,
				       .drain_ns = 40 * US,
				       .drain_bytes = 256};
	struct event ev = {.kind = EVENT_SWITCH, .time = CANNED_START + CANNED_MS};
	struct asked *w = *state;
	struct rotation *r = play(w)->rotation;
	struct query_rotation_costs costs;

	ev.sw.size = 64;
	assert_int_equal(rotation_event(r, &ev), 0);
	rotation_burst(r, &b);
	assert_int_equal(query_rotation_costs(&w->q, &costs), 0);
	assert_int_equal(costs.switch_records, 1);
	assert_int_equal(costs.switch_bytes, 64);
	assert_int_equal(costs.switch_cpu_ns, 15 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_of_the_cpu_itself, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(the_line_of_all_where_the_cpu_has_none,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(one_number_of_events_is_no_line, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(more_events_that_take_no_longer_save_nothing,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(events_for_other_cpus_cannot_count,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(wherever_it_runs_so_many_cannot_count,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(bursts_have_their_share_of_the_cpu_time,
						asked_setup_empty, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
