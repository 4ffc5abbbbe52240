// SPDX-License-Identifier: GPL-2.0-only
/*
 * A range taken in one pass is the range that a timeline shows, wherever its ends are, and, where
 * no wait reaches into it, what the cut of it holds. Ranges that follow each other have what the
 * whole of them has.
 */
#include "kontend/cut.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/reader.h"
#include "kontend/report.h"
#include "kontend/script.h"
#include "kontend/timeline.h"
#include "kontend/wait.h"
#include "random.h"
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000ull

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

struct fixed {
	struct engine_range range;
	uint64_t from_ns, to_ns, begin_ns;
	int answer;
};

static int find_begin(struct engine_range *r, uint64_t begin_ns, struct error *err)
{
	struct fixed *f = (struct fixed *)r;

	f->begin_ns = begin_ns;
	r->from_ns = f->from_ns;
	r->to_ns = f->to_ns;
	return f->answer ? error_set(err, f->answer, "no such range") : 0;
}

/* Plays @source (taken over) to its end within a range. */
static void play(struct engine *e, struct source *source, struct fixed *f, uint64_t from,
		 uint64_t to)
{
	struct error err = {0};
	int r = 0;

	*f = (struct fixed){.range.find = find_begin, .from_ns = from, .to_ns = to};
	assert_int_equal(engine_init(e, source, NULL, &err), 0);
	e->range = &f->range;
	while (r != ENGINE_END && f->range.state != ENGINE_RANGE_DONE) {
		r = engine_pump(e, 0, &err);
		assert_true(r >= 0);
	}
}

/* All views of the report as JSON: free() it. */
static char *report_of(const struct engine *e)
{
	static const char begin[] = "  \"events\": [", end[] = "\n  ],";
	const struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL, .is_range = true};
	struct error err = {0};
	struct query q;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(query_init(&q, e), 0);
	query_begin(&q);
	assert_int_equal(report_write(&q, &s, f, &err), 0);
	query_deinit(&q);
	fclose(f);
	/* Samples of each event are counted in the whole recording. */
	char *events = strstr(text, begin), *after = events ? strstr(events, end) : NULL;
	assert_non_null(after);
	memmove(events, after, strlen(after) + 1);
	return text;
}

static void assert_same(const struct engine *a, const struct engine *b)
{
	char *x = report_of(a), *y = report_of(b);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void assert_same_state(const struct engine *a, const struct engine *b)
{
	char *x = random_state(a->model), *y = random_state(b->model);

	assert_string_equal(x, y);
	mem_free(x);
	mem_free(y);
}

/* The time of bucket @k's end, when no other bucket ends at that time; 0: not so. */
static uint64_t end_of(const struct timeline *t, size_t k)
{
	size_t n;
	const struct timeline_bucket *b = timeline_buckets(t, &n);

	if (k + 2 >= n || b[k].start_ns == b[k + 1].start_ns ||
	    b[k + 1].start_ns == b[k + 2].start_ns)
		return 0;
	return b[k + 1].start_ns;
}

static void compare_with_timeline(struct rig *rig, struct timeline *t, const struct engine *there,
				  uint64_t from, uint64_t to)
{
	struct error err = {0};
	struct engine here;
	struct fixed f;

	assert_int_equal(timeline_range(t, from, to, &err), 0);
	assert_int_equal(timeline_now_ns(t), to);
	play(&here, synth_source(rig->synth), &f, from, to);
	assert_int_equal(f.range.state, ENGINE_RANGE_DONE);
	assert_int_equal(f.begin_ns, timeline_begin_ns(t));
	assert_same_state(&here, there);
	assert_same(&here, there);
	engine_deinit(&here);
}

static unsigned compare_ranges_of(const struct random_plan *p)
{
	struct error err = {0};
	struct engine there;
	struct timeline *t;
	struct rig rig;
	uint32_t seed = p->seed;
	unsigned compared = 0;
	size_t n;

	random_stream(&rig, p);
	assert_int_equal(engine_init(&there, synth_source(rig.synth), NULL, &err), 0);
	assert_int_equal(timeline_new(&t, &there, NULL, &err), 0);
	timeline_buckets(t, &n);
	for (unsigned i = 0; i < 40; i++) {
		size_t a = rnd(&seed) % n, b = rnd(&seed) % n;
		uint64_t from = end_of(t, a < b ? a : b), to = end_of(t, a < b ? b : a);

		if (!from || !to || from == to)
			continue;
		compare_with_timeline(&rig, t, &there, from, to);
		/* Nor need its ends be stops. */
		from += rnd(&seed) % MS;
		to += 1 + rnd(&seed) % MS;
		if (to > timeline_end_ns(t) - 1)
			to = timeline_end_ns(t) - 1;
		if (from < to)
			compare_with_timeline(&rig, t, &there, from, to);
		compared++;
	}
	timeline_free(t);
	engine_deinit(&there);
	rig_deinit(&rig);
	return compared;
}

static void a_range_is_what_a_timeline_shows(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (uint32_t seed = 1; seed < 9; seed++) {
		struct random_plan p = {.events = 5000, .locks = 40, .seed = seed};

		p.has_tail = seed % 2;
		compared += compare_ranges_of(&p);
	}
	assert_true(compared > 40);
}

struct sums {
	uint64_t n, total_ns, events;
	struct model_damage damage;
};

static struct sums sums_of(struct rig *rig, uint64_t from, uint64_t to)
{
	struct sums s = {0};
	struct engine e;
	struct fixed f;

	play(&e, synth_source(rig->synth), &f, from, to);
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		s.n += e.model->types[i].contended;
		s.total_ns += e.model->types[i].total_ns;
	}
	s.events = e.model->n_events - e.model->before->n_events;
	s.damage = model_damage(e.model);
	if (from > f.begin_ns && f.range.state == ENGINE_RANGE_DONE) {
		assert_int_equal(e.model->zero_ns, from);
		assert_int_equal(e.model->now_ns, to);
	}
	engine_deinit(&e);
	return s;
}

/* At any times, which need not be ticks nor those of events. A late event may be in neither. */
static void ranges_in_a_row_add_up(void **state)
{
	struct random_plan p = {.events = 5000, .locks = 40, .seed = 77};
	uint32_t seed = 5;
	struct rig rig;

	(void)state;
	random_stream(&rig, &p);
	struct sums all = sums_of(&rig, 0, UINT64_MAX);
	assert_true(all.n > 1000 && all.damage.lost);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t a = 10 * MS + rnd(&seed) % (4 * MS), b = a + 1 + rnd(&seed) % (8 * MS);
		struct sums x = sums_of(&rig, 0, a), y = sums_of(&rig, a, b),
			    z = sums_of(&rig, b, UINT64_MAX);

		assert_in_range(x.n + y.n + z.n, all.n - 4, all.n);
		assert_in_range(x.events + y.events + z.events, all.events - 4, all.events);
		assert_int_equal(x.damage.lost + y.damage.lost + z.damage.lost, all.damage.lost);
		assert_int_equal(x.damage.throttled + y.damage.throttled + z.damage.throttled,
				 all.damage.throttled);
	}
	rig_deinit(&rig);
}

/* --- cuts ---------------------------------------------------------------------------------------
 */

enum { SEGMENTS = 12, SEGMENT_MS = 100, TASKS = 6 };

static uint64_t edge(unsigned segment)
{
	return (5000 + segment * SEGMENT_MS) * MS;
}

/* Within 90 of the 100 ms: nothing is waited for when a segment ends. */
static void make_segment(struct synth *s, unsigned k, uint32_t *seed)
{
	static const uint32_t flags[] = {LCB_F_READ, LCB_F_WRITE, LCB_F_MUTEX, LCB_F_SPIN};
	uint64_t at = edge(k) + MS;

	for (unsigned i = 0; i < 40; i++) {
		uint32_t cpu = rnd(seed) % RANDOM_CPUS, lock = rnd(seed) % 9;
		uint64_t chain[2] = {0xffffffff81020010, 0xffffffff81001000 + lock % 4 * 16};
		int tid = 20 + (int)(rnd(seed) % TASKS);
		uint64_t length = 1 + rnd(seed) % MS;

		synth_begin(s, cpu, at, 20, tid, 0x4000 + lock * 64, flags[lock % 4], chain, 2);
		synth_end(s, cpu, at + length, 20, tid, 0x4000 + lock * 64, i % 17 == 3);
		at += 2 * MS;
	}
	synth_throttle(s, k % RANDOM_CPUS, at);
	synth_tick(s, edge(k + 1));
}

/* @reaches: one wait goes from the middle of each segment into the next one. */
static struct synth *make_segments(bool reaches)
{
	struct record_host host = {.clock_ns = 3000 * MS,
				   .wall_ns = 1700000000000 * MS,
				   .cpus = RANDOM_CPUS,
				   .cpus_online = RANDOM_CPUS,
				   .release = "6.18.0"};
	struct synth *s = synth_new(RANDOM_CPUS);
	uint32_t seed = 99;

	synth_prologue(s, synth_kallsyms);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	synth_comm(s, 0, 0, 20, 20, "worker");
	for (unsigned k = 0; k < SEGMENTS; k++) {
		if (reaches)
			synth_begin(s, 3, edge(k) + 95 * MS, 30, 30 + (int)k, 0x9000, LCB_F_MUTEX,
				    NULL, 0);
		make_segment(s, k, &seed);
		if (reaches)
			synth_end(s, 3, edge(k + 1) + MS / 2, 30, 30 + (int)k, 0x9000, 0);
	}
	synth_tick(s, edge(SEGMENTS) + MS);
	return s;
}

static struct source *open_fd(int fd)
{
	struct reader_options o = {.no_symbols = true};
	struct error err = {0};
	struct source *s;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	assert_int_equal(reader_new(&s, &o, &err), 0);
	return s;
}

static struct source *cut_of(struct synth *s, int fd, uint64_t from, uint64_t to)
{
	struct writer_options o = {.fd = fd, .clock_id = 1};
	struct source *whole = synth_source(s);
	struct error err = {0};
	struct writer *w;

	assert_int_equal(writer_new(&w, &o, &err), 0);
	assert_int_equal(
		cut_range(whole, w, &(struct cut_part){.from_ns = from, .to_ns = to}, &err), 0);
	assert_int_equal(writer_finish(w, &err), 0);
	writer_free(w);
	source_free(whole);
	return open_fd(fd);
}

struct both {
	struct engine range, cut;
	struct fixed of_range, of_cut;
	int fd;
};

static void begin_both(struct both *b, struct synth *s, unsigned from, unsigned to)
{
	b->fd = memfd_create("cut", 0);
	assert_true(b->fd >= 0);
	play(&b->range, synth_source(s), &b->of_range, edge(from), edge(to));
	play(&b->cut, cut_of(s, b->fd, edge(from), edge(to)), &b->of_cut, 0, UINT64_MAX);
}

static void end_both(struct both *b)
{
	engine_deinit(&b->range);
	engine_deinit(&b->cut);
	close(b->fd);
}

static void a_range_is_what_its_cut_holds(void **state)
{
	struct synth *s = make_segments(false);
	struct both b;

	(void)state;
	for (unsigned from = 1; from < SEGMENTS; from += 2) {
		for (unsigned to = from + 1; to <= SEGMENTS; to += 3) {
			begin_both(&b, s, from, to);
			assert_int_equal(b.range.model->n_events - b.range.model->before->n_events,
					 80 * (to - from));
			assert_same(&b.range, &b.cut);
			end_both(&b);
		}
	}
	synth_free(s);
}

/* Known to the range from before; the cut has nothing but its end. */
static void a_wait_from_before_is_the_difference(void **state)
{
	struct synth *s = make_segments(true);
	struct both b;

	(void)state;
	begin_both(&b, s, 4, 7);
	struct model_damage range = model_damage(b.range.model), cut = model_damage(b.cut.model);
	assert_int_equal(range.unmatched_end, 0);
	assert_int_equal(cut.unmatched_end, 1);
	assert_int_equal(b.range.model->types[LOCK_MUTEX].contended,
			 b.cut.model->types[LOCK_MUTEX].contended + 1);
	/* With its whole length, as everywhere. */
	assert_int_equal(b.range.model->types[LOCK_MUTEX].total_ns -
				 b.cut.model->types[LOCK_MUTEX].total_ns,
			 5 * MS + MS / 2);
	assert_int_equal(b.range.model->waits->in_flight, 1);
	assert_int_equal(b.cut.model->waits->in_flight, 1);
	end_both(&b);
	synth_free(s);
}

/* --- what is written event by event -------------------------------------------------------------
 */

static uint64_t lines_within(struct synth *s, uint64_t from, uint64_t to)
{
	struct fixed f = {.range.find = find_begin, .from_ns = from, .to_ns = to};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct error err = {0};
	struct script *script;
	struct engine e;
	int r;

	assert_int_equal(engine_init(&e, synth_source(s), NULL, &err), 0);
	assert_int_equal(script_new(&script, &e, out, false), 0);
	e.watch = script_watch(script);
	e.range = &f.range;
	do {
		r = engine_pump(&e, 0, &err);
	} while (r >= 0 && r != ENGINE_END);
	script_free(script);
	engine_deinit(&e);
	fclose(out);
	uint64_t n = 0;
	for (const char *c = text; *c; c++)
		n += *c == '\n';
	free(text);
	return n ? n - 1 : 0; /* without the head */
}

static void lines_are_of_both_ends(void **state)
{
	struct synth *s = make_segments(false);
	uint64_t first = edge(2) + MS, second = first + 2 * MS;

	(void)state;
	assert_int_equal(lines_within(s, edge(2), edge(3)), 81);
	assert_int_equal(lines_within(s, first, second), 3);
	assert_int_equal(lines_within(s, first + 1, second), 2);
	assert_int_equal(lines_within(s, first, second - 1), 2);
	synth_free(s);
}

static void what_cannot_be_found_ends_it(void **state)
{
	struct synth *s = make_segments(false);
	struct fixed f = {.range.find = find_begin, .answer = -EINVAL};
	struct error err = {0};
	struct engine e;
	int r;

	(void)state;
	assert_int_equal(engine_init(&e, synth_source(s), NULL, &err), 0);
	e.range = &f.range;
	do {
		r = engine_pump(&e, 0, &err);
	} while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, -EINVAL);
	assert_string_equal(err.text, "no such range");
	assert_int_equal(e.model->n_events, 0);
	assert_int_equal(f.begin_ns, 3000 * MS);
	engine_deinit(&e);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_what_a_timeline_shows),
		cmocka_unit_test(ranges_in_a_row_add_up),
		cmocka_unit_test(a_range_is_what_its_cut_holds),
		cmocka_unit_test(a_wait_from_before_is_the_difference),
		cmocka_unit_test(lines_are_of_both_ends),
		cmocka_unit_test(what_cannot_be_found_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
