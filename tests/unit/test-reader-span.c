// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings whose header tells of another time than that of their samples, as headers do that
 * other programs have copied: the samples say how long it was measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "recording.h"
#include "rig.h"
#include <string.h>

enum { ROUNDS = 5, WAITS = 12 };

static struct recording made(void)
{
	struct recording rec;
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, ROUNDS, WAITS);
	rec = recording_perf(r.synth, 0);
	rig_deinit(&r);
	return rec;
}

/* A header that tells of this time, in place of the last of its features. */
static void tell_span(struct recording *rec, uint64_t from, uint64_t to)
{
	enum { DATA_AT = 40, FEATURES_AT = 72, OTHER = 10, THIRD = 2 * 16 };
	uint64_t data[2], features, section[2] = {rec->len, 16}, span[2] = {from, to};

	memcpy(data, rec->data + DATA_AT, sizeof(data));
	memcpy(&features, rec->data + FEATURES_AT, sizeof(features));
	features = (features & ~(1ull << OTHER)) | 1ull << PERFDATA_SAMPLE_TIME;
	memcpy(rec->data + FEATURES_AT, &features, sizeof(features));
	memcpy(rec->data + data[0] + data[1] + THIRD, section, sizeof(section));
	rec->data = mem_resize(rec->data, rec->len + sizeof(span), 1);
	assert_non_null(rec->data);
	memcpy(rec->data + rec->len, span, sizeof(span));
	rec->len += sizeof(span);
}

/* How long was measured is what the samples say, wherever the header has its time from. */
static void test_header_of_another_time(void **state)
{
	static const uint64_t s = 1000000000, spans[][2] = {
						      {0, 0},
						      {s, 2 * s},
						      {5000 * s, 5001 * s},
						      {1, 2},
						      {1, UINT64_MAX},
						      {UINT64_MAX / 2, UINT64_MAX},
						      {9, 3},
						      {UINT64_MAX, UINT64_MAX},
					      };
	const uint64_t truth = (ROUNDS * WAITS - 1) * 1000000ull + 100 + WAITS - 1;

	(void)state;
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		struct recording rec = made();
		struct recording_result res;

		tell_span(&rec, spans[i][0], spans[i][1]);
		recording_read_bytes(&res, rec.data, rec.len);
		if (res.answer)
			fail_msg("%zu: %s", i, res.err.text);
		assert_int_equal(res.events, 2 * ROUNDS * WAITS);
		if (spans[i][1] != UINT64_MAX || spans[i][0] != 1)
			assert_int_equal(res.elapsed_ns, truth);
		else
			assert_int_equal(res.elapsed_ns, s + truth - 1);
		recording_result_free(&res);
		recording_free(&rec);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_of_another_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
