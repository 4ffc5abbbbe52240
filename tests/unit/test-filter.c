// SPDX-License-Identifier: GPL-2.0-only
/* The filter language over the canned stream: what each term keeps, and what is refused and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/mem.h"
#include "kontend/query-perf.h"
#include "kontend/query.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of the locks that are left, in the order of the table. */
static void check_by(struct asked *w, enum query_by by, const char *filter, const char *want)
{
	struct query_spec s = {.by = by, .filter = filter, .sort = "total_ns", .average = true};
	char got[256] = "";
	struct table t;
	struct error err = {0};

	query_begin(&w->q);
	if (query_locks(&w->q, &s, &t, &err) < 0)
		fail_msg("%s: %s", filter, err.text);
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct value *v = table_value(&t, i, table_column(&t, "kind"));
		strcat(got, i ? " " : "");
		strcat(got, v->known ? v->s : "-");
	}
	if (strcmp(got, want) != 0)
		fail_msg("filter %s: got '%s', wanted '%s'", filter, got, want);
	assert_int_equal(t.n_match, t.n_rows);
}

static void check(struct asked *w, const char *filter, const char *want)
{
	check_by(w, BY_LOCK, filter, want);
}

static void words_are_sought_in_text(void **state)
{
	struct asked *w = *state;

	check(w, NULL, "rwsem:W rwsem:R mutex spinlock");
	check(w, "", "rwsem:W rwsem:R mutex spinlock");
	check(w, "  ", "rwsem:W rwsem:R mutex spinlock");
	check(w, "rwsem", "rwsem:W rwsem:R");
	check(w, "RWSEM:r", "rwsem:R"); /* no column "RWSEM": a word with a colon */
	check(w, "pipe_read", "mutex");
	check(w, "tasklist", "spinlock");
	check(w, "nothing-like-it", "");
	check(w, "rwsem vm_mmap lock_mm", "rwsem:R"); /* name and caller: all terms must hold */
}

static void keys_restrict_the_column(void **state)
{
	struct asked *w = *state;

	check(w, "type:sem", "rwsem:W rwsem:R");
	check(w, "type=rwsem mode=w", "rwsem:W");
	check(w, "type=sem", "");
	check(w, "caller:vm_mmap", "rwsem:W");
	check(w, "lock=0xffff888076543210", "mutex");
	check(w, "lock=FFFFFFFF82000000", "spinlock");
}

/* There is no such column: it is taken from the type. */
static void a_lock_is_of_a_world(void **state)
{
	struct asked *w = *state;
	struct error err = {0};

	check(w, "world:kernel", "rwsem:W rwsem:R mutex spinlock");
	check(w, "world=Kernel !rwsem", "mutex spinlock");
	check(w, "world:user", "");
	check(w, "world:file | type=mutex", "mutex");
	assert_int_equal(query_filter_check("world:users", &query_locks_kind, &err), -EINVAL);
	assert_non_null(strstr(err.text, "give world:kernel, world:user or world:file"));
	assert_int_equal(query_filter_check("world>user", &query_waiters_kind, &err), -EINVAL);
	assert_int_equal(query_filter_check("world:user", &query_waiters_kind, &err), 0);
	/* The types of slots are no types of locks. */
	assert_int_equal(query_filter_check("world:user", &query_perf_slots_kind, &err), -EINVAL);
}

static void numbers_are_compared_in_units(void **state)
{
	struct asked *w = *state;

	check(w, "max_ns>3ms", "rwsem:W rwsem:R"); /* one of each goes on */
	check(w, "MAX>3ms", "rwsem:W rwsem:R");
	check(w, "max>3ms", "rwsem:W rwsem:R");
	check(w, "max_ns>2.9ms", "rwsem:W rwsem:R");
	check(w, "max_ns<3us", "spinlock");
	check(w, "contended>15", "rwsem:W spinlock");
	check(w, "contended=15", "rwsem:R");
	check(w, "contended<0.03k", "rwsem:R mutex");
	check(w, "wait_ns_per_s>10ms", "rwsem:W rwsem:R");
	check(w, "wait_pct>37.5", "rwsem:W rwsem:R");
	check(w, "wait_pct>61", "rwsem:W");
	check(w, "cont_per_s<1.5", "mutex");
	check(w, "p99_ns>5ms", "rwsem:W rwsem:R");
	check(w, "waiting>0", "rwsem:W rwsem:R");
	check_by(w, BY_TASK, "tid=5216", "rwsem:R");
	check_by(w, BY_TASK, "comm=sh", "mutex");
}

static void a_mark_negates(void **state)
{
	struct asked *w = *state;

	check(w, "!rwsem", "mutex spinlock");
	check(w, "!type=rwsem !tasklist", "mutex");
	check(w, "!max_ns>3ms", "mutex spinlock");
}

static void what_is_unknown_fails_and_passes_negated(void **state)
{
	struct asked *w = *state;

	check_by(w, BY_CPU, "mode=W", "");
	check_by(w, BY_CPU, "!mode=W", "rwsem:W rwsem:R");
	check_by(w, BY_CPU, "lock=0x0", "");
}

static void quotes_keep_blanks(void **state)
{
	struct asked *w = *state;

	check(w, "name:\"pgoff …3456\"", "rwsem:W rwsem:R");
	check(w, "\"pgoff …3456\" mode=R", "rwsem:R");
	check(w, "\"78  (vm\"", "");
	check(w, "\"unclosed quote", "");
	check(w, "\"\"", "rwsem:W rwsem:R mutex spinlock");
}

static void one_of_several_is_enough(void **state)
{
	struct asked *w = *state;

	check(w, "mutex | spinlock", "mutex spinlock");
	check(w, "mutex|spinlock", "mutex spinlock");
	check(w, "mutex or spinlock", "mutex spinlock");
	check(w, "type=rwsem mode=R | mutex", "rwsem:R mutex");
	check(w, "type=rwsem (mode=R | mutex)", "rwsem:R");
	check(w, "(mutex|rwsem) !(mode=R or pipe_read)", "rwsem:W");
	check(w, "!(mutex | spinlock)", "rwsem:W rwsem:R");
	check(w, "!!mutex", "mutex");
	check(w, "((((mutex))))", "mutex");
	check(w, "(mutex) (pipe_read)", "mutex");
	check(w, "\"\" | mutex", "rwsem:W rwsem:R mutex spinlock");
	check(w, "\"or\" nothing", "");
	check(w, "name:\"read …\" or \"|\"", "mutex");
	check(w, "name:\"(pipe\"", "");
}

static void expressions_are_matched(void **state)
{
	struct asked *w = *state;

	check(w, "kind~^rw", "rwsem:W rwsem:R");
	check(w, "kind~:w$", "rwsem:W");
	check(w, "kind~^(mutex|spin)", "mutex spinlock");
	check(w, "(kind~^(mutex|spin))", "mutex spinlock");
	check(w, "kind~^mutex$|k$", "mutex spinlock");
	check(w, "!type~sem caller~[a-z]+_read", "mutex");
	check(w, "caller~\"_mmap(_|$)\"", "rwsem:W");
	check(w, "lock~pipe", "mutex"); /* the text with that title */
	check(w, "lock:pipe", "mutex");
	check(w, "TYPE~rwsem{1}", "rwsem:W rwsem:R");
}

static void refuse(const char *filter, const char *word)
{
	struct error err = {0};
	const struct table_kind *t = &query_locks_kind;

	if (query_filter_check(filter, t, &err) != -EINVAL)
		fail_msg("%s was taken", filter);
	if (!strstr(err.text, word))
		fail_msg("%s: '%s' does not name %s", filter, err.text, word);
	assert_int_equal(query_filter_check(filter, t, NULL), -EINVAL);
}

static void wrong_terms_are_named(void **state)
{
	(void)state;
	refuse("rwsem nope>5", "nope");
	refuse("nope=5", "nope");
	refuse("max_ns>abc", "max_ns>abc");
	refuse("max_ns>=5ms", "duration");
	refuse("contended>many", "number");
	refuse("type>rwsem", "text");
	refuse("lock=xyz", "hexadecimal");
	refuse("lock=0x", "hexadecimal");
	refuse("lock=0x11112222333344445", "hexadecimal");
	refuse("wait_pct>1.2.3", "number");
	refuse("spark>1", "series");
	refuse("!", "!");
	refuse("nope:word", "columns: ");
	refuse("nope~word", "caller");
	refuse("nope=5", "columns: ");
	refuse("kind~(", "kind~(");
	refuse("kind~a{101}", "at most 100");
	refuse("kind~a{9}{9}", "one {}");
	refuse("kind~(a)\\1", "back references");
	refuse("max_ns~5", "duration");
	refuse("(mutex", "')' is missing");
	refuse("mutex |", "term is missing");
	refuse("| mutex", "term is missing");
	refuse("a || b", "term is missing");
	refuse("()", "term is missing");
	refuse("!|a", "!");
	refuse("((((((((((((((((((a))))))))))))))))))", "at most 16");
	refuse("max_ns>", "duration");
}

static void columns_without_flags_are_not_there(void **state)
{
	struct error err = {0};
	(void)state;
	const struct table_kind *t = &query_waiters_kind;

	assert_int_equal(query_filter_check("doubtful=yes since_ns>5ms", t, &err), 0);
	assert_int_equal(query_filter_check("doubtful=maybe", t, NULL), -EINVAL);
	assert_int_equal(query_filter_check("task_id=5", t, NULL), -EINVAL);
}

/* Whatever is typed is taken or refused; what is taken can be matched. */
static void any_text_can_be_typed(void **state)
{
	static const char alphabet[] = "!:=<>~|\" \t0159.kxmsa-_()[]{}*+^$\\";
	static const char *const keys[] = {"max_ns", "type", "lock", "wait_pct", "contended"};
	struct asked *w = *state;
	unsigned x = 1, taken = 0;

	for (unsigned i = 0; i < 20000; i++) {
		char text[32] = "";
		struct table t;
		if (i % 2)
			strcpy(text, keys[i / 2 % 5]);
		for (size_t k = strlen(text), n = k + i % 9; k < n; k++) {
			x = x * 1103515245 + 12345;
			text[k] = alphabet[(x >> 16) % (sizeof(alphabet) - 1)];
			text[k + 1] = '\0';
		}
		struct query_spec s = {.filter = text};
		query_begin(&w->q);
		int r = query_locks(&w->q, &s, &t, NULL);
		assert_true(r == 0 || r == -EINVAL);
		taken += r == 0;
	}
	assert_true(taken > 1000 && taken < 19000);
}

static void the_locale_changes_nothing(void **state)
{
	struct asked *w = *state;

	setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
	check(w, "wait_pct>37.5", "rwsem:W rwsem:R");
	setlocale(LC_ALL, "C");
}

static void memory_may_run_out(void **state)
{
	struct asked *w = *state;
	struct query_spec s = {.by = BY_LOCK, .filter = "rwsem max_ns>5ms", .ended = true};
	struct table t;
	int r = -ENOMEM;

	for (long n = 0; r != 0; n++) {
		struct error err = {0};
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		mem_fail_after(n);
		r = query_locks(&w->q, &s, &t, &err);
		mem_fail_after(-1);
		assert_true(r == 0 || (r == -ENOMEM && err.text[0]));
		assert_true(n < 1000);
	}
	assert_int_equal(t.n_rows, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words_are_sought_in_text, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(keys_restrict_the_column, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_lock_is_of_a_world, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(numbers_are_compared_in_units, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(one_of_several_is_enough, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(expressions_are_matched, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_mark_negates, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(what_is_unknown_fails_and_passes_negated,
						asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(quotes_keep_blanks, asked_setup, asked_teardown),
		cmocka_unit_test(wrong_terms_are_named),
		cmocka_unit_test(columns_without_flags_are_not_there),
		cmocka_unit_test_setup_teardown(any_text_can_be_typed, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(the_locale_changes_nothing, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(memory_may_run_out, asked_setup, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
