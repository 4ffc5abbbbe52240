// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings whose header has another time than their samples, as in headers that other programs
 * have copied: the samples decide how long it was measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording.h"
#include "rig.h"

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

		recording_tell_span(&rec, spans[i][0], spans[i][1]);
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
