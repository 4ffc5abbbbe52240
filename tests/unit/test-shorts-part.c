// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of short waits are read now and then, and parts of a recording begin and end where they are
 * asked to. Whatever the moments are, the parts add up to the whole, to the wait and to the
 * nanosecond, as ranges of the whole and as files that were cut out of it.
 */
#include "kontend/cell.h"
#include "kontend/cut.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/reader.h"
#include "kontend/shorts.h"
#include "kontend/shortsnap.h"
#include "rig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000ull
#define BEGIN (100000 * MS)

enum { SNAPSHOTS = 12, ROWS = 40, MOST_CUTS = 9, RUNS = 60 };

struct body {
	struct record_snapshot head;
	struct shortsnap_head shorts;
	struct shortsnap_row rows[ROWS];
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Waits until the next snapshot: also none, single waits in many rows, and new rows. */
static void grow(struct body *b, uint32_t *seed)
{
	static const uint32_t flags[] = {LCB_F_SPIN, LCB_F_WRITE, LCB_F_MUTEX};
	struct shortsnap_head *h = &b->shorts;

	while (h->n_rows < ROWS && rnd(seed) % 3) {
		b->rows[h->n_rows] = (struct shortsnap_row){.flags = flags[rnd(seed) % 3],
							    .n_frames = 1,
							    .frames = {0x1000 + h->n_rows}};
		h->n_rows++;
	}
	for (uint32_t i = 0; i < h->n_rows; i++) {
		uint32_t n = rnd(seed) % 4 ? rnd(seed) % 2 : rnd(seed) % 5000;

		b->rows[i].n += n;
		b->rows[i].ns += (uint64_t)n * (1 + rnd(seed) % 10000);
	}
	for (uint32_t f = 0; f < 4; f++)
		h->counted[f] += rnd(seed) % 3;
}

/* Snapshots precede their tick, but may be written long before or after their time. */
static struct synth *make(uint32_t *seed, uint64_t *ret_end)
{
	struct body b = {.head = {.kind = SNAPSHOT_SHORT, .version = SHORTSNAP_VERSION},
			 .shorts = {.level = SHORTSNAP_THRESHOLD}};
	const uint64_t begin = BEGIN;
	struct synth *s = synth_new(1);
	uint64_t t = BEGIN;

	synth_prologue(s, NULL);
	synth_record(s, RECORD_START, 0, &begin, sizeof(begin));
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		b.head.time_ns = t;
		if (rnd(seed) % 2)
			synth_round(s, t + rnd(seed) % 2 * MS);
		synth_record(s, RECORD_SNAPSHOT, 0, &b,
			     offsetof(struct body, rows) + b.shorts.n_rows * sizeof(b.rows[0]));
		synth_tick(s, t + MS);
		for (unsigned k = 1; k < 10; k++) {
			synth_comm(s, 0, t + k * 100 * MS, 7, 7, "task");
			if (rnd(seed) % 2)
				synth_tick(s, t + k * 100 * MS);
		}
		b.shorts.spent_ns[SHORTSNAP_THRESHOLD] += 1000 * MS;
		t += 1000 * MS;
		grow(&b, seed);
	}
	/* The end of measuring has the sums of its own moment. */
	t -= 250 * MS;
	b.head.time_ns = t;
	synth_record(s, RECORD_SNAPSHOT, 0, &b,
		     offsetof(struct body, rows) + b.shorts.n_rows * sizeof(b.rows[0]));
	synth_tick(s, t);
	*ret_end = t;
	return s;
}

struct sums {
	uint64_t n, ns, counted, of_types, of_cells, spent_ns;
};

static struct sums sums_of(const struct model *m)
{
	struct sums s = {.spent_ns = m->shorts->spent_ns[SHORTSNAP_THRESHOLD]};

	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		s.n += m->shorts->types[i].n;
		s.ns += m->shorts->types[i].ns;
		s.counted += m->shorts->types[i].counted;
		s.of_types += m->types[i].total_ns;
	}
	for (size_t i = 0; i < m->cells->n; i++)
		s.of_cells += m->cells->cells[i].total_ns;
	return s;
}

static void add_sums(struct sums *to, const struct sums *s)
{
	to->n += s->n;
	to->ns += s->ns;
	to->counted += s->counted;
	to->of_types += s->of_types;
	to->of_cells += s->of_cells;
	to->spent_ns += s->spent_ns;
}

struct fixed {
	struct engine_range range;
	uint64_t from_ns, to_ns;
};

static int find_range(struct engine_range *r, uint64_t begin_ns, struct error *err)
{
	(void)begin_ns;
	(void)err;
	r->from_ns = ((struct fixed *)r)->from_ns;
	r->to_ns = ((struct fixed *)r)->to_ns;
	return 0;
}

/* Plays @source, which is taken over; @to 0: all of it. */
static struct sums play(struct source *source, uint64_t from, uint64_t to, bool ahead)
{
	struct fixed f = {.range.find = find_range, .from_ns = from, .to_ns = to};
	struct error err = {0};
	struct engine e;
	int r = 0;

	assert_int_equal(engine_init(&e, source, NULL, &err), 0);
	if (to)
		e.range = &f.range;
	if (ahead)
		assert_int_equal(engine_read_ahead(&e), 0);
	while (r != ENGINE_END && f.range.state != ENGINE_RANGE_DONE) {
		r = engine_pump(&e, 0, &err);
		assert_true(r >= 0);
	}
	if (to)
		assert_int_equal(f.range.state, ENGINE_RANGE_DONE);
	struct sums s = sums_of(e.model);
	engine_deinit(&e);
	return s;
}

static struct source *cut_of(struct synth *s, int fd, uint64_t from, uint64_t to)
{
	struct writer_options o = {.fd = fd, .clock_id = 1};
	struct reader_options ro = {.no_symbols = true};
	const struct cut_part part = {.from_ns = from, .to_ns = to};
	struct source *whole = synth_source(s), *ret;
	struct error err = {0};
	struct writer *w;
	char path[64];

	assert_int_equal(writer_new(&w, &o, &err), 0);
	assert_int_equal(cut_range(whole, w, &part, &err), 0);
	assert_int_equal(writer_finish(w, &err), 0);
	writer_free(w);
	source_free(whole);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro.path = path;
	assert_int_equal(reader_new(&ret, &ro, &err), 0);
	return ret;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Where the parts meet: anywhere, where sums were read, and twice within one second. */
static unsigned choose(uint64_t *at, uint64_t end, uint32_t *seed)
{
	unsigned n = 1 + rnd(seed) % MOST_CUTS;

	at[0] = BEGIN;
	for (unsigned i = 1; i < n; i++) {
		at[i] = BEGIN + 1 + ((uint64_t)rnd(seed) << 16 ^ rnd(seed)) % (end - BEGIN - 1);
		if (rnd(seed) % 4 == 0)
			at[i] -= (at[i] - BEGIN) % (1000 * MS);
		else if (i > 1 && rnd(seed) % 3 == 0 && at[i - 1] + 90 * MS < end)
			at[i] = at[i - 1] + 1 + rnd(seed) % (90 * MS);
	}
	at[n] = end;
	qsort(at, n + 1, sizeof(*at), by_time);
	return n;
}

static void check_parts(struct synth *s, const struct sums *whole, const uint64_t *at, unsigned n,
			uint32_t *seed)
{
	struct sums ranges = {0}, files = {0};

	for (unsigned i = 0; i < n; i++) {
		int fd = memfd_create("part", 0);

		if (at[i] == at[i + 1])
			continue;
		struct sums r = play(synth_source(s), at[i], at[i + 1], rnd(seed) % 2);
		struct sums f = play(cut_of(s, fd, at[i], at[i + 1]), 0, 0, false);
		assert_memory_equal(&r, &f, sizeof(r));
		assert_int_equal(r.of_cells, r.ns);
		add_sums(&ranges, &r);
		add_sums(&files, &f);
		close(fd);
	}
	/* Time on a level is rounded where a part ends, to a nanosecond. */
	assert_in_range(ranges.spent_ns + n, whole->spent_ns, whole->spent_ns + 2 * n);
	ranges.spent_ns = files.spent_ns = whole->spent_ns;
	assert_memory_equal(&ranges, whole, sizeof(ranges));
	assert_memory_equal(&files, whole, sizeof(files));
}

static void parts_add_up(void **state)
{
	uint64_t at[MOST_CUTS + 1], end;

	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		uint32_t seed = run * 2654435761u + 1;
		struct synth *s = make(&seed, &end);
		struct sums whole = play(synth_source(s), 0, 0, false);
		unsigned n = choose(at, end, &seed);

		assert_true(whole.n > 0 && whole.of_types == whole.ns);
		check_parts(s, &whole, at, n, &seed);
		synth_free(s);
	}
}

struct cut_up {
	struct engine_slices slices;
	struct engine *engine;
	uint64_t every_ns, from_ns;
	struct synth *synth;
	struct sums all;
	unsigned n;
};

static uint64_t first_end(struct engine_slices *s, uint64_t begin_ns)
{
	return begin_ns + ((struct cut_up *)s)->every_ns;
}

/* As the range of the same time. */
static int close_slice(struct engine_slices *s, uint64_t time_ns, struct error *err)
{
	struct cut_up *c = (struct cut_up *)s;
	struct sums is = sums_of(c->engine->model);
	struct sums range = play(synth_source(c->synth), c->from_ns, s->next_ns, false);

	(void)time_ns;
	(void)err;
	assert_in_range(is.spent_ns + 1, range.spent_ns, range.spent_ns + 2);
	range.spent_ns = is.spent_ns;
	assert_memory_equal(&is, &range, sizeof(is));
	add_sums(&c->all, &is);
	c->n++;
	c->from_ns = s->next_ns;
	s->next_ns += c->every_ns;
	return 0;
}

/* Each slice has the sums of its own time, and all of them those of the whole. */
static void check_slices(struct synth *s, const struct sums *whole, uint64_t every, bool ahead)
{
	struct cut_up c = {.slices = {.close = close_slice, .first = first_end},
			   .every_ns = every,
			   .from_ns = BEGIN,
			   .synth = s};
	struct error err = {0};
	struct engine e;
	int r = 0;

	assert_int_equal(engine_init(&e, synth_source(s), NULL, &err), 0);
	c.engine = &e;
	e.slices = &c.slices;
	assert_int_equal(engine_slices_sums(&e), 0);
	if (ahead)
		assert_int_equal(engine_read_ahead(&e), 0);
	while (r != ENGINE_END) {
		r = engine_pump(&e, 0, &err);
		assert_true(r >= 0);
	}
	struct sums last = sums_of(e.model);
	add_sums(&c.all, &last);
	assert_true(c.n > 2);
	assert_in_range(c.all.spent_ns + c.n, whole->spent_ns, whole->spent_ns + 2 * c.n);
	c.all.spent_ns = whole->spent_ns;
	assert_memory_equal(&c.all, whole, sizeof(*whole));
	engine_deinit(&e);
}

static void slices_have_their_shares(void **state)
{
	uint64_t end;

	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		uint32_t seed = run * 2654435761u + 7;
		struct synth *s = make(&seed, &end);
		struct sums whole = play(synth_source(s), 0, 0, false);

		check_slices(s, &whole, (50 + rnd(&seed) % 3000) * MS + rnd(&seed) % MS,
			     rnd(&seed) % 2);
		synth_free(s);
	}
}

/* A second of even load: each part has a share of it by its length. */
static void a_part_has_its_share(void **state)
{
	struct body b = {
		.head = {.kind = SNAPSHOT_SHORT, .version = SHORTSNAP_VERSION, .time_ns = BEGIN},
		.shorts = {.level = SHORTSNAP_THRESHOLD, .n_rows = ROWS}};
	const uint64_t begin = BEGIN, quarter = BEGIN + 250 * MS, end = BEGIN + 1000 * MS;
	struct synth *s = synth_new(1);

	(void)state;
	synth_prologue(s, NULL);
	synth_record(s, RECORD_START, 0, &begin, sizeof(begin));
	synth_tick(s, BEGIN);
	synth_record(s, RECORD_SNAPSHOT, 0, &b, sizeof(b));
	for (uint32_t i = 0; i < ROWS; i++) {
		b.rows[i] = (struct shortsnap_row){1, 4000, LCB_F_SPIN, 1, {0x1000 + i}};
		if (i == 0)
			b.rows[i].n = 400, b.rows[i].ns = 400000;
	}
	b.head.time_ns = end;
	synth_tick(s, BEGIN + 600 * MS);
	synth_record(s, RECORD_SNAPSHOT, 0, &b, sizeof(b));
	synth_tick(s, end);
	struct sums first = play(synth_source(s), BEGIN, quarter, false);
	struct sums rest = play(synth_source(s), quarter, end, false);
	/* Of the 39 rows of one wait, nine or ten; the row of 400 has a hundred. */
	assert_in_range(first.n, 100 + 9, 100 + 10);
	assert_int_equal(first.n + rest.n, 439);
	assert_int_equal(first.ns + rest.ns, 400000 + 39 * 4000);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(slices_have_their_shares),
		cmocka_unit_test(a_part_has_its_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
