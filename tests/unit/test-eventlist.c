// SPDX-License-Identifier: GPL-2.0-only
/* Names of recorded events, and the patterns that choose some of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/eventlist.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static void add(struct eventlist *l, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof(attr),
				       .config = config,
				       .sample_freq = 99,
				       .freq = 1,
				       .sample_type = PERF_SAMPLE_IP};

	assert_int_equal(eventlist_add(l, &attr, sizeof(attr)), 0);
}

static void take_format(struct eventlist *l, const char *text, size_t len)
{
	assert_int_equal(eventlist_take_format(l, text, len), 0);
}

/* 1: cycles, 2: instructions, 3: a tracepoint, 4: output of BPF programs. */
static void fill(struct eventlist *l)
{
	static const char format[] = "sched\0name: sched_switch\nID: 316\n";

	*l = (struct eventlist){0};
	add(l, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	add(l, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	add(l, PERF_TYPE_TRACEPOINT, 316);
	add(l, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	take_format(l, format, sizeof(format) - 1);
}

static void patterns_choose_events(void **state)
{
	struct eventlist l;
	struct error err = {0};

	(void)state;
	fill(&l);
	assert_int_equal(eventlist_match(&l, "cycles"), 1);
	assert_int_equal(eventlist_match(&l, "2"), 2);
	assert_int_equal(eventlist_match(&l, "sched:*"), 4);
	assert_int_equal(eventlist_match(&l, "cycles,3,,"), 5);
	assert_int_equal(eventlist_match(&l, "all"), 7);
	assert_int_equal(eventlist_match(&l, "4"), 0);
	assert_int_equal(eventlist_match(&l, ""), 0);
	assert_int_equal(eventlist_match(&l, "0"), 0);
	assert_int_equal(eventlist_check(&l, NULL, &err), 0);
	assert_int_equal(eventlist_check(&l, "1", &err), 0);
	assert_int_equal(eventlist_check(&l, "branches", &err), -EINVAL);
	assert_string_equal(err.text, "No event of the recording is 'branches': it has cycles, "
				      "instructions, sched:sched_switch");
	eventlist_deinit(&l);
}

/* Formats come before the events in some streams, and after them in others. */
static void tracepoints_have_names(void **state)
{
	static const char used[] = "lock\0name: contention_begin\nID: 7\n";
	static const char strange[] = "lock\0ID: 8\n";
	struct eventlist l = {0};

	(void)state;
	take_format(&l, used, sizeof(used) - 1);
	take_format(&l, strange, sizeof(strange) - 1);
	take_format(&l, "lock", 4);
	add(&l, PERF_TYPE_TRACEPOINT, 7);
	add(&l, PERF_TYPE_TRACEPOINT, 8);
	assert_string_equal(l.events[0].name, "lock:contention_begin");
	assert_true(l.events[0].is_used);
	assert_string_equal(l.events[1].name, "tracepoint:8");
	assert_false(l.events[1].is_used);
	eventlist_deinit(&l);
}

/* Names of all events with an attribute: each event's own comes first, that of a format last. */
static void kinds_have_names(void **state)
{
	struct eventlist l;
	struct eventsnap s = {0};
	struct eventsnap_kind kinds[] = {
		{.config = 316, .type = PERF_TYPE_TRACEPOINT},
		{.config = PERF_COUNT_HW_INSTRUCTIONS, .type = PERF_TYPE_HARDWARE}};
	const struct eventsnap_event own = {.index = 1, .name = eventsnap_add_text(&s, "inst")};
	uint64_t bytes[64];

	(void)state;
	kinds[0].name = eventsnap_add_text(&s, "sched:switch");
	kinds[1].name = eventsnap_add_text(&s, "unused");
	assert_int_equal(eventsnap_add_event(&s, &own), 0);
	assert_int_equal(eventsnap_add_kind(&s, &kinds[0]), 0);
	assert_int_equal(eventsnap_add_kind(&s, &kinds[1]), 0);
	assert_true(eventsnap_size(&s) <= sizeof(bytes));
	eventsnap_encode(&s, bytes);
	fill(&l);
	assert_int_equal(eventlist_take_names(&l, bytes, eventsnap_size(&s)), 0);
	assert_string_equal(l.events[0].name, "cycles");
	assert_string_equal(l.events[1].name, "inst");
	assert_string_equal(l.events[2].name, "sched:switch");
	/* A reference to a text that is not there, and more kinds than a file may have. */
	s.kinds[0].name = 1000;
	eventsnap_encode(&s, bytes);
	assert_int_equal(eventsnap_decode(&l.names, bytes, eventsnap_size(&s)), -EBADMSG);
	s.kinds[0].name = 0;
	while (s.n_kinds <= EVENTSNAP_KINDS)
		assert_int_equal(eventsnap_add_kind(&s, &kinds[1]), 0);
	size_t len = eventsnap_size(&s);
	void *many = test_malloc(len);
	eventsnap_encode(&s, many);
	assert_int_equal(eventsnap_decode(&l.names, many, len), -EBADMSG);
	test_free(many);
	eventsnap_deinit(&s);
	eventlist_deinit(&l);
}

/* The upper half of the number is the PMU. */
static void one_event_of_two_pmus(void **state)
{
	struct eventlist l = {0};

	(void)state;
	add(&l, PERF_TYPE_HARDWARE, 10ull << 32 | PERF_COUNT_HW_CPU_CYCLES);
	add(&l, PERF_TYPE_HARDWARE, 4ull << 32 | PERF_COUNT_HW_CPU_CYCLES);
	add(&l, PERF_TYPE_HARDWARE, 4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(eventlist_same(&l, 0), 3);
	assert_int_equal(eventlist_same(&l, 1), 3);
	assert_int_equal(eventlist_same(&l, 2), 4);
	assert_int_equal(eventlist_match(&l, "cycles"), 3);
	eventlist_deinit(&l);
}

static void more_events_than_numbers(void **state)
{
	struct eventlist l = {0};

	(void)state;
	for (unsigned i = 0; i < EVENTLIST_MOST; i++)
		add(&l, PERF_TYPE_RAW, i + 1);
	assert_string_equal(l.events[EVENTLIST_MOST - 1].name, "r40");
	add(&l, PERF_TYPE_RAW, 1000);
	add(&l, PERF_TYPE_RAW, 1001);
	assert_int_equal(l.n, EVENTLIST_MOST);
	assert_string_equal(l.events[0].name, "r1");
	assert_string_equal(l.events[EVENTLIST_MOST - 1].name, "others");
	assert_int_equal(eventlist_number(EVENTLIST_MOST + 1), EVENTLIST_MOST - 1);
	eventlist_deinit(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_choose_events),
		cmocka_unit_test(tracepoints_have_names),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(one_event_of_two_pmus),
		cmocka_unit_test(more_events_than_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
