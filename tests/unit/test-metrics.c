// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics while it measures, without a kernel: what is added up of streams, how many series there
 * are of it, and what they are called. tests/unit/test-metrics-server.c has the server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/metrics.h"
#include "kontend/named-sums.h"
#include "kontend/shortsnap.h"
#include "metrics/sums.h"
#include "openmetrics.h"
#include "random.h"
#include "synth-mm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOUR 3600000000000ull

/* --- where to listen ---------------------------------------------------------------------------
 */

static void addresses_are_numbers(void **state)
{
	static const char *const good[][2] = {
		{"9417", "127.0.0.1:9417"}, {"0", "127.0.0.1:0"},
		{"0.0.0.0:1", "0.0.0.0:1"}, {"[::1]:65535", "[::1]:65535"},
		{"[::]:9417", "[::]:9417"},
	};
	static const char *const bad[] = {
		"",
		":",
		":1",
		"65536",
		"1a",
		"-1",
		" 1",
		"1 ",
		"::1:1",
		"[::1:1",
		"[]:1",
		"localhost:1",
		"[1.2.3.4]:1",
		"1.2.3:1",
		"[::1]",
		"1:",
		"[::1]x:1",
		"123456",
		"1.2.3.4.5:1",
		"1:2:3",
		"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]:1",
	};
	struct metrics_address a;
	char text[METRICS_ADDRESS_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(metrics_address_parse(good[i][0], "--metrics", &a, NULL), 0);
		assert_string_equal(metrics_address_text(&a, text), good[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};
		if (metrics_address_parse(bad[i], "--metrics", &a, &err) != -EINVAL)
			fail_msg("taken: '%s'", bad[i]);
		assert_non_null(strstr(err.text, "--metrics '"));
	}
}

/* --- series ------------------------------------------------------------------------------------
 */

static struct named_sum *get_mode(struct named_sums *t, const char *name, const char *mode,
				  bool may_begin, uint64_t now)
{
	const struct named_key key = {.name = name, .mode = mode};
	struct named_sum *r = named_sums_get(t, &key, may_begin, now);

	assert_non_null(r);
	return r;
}

static struct named_sum *get(struct named_sums *t, const char *name, uint64_t now)
{
	struct named_sum *r = get_mode(t, name, "R", true, now);

	named_sum_add(r, 1, 10, 10, 0, now);
	return r;
}

static void series_are_bounded_and_stay(void **state)
{
	struct named_sums t = {.most = 3, .ends = true};
	char name[16];

	(void)state;
	assert_true(named_sum_is_other(get_mode(&t, "late", "R", false, 1)));
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "lock %d", i);
		get(&t, name, 1);
	}
	assert_int_equal(t.n, 3);
	assert_int_equal(t.others[0].n, 2);
	/* A row of one mode is not that of another. */
	assert_true(named_sum_is_other(get_mode(&t, "lock 1", "W", true, 1)));
	assert_ptr_equal(get(&t, "lock 0", HOUR), &t.rows[0]);
	/* A row that has not grown for an hour ends, unless a task waits. */
	assert_ptr_equal(get(&t, "lock 5", HOUR), &t.others[0]);
	t.rows[2].waiting = 1;
	assert_ptr_equal(get(&t, "lock 5", HOUR + 1), &t.rows[1]);
	assert_int_equal(t.n_ended, 1);
	assert_int_equal(t.rows[1].n, 1);
	assert_ptr_equal(get(&t, "lock 6", HOUR + 2), &t.others[0]);
	assert_int_equal(t.others[0].n, 4);
	assert_ptr_equal(get(&t, "lock 5", HOUR + 2), &t.rows[1]);
	named_sums_deinit(&t);
}

/* In a file every row stays, however old. */
static void sums_of_files_do_not_end(void **state)
{
	struct named_sums t = {.most = 1};

	(void)state;
	get(&t, "a", 1);
	assert_true(named_sum_is_other(get(&t, "b", 3 * HOUR)));
	assert_ptr_equal(get(&t, "a", 3 * HOUR), &t.rows[0]);
	assert_int_equal(t.rows[0].n, 2);
	assert_int_equal(t.n_ended, 0);
	named_sums_deinit(&t);
}

static void sums_go_on_without_memory(void **state)
{
	static uint64_t counts[HIST_BUCKETS] = {[3] = 2};
	const struct query_hist hist = {.counts = counts, .n_waits = 2, .total_ns = 8};
	const struct named_key key = {.name = "a"}, last = {.name = "b"};
	unsigned failed = 0;

	(void)state;
	for (long n = 0; n < 8; n++) {
		struct named_sums t = {.most = 1};
		long live = mem_live();

		mem_fail_after(n);
		struct named_sum *a = named_sums_get(&t, &key, true, 1);
		int added = a ? named_sum_add_hist(a, &hist, 0, 1) : -ENOMEM;
		const struct named_sum *b = named_sums_get(&t, &last, true, 1);
		mem_fail_after(-1);
		failed += added < 0 || !b;
		if (t.n)
			assert_int_equal(t.rows[0].n, added < 0 ? 0 : 2);
		named_sums_deinit(&t);
		assert_int_equal(mem_live(), live);
	}
	assert_true(failed >= 4);
}

static void names_that_look_alike_are_one_series(void **state)
{
	struct named_sums t = {.most = 8};
	char longer[2 * NAMED_SUM_NAME];

	(void)state;
	get(&t, "a\xff", 1);
	get(&t, "a\xfe", 1);
	get(&t, "a\n", 1);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.rows[0].n, 3);
	assert_true(named_sum_is_other(get(&t, "other", 1)));
	assert_true(named_sum_is_other(get(&t, "", 1)));
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	struct named_sum *r = get(&t, longer, 1);
	longer[sizeof(longer) - 2] = 'y';
	assert_ptr_equal(get(&t, longer, 1), r);
	assert_int_equal(t.n, 2);
	named_sums_deinit(&t);
}

/* --- streams -----------------------------------------------------------------------------------
 */

struct play {
	struct metrics *m;
	struct engine engine;
};

static void begin(struct play *p, struct synth *s, const struct model_limits *limits)
{
	const struct metrics_options o = {.version = "1.2.3"};
	struct error err = {0};

	assert_int_equal(engine_init(&p->engine, synth_source(s), limits, &err), 0);
	assert_int_equal(metrics_new(&p->m, &o, &err), 0);
	assert_int_equal(metrics_start(p->m, &p->engine, &err), 0);
	assert_string_equal(metrics_url(p->m), "");
	assert_false(metrics_wanted(p->m));
}

static void end(struct play *p)
{
	metrics_free(p->m);
	engine_deinit(&p->engine);
}

static char *print_metrics(struct play *p)
{
	char *text = NULL, why[128] = "";
	struct error err = {0};
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(metrics_put(p->m, NULL, METRICS_TEXT, f, &err), 0);
	fclose(f);
	size_t line = openmetrics_check(text, why, sizeof(why));
	if (line)
		fail_msg("line %zu: %s\n%s", line, why, text);
	return text;
}

/* Series of a type add up to it, those of cgroups to all. */
static void assert_adds_up(const char *text)
{
	double all = 0;
	unsigned n;

	for (enum lock_type t = 0; t < LOCK_UNKNOWN; t++) {
		char labels[96], sample[192];
		snprintf(labels, sizeof(labels), "type=\"%s\",mode=\"%s\",world=\"%s\"}",
			 locktype_base(t), locktype_mode(t), locktype_world(t));
		snprintf(sample, sizeof(sample), "kontend_lock_wait_seconds_count{%s", labels);
		double waits = openmetrics_value(text, sample);
		snprintf(sample, sizeof(sample), "kontend_lock_wait_seconds_sum{%s", labels);
		double seconds = openmetrics_value(text, sample);
		double named =
			openmetrics_total(text, "kontend_named_lock_waits_total{", labels, &n);
		assert_in_range(n, 1, METRICS_LOCKS + 1);
		assert_true(named == waits);
		named = openmetrics_total(text, "kontend_named_lock_wait_seconds_total{", labels,
					  &n);
		assert_true(named > seconds - 1e-6 && named < seconds + 1e-6);
		snprintf(sample, sizeof(sample), "kontend_lock_waiters{%s", labels);
		named = openmetrics_total(text, "kontend_named_lock_waiters{", labels, &n);
		assert_true(named == openmetrics_value(text, sample));
		all += waits;
	}
	assert_true(openmetrics_total(text, "kontend_cgroup_waits_total{", "", &n) == all);
	assert_in_range(n, 1, METRICS_CGROUPS + 1);
	assert_true(openmetrics_total(text, "kontend_process_waits_total{", "", &n) == all);
	assert_in_range(n, 1, METRICS_PROCESSES + 1);
}

/* At every tick: adds; at every third writes, and compares. Answers the last text. */
static char *play(struct play *p, unsigned *compared)
{
	struct error err = {0};
	char *before = NULL, sample[1024];
	unsigned ticks = 0;
	int r = 0;

	while (r != ENGINE_END) {
		r = engine_pump(&p->engine, 0, &err);
		assert_true(r >= 0);
		if (r != ENGINE_TICK && r != ENGINE_END)
			continue;
		assert_int_equal(metrics_add(p->m, &err), 0);
		if (++ticks % 3 && r != ENGINE_END)
			continue;
		char *now = print_metrics(p);
		assert_adds_up(now);
		if (before && openmetrics_fell(before, now, compared, sample, sizeof(sample)))
			fail_msg("%s fell to %f", sample, openmetrics_value(now, sample));
		free(before);
		before = now;
	}
	return before;
}

/* Sums may be requested before measuring has begun: start and length are those of the counts. */
static void counting_starts_with_the_measurement(void **state)
{
	enum { WALL_S = 1000000 };
	const struct record_host host = {.clock_ns = CANNED_START,
					 .wall_ns = WALL_S * 1000000000ull};
	const uint64_t frame = synth_addr(SYNTH_PIPE_READ), start = CANNED_START + 2500 * CANNED_MS;
	struct synth *s = synth_new(1);
	struct play p;

	(void)state;
	synth_prologue(s, NULL);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	synth_tick(s, CANNED_START);
	synth_record(s, RECORD_START, 0, &start, sizeof(start));
	synth_begin(s, 0, start + CANNED_MS, 7, 7, 0x1000, LCB_F_MUTEX, &frame, 1);
	synth_end(s, 0, start + 2 * CANNED_MS, 7, 7, 0x1000, 0);
	synth_tick(s, start + 500 * CANNED_MS);
	begin(&p, s, NULL);
	unsigned compared = 0, n;
	char *text = play(&p, &compared);
	assert_true(openmetrics_total(text, "kontend_measurement_seconds{", "", &n) == 0.5);
	assert_true(openmetrics_value(text, "kontend_start_time_seconds") == WALL_S + 2.5);
	free(text);
	end(&p);
	synth_free(s);
}

static void counters_never_fall(void **state)
{
	const struct model_limits small = {
		.locks = 64, .stacks = 24, .tasks = 32, .cells = 256, .hist_groups = 2048};
	unsigned compared = 0;

	(void)state;
	for (uint32_t seed = 1; seed < 5; seed++) {
		struct random_plan plan = {
			.events = 8000, .locks = seed % 2 ? 40 : 2000, .seed = seed, .rarity = 800};
		struct rig rig;
		struct play p;
		random_stream(&rig, &plan);
		begin(&p, rig.synth, seed > 2 ? &small : NULL);
		char *text = play(&p, &compared);
		assert_true(openmetrics_value(text, "kontend_events_total") > 1000);
		free(text);
		end(&p);
		rig_deinit(&rig);
	}
	assert_true(compared > 10000);
}

static void says_what_was_waited(void **state)
{
	struct rig rig;
	struct play p;
	unsigned n;

	(void)state;
	canned_init(&rig);
	begin(&p, rig.synth, NULL);
	for (int r = 0; r != ENGINE_END;)
		r = engine_pump(&p.engine, 0, NULL);
	assert_int_equal(metrics_add(p.m, NULL), 0);
	char *text = print_metrics(&p);
	static const struct {
		const char *sample;
		double value;
	} want[] = {
		{"kontend_lock_wait_seconds_sum{type=\"rwsem\",mode=\"W\",world=\"kernel\"}",
		 0.165},
		{"kontend_lock_wait_seconds_count{type=\"rwsem\",mode=\"W\",world=\"kernel\"}", 30},
		{"kontend_lock_waiters{type=\"rwsem\",mode=\"R\",world=\"kernel\"}", 1},
		{"kontend_longest_wait_seconds", 0.4},
		{"kontend_lock_failed_total{type=\"mutex\",mode=\"\",world=\"kernel\"}", 1},
		{"kontend_incomplete_total{reason=\"lost\"}", 3},
		{"kontend_lock_wait_seconds_count{type=\"rt-mutex\",mode=\"\",world=\"kernel\"}",
		 0},
		{"kontend_unavailable{what=\"cost\",reason=\"not yet known\"}", 1},
		{"kontend_incidents_total", 0},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		double got = openmetrics_value(text, want[i].sample);
		if (got < want[i].value - 1e-9 || got > want[i].value + 1e-9)
			fail_msg("%s is %f\n%s", want[i].sample, got, text);
	}
	/* Not measured: no sample. */
	assert_null(strstr(text, "kontend_breakpoint_slots"));
	assert_null(strstr(text, "kontend_triggers"));
	/* The longest wait is reported once. */
	assert_true(openmetrics_total(text, "kontend_lock_wait_max_seconds{", "", &n) > 0);
	char *again = print_metrics(&p);
	assert_true(openmetrics_total(again, "kontend_lock_wait_max_seconds{", "", &n) == 0);
	assert_true(openmetrics_total(again, "kontend_named_lock_wait_max_seconds{", "", &n) == 0);
	free(again);
	free(text);
	end(&p);
	rig_deinit(&rig);
}

/* Sums of waits not reported one by one, as in two snapshots, and the limits that govern them. */
static void puts_what_was_not_told(struct synth *s, uint64_t t, uint64_t n)
{
	struct {
		struct record_snapshot head;
		struct shortsnap_head shorts;
		struct shortsnap_row row;
	} body = {.head = {.kind = SNAPSHOT_SHORT, .version = SHORTSNAP_VERSION, .time_ns = t},
		  .shorts = {.from_ns = CANNED_START,
			     .threshold_ns = 10000,
			     .level = SHORTSNAP_THRESHOLD,
			     .target_ppm = 10000,
			     .cost_ppm = 2500,
			     .n_changes = n / 10,
			     .n_rows = 1},
		  .row = {.n = n,
			  .ns = n * 2000,
			  .flags = LCB_F_MUTEX,
			  .n_frames = 1,
			  .frames = {0xffffffff81000100ull}}};

	body.shorts.counted[LCB_F_WRITE] = n / 2;
	synth_record(s, RECORD_SNAPSHOT, 0, &body, sizeof(body));
	synth_tick(s, t + 1000);
}

static void near(double got, double want)
{
	if (got < want * 0.999999 || got > want * 1.000001)
		fail_msg("%.12f instead of %.12f", got, want);
}

/* Figures of the locks' own events, by memory cgroup and mode; they add up in a second one. */
static void says_how_long_mmap_locks_took_and_were_held(void **state)
{
	struct synth_mm_event e = {.pid = 100,
				   .tid = 100,
				   .mm = 0xffff888011111100,
				   .memcg = "/db",
				   .write = true,
				   .success = true};
	struct mmlevel_how how;
	struct rig rig;
	struct play p;

	(void)state;
	rig_init(&rig, 1);
	assert_int_equal(mmlevel_parse("all", &how), 0);
	synth_mm_prologue(rig.synth, true);
	synth_mm_how(rig.synth, &how, CANNED_START);
	synth_round(rig.synth, CANNED_START);
	for (int s = 1; s <= 2; s++) {
		for (int i = 0; i < 5; i++) {
			e.what = SYNTH_MM_START;
			e.t = CANNED_START + ((uint64_t)s * 1000 - 900 + (uint64_t)i) * CANNED_MS;
			synth_mm(rig.synth, &e);
			e.what = SYNTH_MM_ACQUIRED;
			e.t += 3000;
			synth_mm(rig.synth, &e);
			e.what = SYNTH_MM_RELEASED;
			e.t += 100000;
			synth_mm(rig.synth, &e);
		}
		synth_tick(rig.synth, CANNED_START + (uint64_t)s * 1000 * CANNED_MS);
	}
	begin(&p, rig.synth, NULL);
	for (int r = 0; r != ENGINE_END;) {
		r = engine_pump(&p.engine, 0, NULL);
		if (r == ENGINE_TICK)
			assert_int_equal(metrics_add(p.m, NULL), 0);
	}
	char *text = print_metrics(&p);
#define DB "{memcg=\"/db\",mode=\"W\"}"
	near(openmetrics_value(text, "kontend_mmap_lock_acquired_total" DB), 10);
	near(openmetrics_value(text, "kontend_mmap_lock_acquire_seconds_count" DB), 10);
	near(openmetrics_value(text, "kontend_mmap_lock_acquire_seconds_sum" DB), 0.00003);
	near(openmetrics_value(text, "kontend_mmap_lock_hold_seconds_sum" DB), 0.001);
	free(text);
	end(&p);
	rig_deinit(&rig);
}

static void says_what_was_not_told(void **state)
{
	static const struct {
		const char *sample;
		double value;
	} want[] = {
		{"kontend_lock_waits_summed_total{type=\"mutex\",mode=\"\",world=\"kernel\"}", 30},
		{"kontend_lock_wait_seconds_count{type=\"mutex\",mode=\"\",world=\"kernel\"}", 30},
		{"kontend_lock_waits_counted_total{type=\"rwsem\",mode=\"W\",world=\"kernel\"}",
		 15},
		{"kontend_lock_wait_seconds_count{type=\"rwsem\",mode=\"W\",world=\"kernel\"}", 0},
		{"kontend_level{level=\"threshold\"}", 1},
		{"kontend_level{level=\"all\"}", 0},
		{"kontend_threshold_seconds", 0.00001},
		{"kontend_overhead_ratio", 0.0025},
		{"kontend_overhead_limit_ratio", 0.01},
		{"kontend_level_changes_total", 3},
		{"kontend_cgroup_waits_total{cgroup=\"unknown\"}", 30},
	};
	struct rig rig;
	struct play p;
	unsigned compared = 0;

	(void)state;
	rig_init(&rig, 1);
	synth_outputs(rig.synth);
	synth_round(rig.synth, CANNED_START);
	puts_what_was_not_told(rig.synth, CANNED_START, 0);
	for (uint64_t n = 1; n <= 3; n++)
		puts_what_was_not_told(rig.synth, CANNED_START + n * 1000 * CANNED_MS, n * 10);
	begin(&p, rig.synth, NULL);
	char *text = play(&p, &compared);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		double got = openmetrics_value(text, want[i].sample);
		if (got < want[i].value - 1e-9 || got > want[i].value + 1e-9)
			fail_msg("%s is %f, not %f", want[i].sample, got, want[i].value);
	}
	free(text);
	end(&p);
	rig_deinit(&rig);
}

/* So many functions that each wait for locks of their own, and cgroups with names that are bad. */
enum { MANY = 3000 };

static struct synth *many(char **ret_kallsyms)
{
	struct synth *s = synth_new(1);
	size_t len;
	FILE *f = open_memstream(ret_kallsyms, &len);

	for (unsigned i = 0; i < MANY; i++)
		fprintf(f, "%016llx t a\"b\\c\xff_%04u\n", 0xffffffff82000000ull + i * 256ull, i);
	fclose(f);
	synth_prologue(s, *ret_kallsyms);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t frame = 0xffffffff82000010 + i * 256, t = CANNED_START + i * 2000000;
		uint64_t lock = 0xffff888000001000 + i * 64;
		char path[64];

		snprintf(path, sizeof(path), "/pod \"%u\"\\\n\xc3.", (unsigned)i);
		synth_cgroup(s, 0, t - 10, 1000 + i, path);
		synth_set_cgroup(s, 1000 + i);
		synth_begin(s, 0, t, 7, 7, lock, LCB_F_MUTEX, &frame, 1);
		synth_end(s, 0, t + 1000, 7, 7, lock, 0);
		if (i % 10 == 9)
			synth_tick(s, t + 1500);
	}
	return s;
}

static void what_comes_from_outside_is_bounded(void **state)
{
	char *kallsyms;
	struct synth *s = many(&kallsyms);
	struct play p;
	unsigned compared = 0, n;

	(void)state;
	begin(&p, s, NULL);
	char *text = play(&p, &compared);
	assert_true(openmetrics_total(text, "kontend_named_lock_waits_total{", "", &n) == MANY);
	assert_int_equal(n, METRICS_LOCKS + LOCK_UNKNOWN);
	assert_true(openmetrics_total(text, "kontend_named_lock_waits_total{", "lock=\"other\"",
				      &n) == MANY - METRICS_LOCKS);
	assert_non_null(strstr(text, "{lock=\"a\\\"b\\\\c?_0000\","));
	openmetrics_total(text, "kontend_cgroup_waits_total{", "", &n);
	assert_int_equal(n, METRICS_CGROUPS + 1);
	if (!strstr(text, "{cgroup=\"/pod \\\"9\\\"\\\\??.\"}"))
		fail_msg("%.400s", strstr(text, "kontend_cgroup_waits_total{"));
	assert_true(strlen(text) < 512 << 10);
	free(text);
	free(kallsyms);
	end(&p);
	synth_free(s);
}

/* --- incidents ---------------------------------------------------------------------------------
 */

static void a_bucket_names_its_incident(void **state)
{
	struct incident in = {.fired_ns = CANNED_START + 5 * CANNED_MS,
			      .worst_ns = 40 * CANNED_MS,
			      .lock = CANNED_PIPE_MUTEX};
	char longer[300];
	unsigned compared = 0;
	struct rig rig;
	struct play p;

	(void)state;
	canned_init(&rig);
	begin(&p, rig.synth, NULL);
	char *text = play(&p, &compared);
	/* No wait was that long, or its lock has two modes, or is none. */
	in.worst_ns = 3600000 * CANNED_MS;
	metrics_incident(p.m, &in, "/var/lib/bad.data");
	in.worst_ns = 5500000;
	in.lock = CANNED_MMAP_LOCK;
	metrics_incident(p.m, &in, "/var/lib/bad.data");
	in.lock = 0;
	metrics_incident(p.m, &in, "/var/lib/bad.data");
	free(text);
	text = print_metrics(&p);
	assert_null(strstr(text, "incident="));
	free(text);
	/* The exemplar is in a bucket that has something in it. */
	in.lock = CANNED_PIPE_MUTEX;
	for (in.worst_ns = 1 << 10; in.worst_ns < 1ull << 36; in.worst_ns *= 2)
		metrics_incident(p.m, &in, "/var/lib/kontend-1\".data");
	text = print_metrics(&p);
	assert_non_null(strstr(text, " # {incident=\"kontend-1\\\".data\"} 0."));
	free(text);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	for (in.worst_ns = 1 << 10; in.worst_ns < 1ull << 36; in.worst_ns *= 2)
		metrics_incident(p.m, &in, longer);
	free(print_metrics(&p));
	end(&p);
	rig_deinit(&rig);
}

/* --- faults ------------------------------------------------------------------------------------
 */

/* Adds at every tick while an allocation fails. True if all was added nevertheless. */
static bool play_failing(struct play *p, long n)
{
	struct error err = {0};
	bool is_whole = true;
	int r = 0;

	while (r != ENGINE_END) {
		r = engine_pump(&p->engine, 0, &err);
		assert_true(r >= 0);
		if (r != ENGINE_TICK && r != ENGINE_END)
			continue;
		mem_fail_after(n);
		is_whole &= metrics_add(p->m, &err) == 0;
		mem_fail_after(-1);
	}
	return is_whole;
}

/* Waits of a new series that finds no memory are in `other`: sums are complete, or there is an
 * error. */
static void series_add_up_without_memory(void **state)
{
	unsigned whole = 0, with_rows = 0, n_rows;
	struct rig rig;

	(void)state;
	canned_init(&rig);
	for (long n = 0; n < 120; n++) {
		struct play p;

		begin(&p, rig.synth, NULL);
		if (play_failing(&p, n)) {
			char *text = print_metrics(&p);
			assert_adds_up(text);
			whole++;
			(void)openmetrics_total(text, "kontend_process_waits_total{", "", &n_rows);
			with_rows += n_rows > 1;
			free(text);
		}
		end(&p);
	}
	rig_deinit(&rig);
	assert_true(whole > 4 && with_rows > 0);
	assert_true(whole < 120);
}

static void goes_on_without_memory(void **state)
{
	struct error err = {0};
	struct rig rig;
	struct play p;
	FILE *null = fopen("/dev/null", "w"), *full = fopen("/dev/full", "w");
	unsigned failed = 0, compared = 0;

	(void)state;
	assert_non_null(null);
	canned_init(&rig);
	begin(&p, rig.synth, NULL);
	free(play(&p, &compared));
	for (long n = 0; n < 200; n++) {
		err = (struct error){0};
		mem_fail_after(n);
		int added = metrics_add(p.m, &err),
		    r = metrics_put(p.m, NULL, METRICS_TEXT, null, &err);
		mem_fail_after(-1);
		assert_true(added == 0 || added == -ENOMEM);
		assert_true(r == 0 || r == -ENOMEM);
		failed += added < 0 || r < 0;
		assert_int_equal(added < 0 || r < 0, *err.text != 0);
	}
	assert_true(failed > 0);
	assert_int_equal(metrics_add(p.m, &err), 0);
	char *text = print_metrics(&p);
	assert_true(openmetrics_value(text, "kontend_lock_wait_seconds_count{type=\"rwsem\",mode="
					    "\"W\",world=\"kernel\"}") == 30);
	free(text);
	setvbuf(full, NULL, _IONBF, 0);
	err = (struct error){0};
	assert_int_equal(metrics_put(p.m, NULL, METRICS_TEXT, full, &err), -ENOMEM);
	fclose(full);
	fclose(null);
	end(&p);
	rig_deinit(&rig);
	for (long n = 0; n < 6; n++) {
		const struct metrics_options o = {.version = ""};
		struct metrics *m = NULL;
		long live = mem_live();
		mem_fail_after(n);
		int r = metrics_new(&m, &o, &err);
		mem_fail_after(-1);
		if (r == 0)
			metrics_free(m);
		else
			assert_int_equal(r, -ENOMEM);
		assert_int_equal(mem_live(), live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_numbers),
		cmocka_unit_test(series_are_bounded_and_stay),
		cmocka_unit_test(sums_of_files_do_not_end),
		cmocka_unit_test(sums_go_on_without_memory),
		cmocka_unit_test(names_that_look_alike_are_one_series),
		cmocka_unit_test(says_what_was_waited),
		cmocka_unit_test(says_how_long_mmap_locks_took_and_were_held),
		cmocka_unit_test(says_what_was_not_told),
		cmocka_unit_test(counting_starts_with_the_measurement),
		cmocka_unit_test(counters_never_fall),
		cmocka_unit_test(what_comes_from_outside_is_bounded),
		cmocka_unit_test(a_bucket_names_its_incident),
		cmocka_unit_test(series_add_up_without_memory),
		cmocka_unit_test(goes_on_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
