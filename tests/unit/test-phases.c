// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of phases: both sides put a duration into the same bucket, bytes from outside are checked,
 * and the query puts switches of cgroups beside the events that these have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "inspect/perf/phases-shared.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"
#include "kontend/phasesnap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation-phases.h"

#include <errno.h>
#include <string.h>

#define US 1000ull

static void assert_within_a_bucket(uint64_t ns)
{
	unsigned bucket = phases_bucket(ns);
	uint64_t middle = phasesnap_bucket_ns(bucket),
		 off = middle > ns ? middle - ns : ns - middle;

	assert_true(bucket < PHASESNAP_BUCKETS);
	if (off * 16 > ns)
		fail_msg("%llu ns are reported as %llu", (unsigned long long)ns,
			 (unsigned long long)middle);
}

static void both_sides_have_the_same_buckets(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns <= UINT32_MAX; ns = ns * 17 / 16 + 1)
		assert_within_a_bucket(ns);
	assert_within_a_bucket(UINT32_MAX);
	assert_int_equal(phases_bucket(UINT64_MAX), phases_bucket(UINT32_MAX));
	for (unsigned ns = 1; ns < 100000; ns++)
		assert_true(phases_bucket(ns) >= phases_bucket(ns - 1));
}

static void percentiles(void **state)
{
	uint32_t buckets[PHASESNAP_BUCKETS] = {0};

	(void)state;
	assert_int_equal(phasesnap_percentile(buckets, 50, 100), 0);
	buckets[phases_bucket(1000)] = 98;
	buckets[phases_bucket(50000)] = 2;
	uint64_t p50 = phasesnap_percentile(buckets, 50, 50001);
	assert_true(p50 > 930 && p50 < 1070);
	uint64_t p99 = phasesnap_percentile(buckets, 99, 50001);
	assert_true(p99 > 46000 && p99 < 54000);
	/* No more than the longest one. */
	assert_int_equal(phasesnap_percentile(buckets, 99, 49999), 49999);
}

static void fill(struct phasesnap *s)
{
	struct phasesnap_cpu c = {.cpu = 3,
				  .n = 10,
				  .out_ns = 20000 * US,
				  .in_ns = 6000 * US,
				  .out_max_ns = 2100 * US,
				  .in_max_ns = 610 * US,
				  .switches = 5,
				  .same = 7,
				  .switch_ns = 50 * US,
				  .switch_max_ns = 20 * US};
	struct phasesnap_pair pair = {.from = 11, .to = 12, .n = 3, .ns = 30 * US};

	c.out[phases_bucket(2000 * US)] = 10;
	c.in[phases_bucket(600 * US)] = 10;
	s->head = (struct phasesnap_head){.time_ns = 2000 * US, .from_ns = 500 * US};
	s->head.turn = phasesnap_add_text(s, "rotate_ctx");
	assert_int_equal(phasesnap_add_cpu(s, &c), 0);
	pair.from_path = phasesnap_add_text(s, "/a");
	pair.to_path = phasesnap_add_text(s, "/a/b");
	assert_int_equal(phasesnap_add_pair(s, &pair), 0);
	/* Back, and to one that is gone. */
	pair = (struct phasesnap_pair){.from = 12,
				       .to = 11,
				       .n = 1,
				       .ns = 8 * US,
				       .from_path = pair.to_path,
				       .to_path = pair.from_path};
	assert_int_equal(phasesnap_add_pair(s, &pair), 0);
	pair = (struct phasesnap_pair){
		.from = 12, .to = 99, .n = 1, .ns = 12 * US, .from_path = pair.from_path};
	assert_int_equal(phasesnap_add_pair(s, &pair), 0);
}

static void bytes_from_outside(void **state)
{
	struct phasesnap s = {0}, back = {0};

	(void)state;
	fill(&s);
	size_t len = phasesnap_size(&s);
	uint8_t *bytes = mem_calloc(1, len);
	assert_non_null(bytes);
	phasesnap_encode(&s, bytes);
	assert_int_equal(phasesnap_decode(&back, bytes, len), 0);
	assert_int_equal(back.n_pairs, 3);
	assert_memory_equal(back.cpus, s.cpus, sizeof(*s.cpus));
	for (size_t n = 0; n < len; n += 8)
		assert_true(phasesnap_decode(&back, bytes, n) < 0 || back.n_pairs < 3 ||
			    !back.n_strings);
	/* A text that is outside of the block. */
	s.pairs[1].to_path = 1 << 20;
	phasesnap_encode(&s, bytes);
	assert_int_equal(phasesnap_decode(&back, bytes, len), -EBADMSG);
	mem_free(bytes);
	phasesnap_deinit(&s);
	phasesnap_deinit(&back);
}

static void put_part(struct model *m, uint16_t kind, uint16_t version, const struct sections *k,
		     const void *s)
{
	size_t len = sections_size(k, s);
	struct record_snapshot *body = mem_calloc(1, sizeof(*body) + len);

	assert_non_null(body);
	*body = (struct record_snapshot){.kind = kind, .version = version, .time_ns = CANNED_START};
	sections_encode(k, s, body + 1);
	assert_int_equal(model_snapshot(m, body, sizeof(*body) + len), 0);
	mem_free(body);
}

static struct model *play(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_START + 1000 * CANNED_MS);
	asked_play(w, NULL);
	return w->rig.engine.model;
}

/* Events of the cgroups /a/b (twice) and /c. */
static void put_events(struct model *m)
{
	struct perfsnap s = {.head = {.method = SNAP_BPF}};
	struct snap_event e = {.id = 1, .cpu = 0, .oncpu = -1, .flags = SNAP_CGROUP};

	e.target_comm = perfsnap_add_text(&s, "/a/b");
	assert_int_equal(perfsnap_add_event(&s, &e), 0);
	e.id = 2;
	assert_int_equal(perfsnap_add_event(&s, &e), 0);
	e.id = 3;
	e.target_comm = perfsnap_add_text(&s, "/c");
	assert_int_equal(perfsnap_add_event(&s, &e), 0);
	/* Of a task. */
	e = (struct snap_event){.id = 4, .cpu = -1, .oncpu = -1, .target_tid = 9, .target_pid = 9};
	assert_int_equal(perfsnap_add_event(&s, &e), 0);
	put_part(m, SNAPSHOT_PERF, SNAP_VERSION, &perfsnap_sections, &s);
	perfsnap_deinit(&s);
}

static const struct query_rotation_cgroup *find_cgroup(const struct query_rotation_phases *p,
						       const char *path)
{
	for (size_t i = 0; i < p->n_cgroups; i++)
		if (p->cgroups[i].path ? path && !strcmp(p->cgroups[i].path, path) : !path)
			return &p->cgroups[i];
	fail_msg("no cgroup %s", path ? path : "that is gone");
	return &p->cgroups[0];
}

static void switches_stand_beside_events(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	struct query_rotation_phases p;
	struct phasesnap s = {0};

	fill(&s);
	put_part(m, SNAPSHOT_PHASES, PHASESNAP_VERSION, &phasesnap_sections, &s);
	put_events(m);
	assert_int_equal(query_rotation_phases(&w->q, &p), 0);
	assert_true(p.asked);
	assert_string_equal(p.turn, "rotate_ctx");
	assert_int_equal(p.seen_ns, 1500 * US);
	assert_int_equal(p.n_cpus, 1);
	assert_int_equal(p.cpus[0].out_avg_ns, 2000 * US);
	assert_int_equal(p.cpus[0].in_avg_ns, 600 * US);
	assert_int_equal(p.cpus[0].switch_avg_ns, 10 * US);
	assert_int_equal(p.n_cgroups, 4);
	assert_string_equal(p.cgroups[0].path, "/a/b"); /* most time */
	const struct query_rotation_cgroup *b = find_cgroup(&p, "/a/b");
	assert_int_equal(b->events, 2);
	assert_int_equal(b->to_n, 3);
	assert_int_equal(b->to_avg_ns, 10 * US);
	assert_int_equal(b->from_n, 2);
	assert_int_equal(b->from_avg_ns, 10 * US);
	assert_int_equal(find_cgroup(&p, "/a")->from_n, 3);
	assert_int_equal(find_cgroup(&p, "/c")->events, 1);
	assert_int_equal(find_cgroup(&p, "/c")->to_n, 0);
	assert_int_equal(find_cgroup(&p, NULL)->to_n, 1);
	phasesnap_deinit(&s);
}

static void contexts_by_cgroup(void **state)
{
	struct query_spec spec = {.by = BY_CGROUP, .sort = "context"};
	struct asked *w = *state;
	struct table t;

	put_events(play(w));
	assert_int_equal(query_perf_contexts(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 2); /* and the event of a task is in none */
	assert_int_equal(column_sum(&t, "events"), 3);
	size_t b = strcmp(cell_s(&t, 0, "context"), "cgroup /a/b") ? 1 : 0;
	assert_string_equal(cell_s(&t, b, "context"), "cgroup /a/b");
	assert_int_equal(cell_u(&t, b, "events"), 2);
	assert_string_equal(cell_s(&t, !b, "context"), "cgroup /c");
}

static void what_is_missing_says_why(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	struct query_rotation_phases p;
	struct phasesnap s = {.head = {.missing = PHASESNAP_NO_ROTATION | PHASESNAP_NO_CGROUPS}};

	assert_int_equal(query_rotation_phases(&w->q, &p), 0);
	assert_false(p.asked);
	s.head.reason = phasesnap_add_text(&s, "no kprobes");
	s.head.cgroup_reason = phasesnap_add_text(&s, "no cgroups");
	put_part(m, SNAPSHOT_PHASES, PHASESNAP_VERSION, &phasesnap_sections, &s);
	assert_int_equal(query_rotation_phases(&w->q, &p), 0);
	assert_true(p.asked);
	assert_null(p.turn);
	assert_string_equal(p.reason, "no kprobes");
	assert_string_equal(p.cgroup_reason, "no cgroups");
	phasesnap_deinit(&s);
}

/* A recording may name more cgroups than there are rows for. */
static void too_many_cgroups(void **state)
{
	struct asked *w = *state;
	struct model *m = play(w);
	struct query_rotation_phases p;
	struct phasesnap s = {0};

	for (uint64_t i = 1; i <= 3000; i++) {
		struct phasesnap_pair pair = {.from = 2 * i, .to = 2 * i + 1, .n = 1, .ns = i};
		assert_int_equal(phasesnap_add_pair(&s, &pair), 0);
	}
	put_part(m, SNAPSHOT_PHASES, PHASESNAP_VERSION, &phasesnap_sections, &s);
	assert_int_equal(query_rotation_phases(&w->q, &p), 0);
	assert_int_equal(p.n_cgroups + p.left_out, 6000);
	phasesnap_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_have_the_same_buckets),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(bytes_from_outside),
		cmocka_unit_test_setup_teardown(switches_stand_beside_events, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(contexts_by_cgroup, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(what_is_missing_says_why, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(too_many_cgroups, asked_setup_empty,
						asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
