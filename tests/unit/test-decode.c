// SPDX-License-Identifier: GPL-2.0-only
/* Decoding: layouts from any sample_type, and records that are cut, inconsistent or unknown. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/decode.h"
#include "kontend/mem.h"
#include "kontend/sideband.h"
#include "synth.h"

static struct synth *s;
static struct decode d;

static const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010, 0xffffffff81004010};

static int setup(void **state)
{
	(void)state;
	s = synth_new(2);
	synth_prologue(s, NULL);
	synth_releases(s);
	if (decode_init(&d, NULL))
		return -1;
	for (size_t i = 0; i < synth_count(s); i++) {
		struct record *r = synth_at(s, i);
		if (r->kind == RECORD_ATTR && decode_add_attr(&d, r->data, r->len, NULL))
			return -1;
		if (r->kind == RECORD_FORMAT && decode_add_format(&d, r->data, r->len, NULL))
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	decode_deinit(&d);
	synth_free(s);
	return 0;
}

/* The bytes of the record added last. */
static const struct record *run(void)
{
	synth_round(s, 1);
	return synth_at(s, synth_count(s) - 2);
}

static void a_begin_has_all_its_fields(void **state)
{
	struct event ev;
	size_t size;

	(void)state;
	synth_set_cgroup(s, 77);
	synth_begin(s, 1, 12345, 100, 101, 0xffff888000001000, LCB_F_WRITE, chain, 3);
	const struct record *r = run();
	assert_int_equal(decode_event(&d, r->data, r->len, 9, &ev, &size), 0);
	assert_int_equal(size, r->len);
	assert_int_equal(ev.kind, EVENT_CONTENTION_BEGIN);
	assert_int_equal(ev.time, 12345);
	assert_int_equal(ev.cpu, 1);
	assert_int_equal(ev.pid, 100);
	assert_int_equal(ev.tid, 101);
	assert_int_equal(ev.begin.lock, 0xffff888000001000);
	assert_int_equal(ev.begin.flags, LCB_F_WRITE);
	assert_int_equal(ev.begin.n_frames, 3); /* without the context marker */
	assert_memory_equal(ev.begin.frames, chain, sizeof(chain));
	assert_int_equal(ev.cgroup, 77);
}

static void an_end_has_its_result(void **state)
{
	struct event ev;
	size_t size;

	(void)state;
	synth_end(s, 0, 99, 100, 101, 0x1000, -4);
	const struct record *r = run();
	assert_int_equal(decode_event(&d, r->data, r->len, 0, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_CONTENTION_END);
	assert_int_equal(ev.end.ret, -4);
	assert_int_equal(ev.end.lock, 0x1000);
}

static void a_release_has_its_lock(void **state)
{
	struct event ev;
	size_t size;

	(void)state;
	synth_set_cgroup(s, 77);
	synth_release(s, 0, 99, 100, 101, 0xffff888000001000);
	const struct record *r = run();
	assert_int_equal(decode_event(&d, r->data, r->len, 0, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_RELEASE);
	assert_int_equal(ev.release.lock, 0xffff888000001000);
	assert_int_equal(ev.tid, 101);
	assert_int_equal(ev.time, 99);
	assert_int_equal(ev.cgroup, 77);
	assert_int_equal(size, r->len);
}

static void other_records_have_body_and_trailer(void **state)
{
	struct event ev;
	size_t size;

	(void)state;
	synth_comm(s, 1, 5, 100, 101, "a comm");
	synth_fork(s, 1, 6, 200, 201, 100, 101);
	synth_lost(s, 0, 7, 42);
	synth_cgroup(s, 1, 8, 4711, "/user.slice");
	synth_round(s, 1);
	const struct record *r = synth_at(s, synth_count(s) - 2); /* ring 1; ring 0 before it */
	const uint8_t *p = r->data;
	assert_int_equal(decode_event(&d, p, r->len, 1, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_COMM);
	assert_string_equal(ev.comm.name, "a comm");
	assert_int_equal(ev.time, 5);
	p += size;
	assert_int_equal(decode_event(&d, p, r->len, 1, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_FORK);
	assert_int_equal(ev.tid, 201);
	assert_int_equal(ev.fork.ptid, 101);
	p += size;
	assert_int_equal(decode_event(&d, p, r->len, 1, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_CGROUP);
	assert_int_equal(ev.cg.id, 4711);
	assert_string_equal(ev.cg.path, "/user.slice");
	r = synth_at(s, synth_count(s) - 3);
	assert_int_equal(decode_event(&d, r->data, r->len, 0, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_LOST);
	assert_int_equal(ev.lost.n, 42);
	assert_int_equal(ev.time, 7);
}

/* The kernel may leave stale bytes after the sample_id of such a record. */
static void code_of_the_kernel_has_its_name_and_time(void **state)
{
	enum { TRAILER = 32, MORE = 2 };
	struct sideband code = {0};
	struct perf_event_header h;
	uint8_t rec[256] __attribute__((aligned(8)));
	struct event ev;
	size_t size;

	(void)state;
	synth_comm(s, 1, 5, 100, 101, "a comm");
	const struct record *r = run();
	memcpy(&code.id, (const uint8_t *)r->data + r->len - 8, 8);
	assert_int_equal(sideband_ksymbol(&code, 0xffffffffc0001000, 64, true, "bpf_prog_x"), 0);
	memset(rec, 0x41, sizeof(rec));
	memcpy(rec, code.data, code.len);
	const uint64_t time = 77;
	memcpy(rec + code.len - TRAILER + 8, &time, sizeof(time));
	memcpy(&h, rec, sizeof(h));
	for (unsigned more = 0; more <= MORE; more++) {
		h.size = (uint16_t)(code.len + (size_t)more * TRAILER);
		memcpy(rec, &h, sizeof(h));
		assert_int_equal(decode_event(&d, rec, h.size, 1, &ev, &size), 0);
		assert_int_equal(size, h.size);
		assert_int_equal(ev.kind, EVENT_KSYMBOL);
		assert_int_equal(ev.time, time);
		assert_int_equal(ev.ksym.start, 0xffffffffc0001000);
		assert_int_equal(ev.ksym.len, 64);
		assert_true(ev.ksym.is_bpf && !ev.ksym.is_gone);
		assert_string_equal(ev.ksym.name, "bpf_prog_x");
	}
	/* no id at that place: the time is not known, and the record stays where it is */
	memset(rec + code.len - 8, 0x42, 8);
	assert_int_equal(decode_event(&d, rec, h.size, 1, &ev, &size), 0);
	assert_int_equal(ev.time, 0);
	memset(rec + 16, 0, 4); /* length 0 */
	assert_int_equal(decode_event(&d, rec, h.size, 1, &ev, &size), DECODE_BAD);
	rec[22] = 1; /* it is unregistered */
	assert_int_equal(decode_event(&d, rec, h.size, 1, &ev, &size), 0);
	assert_true(ev.ksym.is_gone);
	memset(rec + 24, 0x41, sizeof(rec) - 24); /* a name without an end */
	assert_int_equal(decode_event(&d, rec, h.size, 1, &ev, &size), DECODE_BAD);
	sideband_deinit(&code);
}

/* Every length shorter than the record is refused and nothing beyond it is read (ASan watches). */
static void a_cut_record_is_bad(void **state)
{
	struct event ev;
	size_t size;

	(void)state;
	synth_begin(s, 0, 1, 100, 101, 0x1000, LCB_F_WRITE, chain, 3);
	const struct record *r = run();
	for (size_t len = 0; len < r->len; len++) {
		uint64_t *copy = malloc(len ? len : 1);
		memcpy(copy, r->data, len);
		assert_int_equal(decode_event(&d, copy, len, 0, &ev, &size), DECODE_BAD);
		assert_int_equal(size, 0);
		free(copy);
	}
	/* The same with a header of that length: valid, but too small for the fields. */
	for (uint16_t len = 8; len < r->len; len += 8) {
		uint64_t *copy = malloc(len);
		memcpy(copy, r->data, len);
		((struct perf_event_header *)copy)->size = len;
		int e = decode_event(&d, copy, len, 0, &ev, &size);
		/* The cgroup is the last word and may be missing. */
		if (len < r->len - 8)
			assert_int_not_equal(e, 0);
		free(copy);
	}
}

static void a_chain_of_a_billion_entries_is_bad(void **state)
{
	static const uint64_t lies[] = {1000000000, UINT64_MAX, UINT64_MAX / 8, 5};
	struct event ev;
	size_t size;

	(void)state;
	synth_begin(s, 0, 1, 100, 101, 0x1000, LCB_F_WRITE, chain, 3);
	const struct record *r = run();
	uint64_t *words = (uint64_t *)(uintptr_t)r->data;
	assert_int_equal(words[5], 4);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		words[5] = lies[i];
		assert_int_equal(decode_event(&d, words, r->len, 0, &ev, &size), DECODE_BAD);
		assert_int_equal(size, r->len); /* the next record can be found */
	}
}

static void flipped_bits_never_lead_out_of_the_record(void **state)
{
	struct event ev;
	size_t size;
	uint32_t seed = 1;

	(void)state;
	synth_begin(s, 0, 1, 100, 101, 0x1000, LCB_F_WRITE, chain, 3);
	synth_comm(s, 0, 2, 100, 101, "comm");
	synth_cgroup(s, 0, 3, 1, "/x");
	const struct record *r = run();
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t *copy = malloc(r->len);
		memcpy(copy, r->data, r->len);
		for (unsigned k = 0; k < 3; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % r->len] ^= (uint8_t)(1u << (seed >> 5 & 7));
		}
		size_t at = 0;
		while (at < r->len) {
			int e = decode_event(&d, copy + at, r->len - at, 0, &ev, &size);
			if (!e && ev.kind == EVENT_COMM)
				assert_true(strlen(ev.comm.name) < r->len);
			if (!size)
				break;
			at += size;
		}
		assert_true(at <= r->len);
		free(copy);
	}
}

static void assert_same_event(const struct event *a, const struct event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->cgroup, b->cgroup);
	if (a->kind == EVENT_CONTENTION_END) {
		assert_int_equal(a->end.lock, b->end.lock);
		assert_int_equal(a->end.ret, b->end.ret);
	}
	if (a->kind == EVENT_RELEASE)
		assert_int_equal(a->release.lock, b->release.lock);
	if (a->kind == EVENT_CONTENTION_BEGIN) {
		assert_int_equal(a->begin.lock, b->begin.lock);
		assert_int_equal(a->begin.flags, b->begin.flags);
		assert_ptr_equal(a->begin.frames, b->begin.frames);
		assert_int_equal(a->begin.n_frames, b->begin.n_frames);
	}
}

/* A begin, an end, a release; a begin with user frames, and none at all, of a task without a pid.
 */
static void state_samples(bool with_cgroup)
{
	static const uint64_t user[] = {0xffffffff81020010, PERF_CONTEXT_USER, 0x1234};

	synth_set_cgroup(s, with_cgroup ? 77 : 0);
	synth_begin(s, 0, 1, 100, 101, 0x1000, LCB_F_WRITE, chain, 3);
	synth_end(s, 0, 2, 100, 101, 0x1000, -4);
	synth_release(s, 0, 3, 100, 102, 0x1000);
	synth_begin(s, 0, 3, 100, 101, 0x1000, LCB_F_SPIN, user, 3);
	synth_begin(s, 0, 4, -1, -1, 0x1000, LCB_F_READ, chain, 0);
}

/* Whatever becomes of a sample: the short way through it and the long one find the same. */
static void both_ways_through_a_sample_agree(void **state)
{
	struct decode longer = d;
	struct event a, b;
	size_t size_a, size_b;
	uint32_t seed = 1;
	unsigned n_plain = 0, n_good = 0;

	(void)state;
	longer.attrs = mem_dup(d.attrs, d.n_attrs, sizeof(*d.attrs));
	assert_non_null(longer.attrs);
	for (size_t i = 0; i < d.n_attrs; i++) {
		n_plain += d.attrs[i].is_plain;
		longer.attrs[i].is_plain = false;
	}
	assert_int_equal(n_plain, 3); /* begin, end and release */
	state_samples(true);
	state_samples(false);
	const struct record *r = run();
	uint8_t *copy = malloc(r->len);
	for (unsigned i = 0; i < 50000; i++) {
		memcpy(copy, r->data, r->len);
		for (unsigned k = 0; k < i % 4; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[(seed >> 8) % r->len] ^= (uint8_t)(1u << (seed >> 5 & 7));
		}
		for (size_t at = 0; at < r->len; at += size_a) {
			int e = decode_event(&d, copy + at, r->len - at, 0, &a, &size_a);
			assert_int_equal(
				decode_event(&longer, copy + at, r->len - at, 0, &b, &size_b), e);
			assert_int_equal(size_a, size_b);
			if (!e)
				assert_same_event(&a, &b);
			n_good += !e;
			if (!size_a)
				break;
		}
	}
	assert_true(n_good > 50000);
	free(copy);
	mem_free(longer.attrs);
}

/* Not passed over in silence: its content would be unknown. */
static void a_sample_of_no_known_event_is_bad(void **state)
{
	uint64_t id = 0x1234567890;
	struct event ev;
	size_t size;

	(void)state;
	synth_end(s, 0, 1, 100, 101, 0x1000, 0);
	const struct record *r = run();
	uint8_t *copy = malloc(r->len);
	assert_non_null(copy);
	memcpy(copy, r->data, r->len);
	memcpy(copy + sizeof(struct perf_event_header), &id, sizeof(id));
	assert_int_equal(decode_event(&d, copy, r->len, 0, &ev, &size), DECODE_BAD);
	assert_int_equal(size, r->len);
	assert_int_equal(d.n_bad, 1);
	free(copy);
}

static void unknown_types_are_skipped(void **state)
{
	uint64_t words[4] = {0};
	struct perf_event_header h = {.type = 200, .size = sizeof(words)};
	struct event ev;
	size_t size;

	(void)state;
	memcpy(words, &h, sizeof(h));
	assert_int_equal(decode_event(&d, words, sizeof(words), 0, &ev, &size), DECODE_SKIP);
	assert_int_equal(size, sizeof(words));
	assert_int_equal(d.n_skipped, 1);
}

static void user_frames_are_not_part_of_the_chain(void **state)
{
	const uint64_t mixed[] = {0xffffffff81020010, 0xffffffff81001010, PERF_CONTEXT_USER,
				  0x400000, 0x400100};
	struct event ev;
	size_t size;

	(void)state;
	synth_begin(s, 0, 1, 100, 101, 0x1000, LCB_F_WRITE, mixed, 5);
	const struct record *r = run();
	assert_int_equal(decode_event(&d, r->data, r->len, 0, &ev, &size), 0);
	assert_int_equal(ev.begin.n_frames, 2);
}

/* As `perf lock record` has it: no identifier, IP and PERIOD too, chains on both events. */
static void a_stream_of_perf_is_understood(void **state)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = 64,
		.config = 401,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP};
	uint8_t body[64 + 8];
	uint64_t id = 5, w[24] = {0};
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 8 * 19};
	struct decode p;
	struct event ev;
	size_t size;

	(void)state;
	memcpy(body, &a, 64);
	memcpy(body + 64, &id, 8);
	assert_int_equal(decode_init(&p, NULL), 0);
	assert_int_equal(decode_add_attr(&p, body, sizeof(body), NULL), 0);
	for (size_t i = 0; i < synth_count(s); i++)
		if (synth_at(s, i)->kind == RECORD_FORMAT)
			assert_int_equal(decode_add_format(&p, synth_at(s, i)->data,
							   synth_at(s, i)->len, NULL),
					 0);
	memcpy(w, &h, 8);
	w[1] = 0xffffffff81020010;			      /* IP */
	w[2] = 100 | 101ull << 32;			      /* TID */
	w[3] = 4242;					      /* TIME */
	w[4] = 5;					      /* ID */
	w[5] = 3;					      /* CPU */
	w[6] = 1;					      /* PERIOD */
	w[7] = 2, w[8] = 10, w[9] = 5, w[10] = 11, w[11] = 6; /* READ: 2 x (value, id) */
	w[12] = 3, w[13] = PERF_CONTEXT_KERNEL, w[14] = chain[0], w[15] = chain[1];
	uint32_t raw_size = 20, flags = LCB_F_READ;
	uint64_t lock = 0xffff888000002000;
	memcpy((uint8_t *)&w[16], &raw_size, 4);
	memcpy((uint8_t *)&w[16] + 4 + 8, &lock, 8);
	memcpy((uint8_t *)&w[16] + 4 + 16, &flags, 4);
	assert_int_equal(decode_event(&p, w, h.size, 0, &ev, &size), 0);
	assert_int_equal(ev.time, 4242);
	assert_int_equal(ev.cpu, 3);
	assert_int_equal(ev.tid, 101);
	assert_int_equal(ev.begin.lock, lock);
	assert_int_equal(ev.begin.flags, LCB_F_READ);
	assert_int_equal(ev.begin.n_frames, 2);
	decode_deinit(&p);
}

static void attrs_and_formats_that_lie_are_refused(void **state)
{
	uint8_t body[200] = {0};
	uint32_t size;
	struct error err = {0};
	struct decode p;

	(void)state;
	assert_int_equal(decode_init(&p, NULL), 0);
	assert_int_equal(decode_add_attr(&p, body, 63, &err), -EINVAL);
	assert_non_null(strstr(err.text, "63 bytes"));
	for (size = 0; size < 64; size += 8) {
		memcpy(body + 4, &size, 4);
		assert_int_equal(decode_add_attr(&p, body, sizeof(body), NULL), -EINVAL);
	}
	size = 208;
	memcpy(body + 4, &size, 4);
	assert_int_equal(decode_add_attr(&p, body, sizeof(body), NULL), -EINVAL);
	assert_int_equal(p.n_attrs, 0);
	assert_int_equal(decode_add_format(&p, "lock", 4, NULL), -EINVAL);
	assert_int_equal(decode_add_format(&p, "", 0, NULL), -EINVAL);
	static const char no_fields[] = "lock\0name: contention_begin\nID: 401\nformat:\n"
					"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
					"print fmt: \"x\"\n";
	err = (struct error){0};
	assert_int_equal(decode_add_format(&p, no_fields, sizeof(no_fields) - 1, &err), -EINVAL);
	assert_non_null(strstr(err.text, "lock_addr"));
	decode_deinit(&p);
}

static void lack_of_memory_is_reported(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (long k = 0; k < 12; k++) {
		struct decode p;
		mem_fail_after(k);
		int r = decode_init(&p, NULL);
		for (size_t i = 0; !r && i < synth_count(s); i++) {
			struct record *rec = synth_at(s, i);
			if (rec->kind == RECORD_ATTR)
				r = decode_add_attr(&p, rec->data, rec->len, NULL);
			if (rec->kind == RECORD_FORMAT)
				r = decode_add_format(&p, rec->data, rec->len, NULL);
		}
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		failed += r != 0;
		decode_deinit(&p);
	}
	assert_true(failed >= 4);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_begin_has_all_its_fields),
		T(an_end_has_its_result),
		T(a_release_has_its_lock),
		T(other_records_have_body_and_trailer),
		T(code_of_the_kernel_has_its_name_and_time),
		T(a_cut_record_is_bad),
		T(a_chain_of_a_billion_entries_is_bad),
		T(flipped_bits_never_lead_out_of_the_record),
		T(both_ways_through_a_sample_agree),
		T(a_sample_of_no_known_event_is_bad),
		T(unknown_types_are_skipped),
		T(user_frames_are_not_part_of_the_chain),
		T(a_stream_of_perf_is_understood),
		T(attrs_and_formats_that_lie_are_refused),
		T(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
