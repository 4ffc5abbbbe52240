// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ids of events that were opened again, in records: replaced in id fields and nowhere else; a
 * record that is cut ends this without a byte touched after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/ring.h"
#include <linux/perf_event.h>

static const uint64_t from[] = {71, 72, 73}, to[] = {11, 12, 13};

static uint64_t head(uint32_t type, uint16_t size)
{
	const struct perf_event_header h = {.type = type, .size = size};
	uint64_t v;

	memcpy(&v, &h, sizeof(v));
	return v;
}

static void ids_are_replaced_where_they_stand(void **state)
{
	/* 72 after the head of a sample is its id; anywhere else it is a figure. */
	uint64_t sample[] = {head(PERF_RECORD_SAMPLE, 32), 72, 72, 71};
	uint64_t comm[] = {head(PERF_RECORD_COMM, 32), 73, 72, 73};
	uint64_t lost[] = {head(PERF_RECORD_LOST, 40), 71, 5, 73, 73};
	uint64_t other[] = {head(PERF_RECORD_SAMPLE, 24), 99, 71};
	uint64_t all[16];

	(void)state;
	memcpy(all, sample, sizeof(sample));
	memcpy(all + 4, comm, sizeof(comm));
	memcpy(all + 8, lost, sizeof(lost));
	memcpy(all + 13, other, sizeof(other));
	ring_replace_ids(all, sizeof(all), from, to, 3);
	sample[1] = 12;
	comm[3] = 13;
	lost[1] = 11;
	lost[4] = 13;
	assert_memory_equal(all, sample, sizeof(sample));
	assert_memory_equal(all + 4, comm, sizeof(comm));
	assert_memory_equal(all + 8, lost, sizeof(lost));
	assert_memory_equal(all + 13, other, sizeof(other));
}

static void cut_records_end_it(void **state)
{
	(void)state;
	for (uint16_t size = 0; size < 64; size++) {
		uint64_t all[] = {head(PERF_RECORD_SAMPLE, 16), 71, head(PERF_RECORD_COMM, size),
				  72, 73};
		ring_replace_ids(all, sizeof(all), from, to, 3);
		assert_int_equal(all[1], 11);
		assert_int_equal(all[3], size == 16 ? 12 : 72);
		assert_int_equal(all[4], size == 24 ? 13 : 73);
	}
	for (size_t len = 0; len <= 16; len++) {
		uint64_t one[] = {head(PERF_RECORD_SAMPLE, 16), 71};
		ring_replace_ids(one, len, from, to, 3);
		assert_int_equal(one[1], len == 16 ? 11 : 71);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_replaced_where_they_stand),
		cmocka_unit_test(cut_records_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
