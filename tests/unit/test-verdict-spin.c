// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that spin in their program: a finding where samples, the code, and a snapshot say so
 * together, and none where one of them does not. The code is that of this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canary.h"
#include "kontend/query-overview.h"
#include "kontend/query-verdict.h"
#include "lock-snaps.h"
#include "synth-profile.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ull
#define PAD __asm__ volatile(".rept 128; nop; .endr")

enum { SPINNER = CANARY_PID + 1, KEPT = CANARY_PID + 3 };

/* These are looked for by their names. */
void spin_for_lock(volatile int *word);
void update_row(volatile int *word);

__attribute__((noinline, used)) void spin_for_lock(volatile int *word)
{
	while (*word) {
#ifdef __aarch64__
		__asm__ volatile("yield");
#else
		__asm__ volatile("pause");
#endif
	}
	PAD; /* as far from the next function as a loop is long */
}

__attribute__((noinline, used)) void update_row(volatile int *word)
{
	++*word;
	PAD;
}

/* The begin may be far from the loop in code with checks of sanitizers. */
static uint64_t pause_of_spinner(void)
{
#ifdef __aarch64__
	static const uint8_t pause[] = {0x3f, 0x20, 0x03, 0xd5};
#else
	static const uint8_t pause[] = {0xf3, 0x90};
#endif
	const uint8_t *code = (const uint8_t *)(uintptr_t)spin_for_lock;
	size_t at = 0;

	while (at < 1024 && memcmp(code + at, pause, sizeof(pause)))
		at++;
	return (uintptr_t)code + at;
}

/* Facts in the stream; by default all that a finding takes. */
struct facts {
	uint64_t spins_at, kept_at; /* addresses */
	int threads, off_tid;	    /* off_tid 0: no snapshot has seen one */
	int samples;
};

static struct facts all(void)
{
	return (struct facts){.spins_at = pause_of_spinner(),
			      .kept_at = (uintptr_t)update_row + 1,
			      .threads = 2,
			      .off_tid = SPINNER,
			      .samples = 200};
}

static void look(struct synth *y, const struct facts *f, uint64_t t)
{
	struct locksnap s = {0};

	if (f->off_tid) {
		const struct locksnap_preempted p = {.pid = CANARY_PID,
						     .tid = KEPT,
						     .off_tid = f->off_tid,
						     .comm = locksnap_add_text(&s, "worker"),
						     .ip = f->kept_at};
		assert_int_equal(locksnap_add_preempted(&s, &p), 0);
	}
	lock_snap_emit(y, &s, t);
}

static void play(struct asked *w, const struct facts *f)
{
	const uint64_t begin = CANARY_START, end = begin + 1000 * MS;
	struct canary_place h = canary_here();
	struct synth *y;

	rig_init(&w->rig, 1);
	y = w->rig.synth;
	synth_profile(y);
	canary_machine(y);
	synth_mmap(y, 0, begin, CANARY_PID, h.start, h.len, h.pgoff, h.path);
	for (int i = 0; i < f->samples; i++)
		synth_sample(y, 0, begin + (uint64_t)i * MS, CANARY_PID, SPINNER + i % f->threads,
			     MS, (struct synth_chain){.user = &f->spins_at, .n_user = 1});
	look(y, f, begin + 500 * MS);
	synth_tick(y, begin + 500 * MS);
	synth_tick(y, end);
	asked_play(w, NULL);
}

/* NULL: there is none. */
static const struct query_finding *find(struct asked *w, struct query_verdict *v)
{
	struct query_overview now;
	struct query_perf_sum perf = {0};
	struct query_rotation_sum rotation = {0};
	struct query_uprobe_sum uprobe = {0};
	struct verdict_limits limits = verdict_defaults;
	const struct query_verdict_facts facts = {.now = &now,
						  .perf = &perf,
						  .rotation = &rotation,
						  .uprobe = &uprobe,
						  .limits = &limits,
						  .average = true};

	limits.of[VERDICT_SPIN].look = 0.1;
	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &now), 0);
	assert_int_equal(query_verdict(&w->q, &facts, v), 0);
	for (uint32_t i = 0; i < v->n_findings; i++)
		if (v->findings[i].rule == VERDICT_SPIN)
			return &v->findings[i];
	return NULL;
}

static void spinners_and_whom_they_keep_off_are_found(void **state)
{
	struct asked *w = *state;
	const struct facts f = all();
	struct query_verdict v;

	play(w, &f);
	const struct query_finding *found = find(w, &v);
	assert_non_null(found);
	assert_string_equal(found->rule_name, "spin");
	assert_int_equal(found->level, VERDICT_LOOK);
	assert_non_null(strstr(found->text, "spin_for_lock"));
	assert_non_null(strstr(found->text, "in 2 threads of "));
	assert_non_null(strstr(found->because, "evidence: they kept worker/5000003 off"));
	assert_non_null(strstr(found->because, "update_row"));
	assert_non_null(strstr(found->because, ": 100% of 1 look that saw one kept off"));
	assert_non_null(strstr(found->because, "0 of their 200 samples are in system calls"));
}

static void one_fact_less_is_no_finding(struct asked *w, const struct facts *f)
{
	struct query_verdict v;

	play(w, f);
	assert_null(find(w, &v));
}

static void no_snapshot_has_seen_one(void **state)
{
	struct facts f = all();

	f.off_tid = 0;
	one_fact_less_is_no_finding(*state, &f);
}

static void another_thread_had_its_cpu(void **state)
{
	struct facts f = all();

	f.off_tid = CANARY_PID + 9;
	one_fact_less_is_no_finding(*state, &f);
}

static void the_one_kept_off_spins_itself(void **state)
{
	struct facts f = all();

	f.kept_at = f.spins_at;
	one_fact_less_is_no_finding(*state, &f);
}

static void one_thread_is_not_enough(void **state)
{
	struct facts f = all();

	f.threads = 1;
	one_fact_less_is_no_finding(*state, &f);
}

static void code_that_works_does_not_spin(void **state)
{
	struct facts f = all();

	f.spins_at = f.kept_at;
	f.kept_at = (uintptr_t)spin_for_lock;
	one_fact_less_is_no_finding(*state, &f);
}

static void few_samples_say_nothing(void **state)
{
	struct facts f = all();

	f.samples = 10;
	one_fact_less_is_no_finding(*state, &f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(spinners_and_whom_they_keep_off_are_found),
		TEST(no_snapshot_has_seen_one),
		TEST(another_thread_had_its_cpu),
		TEST(the_one_kept_off_spins_itself),
		TEST(one_thread_is_not_enough),
		TEST(code_that_works_does_not_spin),
		TEST(few_samples_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
