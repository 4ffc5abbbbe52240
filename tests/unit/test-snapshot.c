// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots: each acts at its own time, wherever it is in the stream; a recording reproduces them;
 * one that is not whole is counted and nothing else is changed by it. test-timeline.c and
 * test-history.c, whose random streams have snapshots, go back in time with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cut.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/snapshot.h"
#include "random.h"
#include "recording.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS 1000000ull

static int put_part(struct snapshot_set *set, uint16_t kind, uint8_t byte, size_t len)
{
	uint8_t *body = calloc(1, sizeof(struct record_snapshot) + len);
	struct record_snapshot head = {.kind = kind, .version = 1, .time_ns = byte};

	assert_non_null(body);
	memset(body + sizeof(head), byte, len);
	memcpy(body, &head, sizeof(head));
	int e = snapshot_set_put(set, body, sizeof(head) + len);
	free(body);
	return e;
}

static void test_set(void **state)
{
	struct snapshot_set a = {0}, b;
	long live = mem_live();

	(void)state;
	assert_int_equal(put_part(&a, 1, 'x', 10), 0);
	assert_int_equal(put_part(&a, 2, 'y', 0), 0);
	snapshot_set_copy(&b, &a);
	assert_int_equal(put_part(&a, 1, 'z', 20), 0);
	assert_int_equal(snapshot_set_get(&a, 1)->bytes[19], 'z');
	assert_int_equal(snapshot_set_get(&b, 1)->bytes[9], 'x');
	assert_int_equal(snapshot_set_get(&b, 1)->len, 10);
	assert_null(snapshot_set_get(&a, 3));
	assert_int_equal(a.bytes, 20);
	assert_int_equal(snapshot_set_put(&a, "short", 5), -EINVAL);
	assert_int_equal(put_part(&a, 1, 'w', RECORD_SNAPSHOT_MOST + 1), -EINVAL);
	mem_fail_after(0);
	assert_int_equal(put_part(&a, 1, 'w', 5), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(snapshot_set_get(&a, 1)->bytes[0], 'z');
	for (uint16_t k = 0; k < SNAPSHOT_SET_KINDS - 2; k++)
		assert_int_equal(put_part(&a, (uint16_t)(100 + k), 'k', 1), 0);
	assert_int_equal(put_part(&a, 3, 'k', 1), -ENOSPC);
	for (uint16_t k = 0; k < SNAPSHOT_SET_BYTES / RECORD_SNAPSHOT_MOST - 1; k++)
		assert_int_equal(put_part(&a, (uint16_t)(100 + k), 'k', RECORD_SNAPSHOT_MOST), 0);
	assert_int_equal(put_part(&a, 110, 'k', RECORD_SNAPSHOT_MOST), -ENOSPC);
	snapshot_set_deinit(&a);
	snapshot_set_deinit(&b);
	assert_int_equal(mem_live(), live);
}

/* How many snapshots of slots had acted when each event did. */
struct seen {
	struct engine_watch watch;
	const struct model *model;
	uint64_t n[16];
	unsigned events;
};

static int see_event(struct engine_watch *w, const struct event *ev, struct error *err)
{
	struct seen *s = (struct seen *)w;

	(void)ev;
	(void)err;
	s->n[s->events++] = s->model->n_snapshots[SNAPSHOT_PERF];
	return 0;
}

/* Events of one CPU at 1, 2 and 3 ms, of another one at 2 ms, and snapshots around them. */
static void test_acts_at_its_time(void **state)
{
	static const uint64_t expected[] = {1, 1, 1, 3};
	struct seen seen = {.watch.event = see_event};
	struct engine e;
	struct rig r;

	(void)state;
	rig_init(&r, 2);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 1, 2 * MS + 1, 10);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 1, 0, 10);
	synth_begin(r.synth, 0, 1 * MS, 1, 1, 0x1000, LCB_F_MUTEX, NULL, 0);
	synth_end(r.synth, 0, 2 * MS, 1, 1, 0x1000, 0);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 1, 2 * MS, 10);
	synth_begin(r.synth, 0, 3 * MS, 1, 1, 0x1000, LCB_F_MUTEX, NULL, 0);
	synth_begin(r.synth, 1, 2 * MS, 2, 2, 0x1000, LCB_F_MUTEX, NULL, 0);
	synth_round(r.synth, 3 * MS);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 1, 9 * MS, 10);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 2, 3 * MS, 10);
	synth_snapshot(r.synth, 77, 1, 3 * MS, 10);
	synth_record(r.synth, RECORD_SNAPSHOT, 0, "?", 1);
	synth_tick(r.synth, 4 * MS);
	assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, NULL), 0);
	e.watch = &seen.watch;
	seen.model = e.model;
	while (engine_pump(&e, 0, NULL) != ENGINE_TICK)
		;
	assert_int_equal(seen.events, 4);
	assert_memory_equal(seen.n, expected, sizeof(expected));
	assert_int_equal(e.model->n_snapshots[SNAPSHOT_PERF], 3);
	assert_int_equal(e.model->damage->snapshot_unknown, 2);
	assert_int_equal(e.model->damage->snapshot_lost, 1);
	while (engine_pump(&e, 0, NULL) != ENGINE_END)
		;
	assert_int_equal(e.model->n_snapshots[SNAPSHOT_PERF], 4);
	assert_int_equal(snapshot_set_get(e.model->snapshots, SNAPSHOT_PERF)->head.time_ns, 9 * MS);
	engine_deinit(&e);
	rig_deinit(&r);
}

/* Times that are never reached hold no more than a bounded part. */
static void test_far_times(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 1);
	for (unsigned i = 0; i < 300; i++)
		synth_snapshot(r.synth, SNAPSHOT_PERF, 1, UINT64_MAX - i, 10);
	for (unsigned i = 0; i < 10; i++)
		synth_snapshot(r.synth, SNAPSHOT_UPROBES, 1, 50 * MS, RECORD_SNAPSHOT_MOST);
	synth_tick(r.synth, 4 * MS);
	rig_play_ticks(&r, NULL, 1);
	assert_int_equal(r.engine.model->n_snapshots[SNAPSHOT_PERF], 0);
	assert_true(r.engine.held.bytes <= 32 << 20);
	assert_int_equal(r.engine.held.n + r.engine.model->damage->snapshot_lost, 310);
	rig_deinit(&r);
}

enum { LEN = 150000, CHUNKS = 3 };

static struct synth *stream(void)
{
	struct synth *s = synth_new(2);

	synth_prologue(s, synth_kallsyms);
	synth_snapshot(s, SNAPSHOT_PERF, 1, 1010 * MS, LEN);
	synth_snapshot(s, SNAPSHOT_UPROBES, 1, 1020 * MS, 100);
	synth_snapshot(s, SNAPSHOT_PERF, 1, 1030 * MS, 500);
	recording_waits(s, 2, 20);
	synth_tick(s, 1100 * MS);
	return s;
}

static char *state_of(struct source *s, uint64_t *ret_notes)
{
	struct engine e;

	assert_int_equal(engine_init(&e, s, NULL, NULL), 0);
	int r;
	do
		r = engine_pump(&e, 0, NULL);
	while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, ENGINE_END);
	char *state = random_state(e.model);
	if (ret_notes)
		*ret_notes = e.notes.n;
	engine_deinit(&e);
	return state;
}

static struct source *open_bytes(const void *data, size_t len, int *ret_fd)
{
	struct reader_options o = {.no_symbols = true, .window_bytes = 4096};
	struct source *s;
	char path[64];
	int fd = memfd_create("recording", 0);

	assert_true(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	*ret_fd = fd;
	return s;
}

static void test_replay_is_live(void **state)
{
	static const int forms[] = {0, RECORDING_PIPE, RECORDING_ZSTD};
	struct random_plan plan = {.events = 20000, .locks = 50, .seed = 3};
	struct rig r;

	(void)state;
	random_stream(&r, &plan);
	synth_snapshot(r.synth, SNAPSHOT_PERF, 1, 70 * MS, 3000000);
	synth_tick(r.synth, 500 * MS);
	char *direct = state_of(synth_source(r.synth), NULL);
	assert_non_null(strstr(direct, "last 70000000"));
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct recording rec = recording_written(synth_source(r.synth), forms[i]);
		int fd;
		char *back = state_of(open_bytes(rec.data, rec.len, &fd), NULL);
		assert_string_equal(back, direct);
		mem_free(back);
		close(fd);
		recording_free(&rec);
	}
	mem_free(direct);
	rig_deinit(&r);
}

/* The samples of ours of one kind, from the start of the data on. */
static size_t find_own(const struct recording *rec, uint16_t kind, size_t from, size_t *ret_size)
{
	struct perf_event_header h;

	for (size_t at = from; at + sizeof(h) <= rec->len; at += h.size) {
		struct perfdata_ext own = {0};
		memcpy(&h, rec->data + at, sizeof(h));
		assert_true(h.size >= sizeof(h));
		if (at + 52 + sizeof(own) <= rec->len)
			memcpy(&own, rec->data + at + 52, sizeof(own));
		*ret_size = h.size;
		if (h.type == PERF_RECORD_SAMPLE && own.magic == PERFDATA_EXT_MAGIC &&
		    own.kind == kind)
			return at;
		if (h.type == PERFDATA_TYPE_TRACING_DATA) {
			uint32_t behind;
			memcpy(&behind, rec->data + at + 8, sizeof(behind));
			at += behind;
		}
	}
	fail_msg("no sample of kind %u", kind);
	return 0;
}

struct counts {
	unsigned whole, lost, other;
	uint64_t notes, bad;
};

static struct counts count(const void *data, size_t len)
{
	struct counts c = {0};
	struct record_snapshot head;
	struct reader_stat stat;
	struct record r;
	int fd;
	struct source *s = open_bytes(data, len, &fd);

	while (!source_next(s, 0, &r, NULL)) {
		c.notes += r.kind == RECORD_NOTE;
		c.other += r.kind == RECORD_TICK;
		if (r.kind == RECORD_SNAPSHOT) {
			assert_true(snapshot_parse(r.data, r.len, &head));
			/* The one of the machine is made of the file's header. */
			bool lost = head.flags & RECORD_SNAPSHOT_LOST;
			c.lost += lost;
			c.whole += !lost && head.kind != SNAPSHOT_MACHINE;
			assert_true(lost || r.len > sizeof(head));
		}
		source_release(s, &r);
	}
	reader_stat(s, &stat);
	c.bad = stat.bad_records;
	source_free(s);
	close(fd);
	return c;
}

/* Each subset of the chunks missing: the others change nothing else. */
static void test_missing_chunks(void **state)
{
	struct synth *s = stream();
	struct recording rec = recording_written(synth_source(s), RECORDING_PIPE);
	size_t at[CHUNKS], size[CHUNKS], from = PERFDATA_PIPE_HEADER;

	(void)state;
	for (unsigned i = 0; i < CHUNKS; i++) {
		at[i] = find_own(&rec, RECORD_SNAPSHOT, from, &size[i]);
		from = at[i] + size[i];
	}
	for (unsigned gone = 0; gone < 1 << CHUNKS; gone++) {
		uint8_t *cut = malloc(rec.len);
		size_t len = 0, done = 0;
		assert_non_null(cut);
		for (unsigned i = 0; i < CHUNKS; i++) {
			size_t end = gone >> i & 1 ? at[i] : at[i] + size[i];
			memcpy(cut + len, rec.data + done, end - done);
			len += end - done;
			done = at[i] + size[i];
		}
		memcpy(cut + len, rec.data + done, rec.len - done);
		struct counts c = count(cut, len + rec.len - done);
		bool some = gone && gone != (1 << CHUNKS) - 1;
		assert_int_equal(c.whole, gone ? 2 : 3);
		assert_int_equal(c.lost, some);
		assert_int_equal(c.bad, some);
		assert_int_equal(c.notes, some);
		assert_int_equal(c.other, 2);
		free(cut);
	}
	recording_free(&rec);
	synth_free(s);
}

/* Cut anywhere within it: what came before is there, and the cut one is counted once at most. */
static void test_cut_within(void **state)
{
	struct synth *s = stream();
	struct recording rec = recording_written(synth_source(s), RECORDING_PIPE);
	size_t size, first = find_own(&rec, RECORD_SNAPSHOT, PERFDATA_PIPE_HEADER, &size);
	size_t second = first + size, len = first;

	(void)state;
	while (len < first + LEN + 1000) {
		struct counts c = count(rec.data, len);
		bool near = len < first + 130 || (len > second - 10 && len < second + 130) ||
			    len > first + LEN;
		assert_int_equal(c.whole, len >= first + LEN + CHUNKS * 84 + 24 ? c.whole : 0);
		assert_in_range(c.whole + c.lost, len >= second, 3);
		assert_true(c.lost <= 1);
		assert_int_equal(c.lost, c.bad);
		assert_true(c.notes > 0 || !c.lost);
		len += near ? 1 : 977;
	}
	recording_free(&rec);
	synth_free(s);
}

static void cut_to(struct synth *s, int fd, uint64_t from, uint64_t to)
{
	struct writer_options o = {.fd = fd, .clock_id = 1};
	struct source *source = synth_source(s);
	struct writer *w;

	assert_int_equal(writer_new(&w, &o, NULL), 0);
	assert_int_equal(
		cut_range(source, w, &(struct cut_part){.from_ns = from, .to_ns = to}, NULL), 0);
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	source_free(source);
}

/* The last snapshot before the range is there from its begin on, with its own time. */
static void test_cut_carries(void **state)
{
	struct synth *s = stream();
	int fd = memfd_create("cut", 0);
	struct reader_options o = {.no_symbols = true};
	struct source *source;
	struct engine e;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	cut_to(s, fd, 1015 * MS, 1025 * MS);
	assert_int_equal(reader_new(&source, &o, NULL), 0);
	assert_int_equal(engine_init(&e, source, NULL, NULL), 0);
	while (engine_pump(&e, 0, NULL) != ENGINE_END)
		;
	const struct snapshot *slots = snapshot_set_get(e.model->snapshots, SNAPSHOT_PERF);
	assert_int_equal(e.model->n_snapshots[SNAPSHOT_PERF], 1);
	assert_int_equal(slots->head.time_ns, 1010 * MS);
	assert_int_equal(slots->len, LEN);
	assert_int_equal(e.model->n_snapshots[SNAPSHOT_UPROBES], 1);
	assert_in_range(e.model->start_ns, 1014 * MS, 1016 * MS);
	engine_deinit(&e);
	close(fd);
	synth_free(s);
}

static int read_failing(const struct recording *rec)
{
	struct engine e;
	int fd, r;
	struct source *s = open_bytes(rec->data, rec->len, &fd);

	r = engine_init(&e, s, NULL, NULL);
	if (r)
		source_free(s);
	while (!r || r == ENGINE_TICK)
		r = engine_pump(&e, 0, NULL);
	if (r != -ENOMEM || e.source)
		engine_deinit(&e);
	close(fd);
	return r;
}

static void test_no_memory(void **state)
{
	struct synth *s = stream();
	struct recording rec = recording_written(synth_source(s), 0);
	long live = mem_live(), before;
	int fd;

	(void)state;
	mem_fail_after(-1);
	source_free(open_bytes(rec.data, rec.len, &fd));
	close(fd);
	before = mem_count();
	for (long n = 0;; n++) {
		/* Opening succeeds in any case; it is test-reader.c's. */
		mem_fail_after(before + n);
		int r = read_failing(&rec);
		mem_fail_after(-1);
		assert_int_equal(mem_live(), live);
		if (r == ENGINE_END && n > 200)
			break;
		assert_true(n < 10000);
	}
	recording_free(&rec);
	synth_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_acts_at_its_time),
		cmocka_unit_test(test_far_times),
		cmocka_unit_test(test_replay_is_live),
		cmocka_unit_test(test_missing_chunks),
		cmocka_unit_test(test_cut_within),
		cmocka_unit_test(test_cut_carries),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
