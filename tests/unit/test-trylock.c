// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that only try to get a lock are hot and yet in no figure of waits: which they are, and
 * that reports of the profile say so where one is shown, and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "json.h"
#include "kontend/sym.h"
#include "synth-profile.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)

static const char kallsyms[] = "ffffffff81001000 t down_read_trylock\n"
			       "ffffffff81002000 t exc_page_fault\n"
			       "ffffffff81003000 t handle_mm_fault\n"
			       "ffffffff81004000 T _etext\n";

static void names_are_known(void **state)
{
	static const char *const good[] = {
		"down_read_trylock",	"down_write_trylock",
		"mutex_trylock",	"mutex_trylock_nest_lock",
		"queued_spin_trylock",	"_raw_spin_trylock",
		"_raw_spin_trylock_bh", "__down_read_trylock.isra.0",
		"rt_mutex_trylock",	"percpu_down_read_trylock",
		"down_trylock",
	};
	static const char *const bad[] = {
		"",
		"_",
		"down_read",
		"mutex_lock",
		"trylock",
		"trylock_page",
		"down_read_trylocks",
		"folio_trylock",
		"spin_trylo",
		"rwsem_optimistic_spin",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!sym_is_trylock(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (sym_is_trylock(bad[i]))
			fail_msg("%s", bad[i]);
}

static void sample(struct asked *w, uint32_t n, uint64_t ip)
{
	for (uint32_t i = 0; i < n; i++)
		synth_sample(w->rig.synth, 0, START + 10 * MS + i, 50, 50, MS,
			     (struct synth_chain){.kernel = &ip, .n_kernel = 1});
}

static void play(struct asked *w, uint32_t trylock)
{
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, kallsyms);
	synth_profile(w->rig.synth);
	synth_comm(w->rig.synth, 0, START, 50, 50, "app");
	sample(w, trylock, 0xffffffff81001014);
	sample(w, 10, 0xffffffff81002010);
	synth_tick(w->rig.synth, START + 100 * MS);
	asked_play(w, NULL);
}

static void reports_say_it(void **state)
{
	const struct report_spec s = {.views = REPORT_HOT};
	struct asked *w = *state;

	play(w, 30);
	char *text = asked_report(&w->q, &s);
	const char *hint = strstr(text, "# down_read_trylock: a trylock spins in cmpxchg and "
					"does not wait: the kernel reports no wait\n");
	assert_non_null(hint);
	assert_null(strstr(hint + 30, "a trylock: it spins"));
	free(text);
	const struct report_spec json = {.views = REPORT_HOT, .format = REPORT_JSON};
	struct json_doc d;
	text = asked_report(&w->q, &json);
	assert_int_equal(json_parse(&d, text, strlen(text), NULL), 0);
	const struct json *rows = json_path(json_root(&d), "views.hot.rows");
	assert_int_equal(json_len(rows), 2);
	assert_string_equal(json_text(json_get(json_at(rows, 0), "symbol")), "down_read_trylock");
	assert_string_equal(json_text(json_get(json_at(rows, 0), "note")), sym_trylock_note);
	assert_true(json_is(json_get(json_at(rows, 1), "note"), JSON_NULL));
	json_deinit(&d);
	free(text);
}

static void instructions_say_it(void **state)
{
	const struct report_spec s = {.annotate = "down_read_trylock"};
	const struct report_spec other = {.annotate = "exc_page_fault"};
	struct asked *w = *state;

	play(w, 30);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, sym_trylock_note));
	free(text);
	text = asked_report(&w->q, &other);
	assert_null(strstr(text, "trylock"));
	free(text);
}

static void nothing_is_said_where_there_is_none(void **state)
{
	const struct report_spec s = {.views = REPORT_HOT};
	struct asked *w = *state;

	play(w, 0);
	char *text = asked_report(&w->q, &s);
	assert_null(strstr(text, "trylock"));
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known),
		TEST(reports_say_it),
		TEST(instructions_say_it),
		TEST(nothing_is_said_where_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
