// SPDX-License-Identifier: GPL-2.0-only
/* Texts about an incident in a file are bounded, terminated and plain, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/incident.h"
#include "kontend/query-incidents.h"
#include "kontend/record.h"
#include "kontend/snapshot.h"
#include "rig.h"
#include <string.h>

static struct incident made(void)
{
	struct incident i = {.fired_ns = 500,
			     .begin_ns = 200,
			     .from_ns = 100,
			     .to_ns = 900,
			     .worst_ns = 300,
			     .expr = "wait>5ms",
			     .fired = "wait 300ns"};

	return i;
}

static void test_whole(void **state)
{
	struct incident i = made(), got;

	(void)state;
	assert_true(incident_decode(&i, sizeof(i), &got));
	assert_memory_equal(&i, &got, sizeof(i));
	assert_true(snapshot_is_lasting(SNAPSHOT_INCIDENT));
}

static void test_too_short(void **state)
{
	struct incident i = made(), got;

	(void)state;
	assert_false(incident_decode(&i, sizeof(i) - 1, &got));
	assert_false(incident_decode(&i, 0, &got));
}

/* Files of kontend 1 have no chain. */
static void test_without_a_chain(void **state)
{
	struct incident i = made(), got;

	(void)state;
	strcpy(i.chain, "x");
	assert_true(incident_decode(&i, offsetof(struct incident, chain), &got));
	assert_string_equal(got.expr, i.expr);
	assert_string_equal(got.chain, "");
}

static void test_text_is_not_trusted(void **state)
{
	struct incident i = made(), got;

	(void)state;
	memset(i.task, 'x', sizeof(i.task));
	strcpy(i.because, "a\033[2J\nb");
	assert_true(incident_decode(&i, sizeof(i), &got));
	assert_int_equal(strlen(got.task), sizeof(got.task) - 1);
	assert_string_equal(got.because, "a?[2J?b");
}

static void test_times_that_cannot_be(void **state)
{
	struct incident i = made(), got;

	(void)state;
	i.begin_ns = 501;
	assert_false(incident_decode(&i, sizeof(i), &got));
	i = made();
	i.to_ns = 99;
	assert_false(incident_decode(&i, sizeof(i), &got));
	i = made();
	i.end_ns = 199;
	assert_false(incident_decode(&i, sizeof(i), &got));
	i = made();
	i.fired_ns = i.begin_ns = 0;
	assert_false(incident_decode(&i, sizeof(i), &got));
}

/* By a query that nothing else was asked of: of one that belongs to nothing, where it is waited. */
static void test_a_lock_is_named_late(void **state)
{
	struct incident in = made();
	struct query q;
	struct rig r;

	(void)state;
	canned_init(&r);
	rig_play(&r, NULL);
	assert_int_equal(query_init(&q, &r.engine), 0);
	query_incident_name(&q, &in);
	assert_string_equal(in.lock_name, "");
	in.lock = CANNED_TASKLIST_LOCK;
	query_incident_name(&q, &in);
	assert_true(*in.lock_name);
	in.lock = CANNED_PIPE_MUTEX;
	query_incident_name(&q, &in);
	assert_true(*in.lock_name);
	assert_true(query_incident_is_named(&r.engine, &in)); /* no snapshots to wait for */
	query_deinit(&q);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_without_a_chain),
		cmocka_unit_test(test_text_is_not_trusted),
		cmocka_unit_test(test_times_that_cannot_be),
		cmocka_unit_test(test_a_lock_is_named_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
