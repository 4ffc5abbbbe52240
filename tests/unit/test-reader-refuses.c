// SPDX-License-Identifier: GPL-2.0-only
/*
 * Valid recordings by perf that lack something to compute waits: refused with a message, since
 * their figures would be of waits that never were; or without any waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/perfdata.h"
#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct recording made(void)
{
	struct recording rec;
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, 2, 4);
	rec = recording_perf(r.synth, 0);
	rig_deinit(&r);
	return rec;
}

/* Its event @k gets the attribute that @change makes of it. */
static void change_attr(struct recording *rec, void (*change)(struct perf_event_attr *a),
			uint64_t k)
{
	struct perf_event_attr attr = {0};
	struct perfdata_header h;

	memcpy(&h, rec->data, sizeof(h));
	uint8_t *at = rec->data + h.attrs.offset + k * h.attr_size;
	size_t size = h.attr_size - sizeof(struct perfdata_section);
	size = size < sizeof(attr) ? size : sizeof(attr);
	memcpy(&attr, at, size);
	change(&attr);
	memcpy(at, &attr, size);
}

/* The refusal when its event @k has the attribute that @change makes of it. */
static void expect_refused(void (*change)(struct perf_event_attr *a), uint64_t k, const char *why)
{
	struct recording rec = made();
	struct recording_result res;

	change_attr(&rec, change, k);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, -ENOTSUP);
	assert_non_null(strstr(res.err.text, why));
	recording_result_free(&res);
	recording_free(&rec);
}

static void turn_back(struct perf_event_attr *a)
{
	a->write_backward = 1;
}

static void only_count(struct perf_event_attr *a)
{
	a->sample_period = 0;
	a->read_format |= PERF_FORMAT_GROUP;
}

static void the_latest_records_first(void **state)
{
	(void)state;
	expect_refused(turn_back, 0, "perf record --overwrite");
}

static void begins_without_ends(void **state)
{
	(void)state;
	expect_refused(only_count, 0, "lock:contention_begin was counted");
	expect_refused(only_count, 1, "lock:contention_end was counted");
}

static void leave_out_ends(struct perf_event_attr *a)
{
	a->config = 9999;
}

/* The number of begun waits is known: none lasts for ever, and none has a length. */
static void no_ends_at_all(void **state)
{
	struct recording rec = made();
	struct recording_result whole, res;
	char want[128];

	(void)state;
	recording_read_bytes(&whole, rec.data, rec.len);
	change_attr(&rec, leave_out_ends, 1);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_true(res.events && res.events == whole.events / 2);
	snprintf(want, sizeof(want),
		 "comm\nblamed 0 not followed 0\nevents %llu waiting 0 unmatched %llu/0 lost 0 "
		 "doubtful 0\n",
		 (unsigned long long)res.events, (unsigned long long)res.events);
	assert_non_null(strstr(res.dump, want));
	recording_result_free(&whole);
	recording_result_free(&res);
	recording_free(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_records_first),
		cmocka_unit_test(begins_without_ends),
		cmocka_unit_test(no_ends_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
