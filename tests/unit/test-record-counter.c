// SPDX-License-Identifier: GPL-2.0-only
/* Counting what goes by: each kind of loss once, and no step out of a damaged run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/holdrec.h"
#include "kontend/record-direct.h"
#include "kontend/waitrec.h"
#include <linux/perf_event.h>
#include <string.h>

struct run {
	uint64_t words[64];
	size_t n;
};

static void add_record(struct run *r, uint32_t type, const uint64_t *body, size_t n)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)(8 + 8 * n)};

	memcpy(&r->words[r->n++], &h, sizeof(h));
	memcpy(&r->words[r->n], body, 8 * n);
	r->n += n;
}

static struct record perf_run(const struct run *r, size_t len)
{
	return (struct record){.kind = RECORD_PERF, .data = r->words, .len = len};
}

static void test_counts(void **state)
{
	const uint64_t lost[4] = {99, 7}, lost_samples[3] = {5}, sample[6] = {0};
	struct record_drop drop = {.records = 11, .bytes = 4096};
	struct record other = {.kind = RECORD_DROP, .data = &drop, .len = sizeof(drop)};
	struct record_tally t = {0};
	struct run r = {.n = 0};

	(void)state;
	add_record(&r, PERF_RECORD_SAMPLE, sample, 6);
	add_record(&r, PERF_RECORD_LOST, lost, 4);
	add_record(&r, PERF_RECORD_SAMPLE, sample, 2);
	add_record(&r, PERF_RECORD_COMM, sample, 5);
	add_record(&r, PERF_RECORD_LOST_SAMPLES, lost_samples, 3);
	add_record(&r, PERF_RECORD_SAMPLE, sample, 1);
	struct record whole = perf_run(&r, r.n * 8);
	record_tally_add(&t, &whole);
	record_tally_add(&t, &other);
	other.kind = RECORD_FILL;
	record_tally_add(&t, &other);
	assert_int_equal(t.samples, 3);
	assert_int_equal(t.lost, 12);
	assert_int_equal(t.dropped, 11);
}

/* Where BPF reports waits, records of holders are in the same rings. */
static void test_counts_waits(void **state)
{
	static const uint32_t magics[] = {WAITREC_BEGIN_MAGIC, WAITREC_LATE_MAGIC,
					  WAITREC_END_MAGIC, HOLDREC_MAGIC, WAITREC_WAKE_MAGIC};
	struct record_tally t = {.is_fed = true};
	struct run r = {.n = 0};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		const uint64_t sample[7] = {9, 0, 0, 0, (uint64_t)magics[i] << 32 | 24};
		add_record(&r, PERF_RECORD_SAMPLE, sample, 7);
	}
	add_record(&r, PERF_RECORD_SAMPLE, r.words, 2); /* too short to say */
	struct record whole = perf_run(&r, r.n * 8);
	record_tally_add(&t, &whole);
	assert_int_equal(t.samples, 3);
	t = (struct record_tally){0};
	record_tally_add(&t, &whole);
	assert_int_equal(t.samples, 6);
}

static void test_damage(void **state)
{
	const uint64_t sample[6] = {0}, lost[2] = {99, 7};
	struct record_tally t = {0};
	struct run r = {.n = 0};

	(void)state;
	add_record(&r, PERF_RECORD_SAMPLE, sample, 6);
	add_record(&r, PERF_RECORD_LOST, lost, 2);
	/* Cut anywhere: the loss is counted only when its number is there. */
	for (size_t len = 0; len < r.n * 8; len++) {
		struct record cut = perf_run(&r, len);
		record_tally_add(&t, &cut);
	}
	assert_int_equal(t.lost, 0);
	assert_int_equal(t.samples, 24);
	/* A size of 0 would go nowhere. */
	((struct perf_event_header *)r.words)->size = 0;
	struct record stuck = perf_run(&r, r.n * 8);
	record_tally_add(&t, &stuck);
	assert_int_equal(t.samples, 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_counts_waits),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
