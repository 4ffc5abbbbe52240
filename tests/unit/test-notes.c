// SPDX-License-Identifier: GPL-2.0-only
/* Notes about a recording: equal ones are counted, damage comes first, and the list is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "kontend/notes.h"
#include "kontend/record.h"

#include <stdio.h>
#include <string.h>

/* A note as sources hand it out. */
static void take(struct notes *n, const char *text, enum note_kind kind, uint64_t offset,
		 uint64_t bad)
{
	const struct record_note tail = {.offset = offset, .bad = bad, .kind = kind};
	char buf[NOTE_TEXT + 200 + sizeof(tail)];
	size_t len = strlen(text) + 1;

	memcpy(buf, text, len);
	memcpy(buf + len, &tail, sizeof(tail));
	const struct record r = {.kind = RECORD_NOTE, .data = buf, .len = len + sizeof(tail)};
	assert_int_equal(notes_take(n, &r), 0);
}

static void test_damage_first(void **state)
{
	(void)state;
	struct notes n = {0};

	take(&n, "no names", NOTE_NAMES, NOTE_NOWHERE, 0);
	take(&n, "cut", NOTE_DAMAGE, 4096, 1);
	take(&n, "unknown", NOTE_UNKNOWN, NOTE_NOWHERE, 0);
	take(&n, "broken", NOTE_DAMAGE, 5000, 7);
	assert_int_equal(n.n, 4);
	assert_int_equal(n.n_damage, 2);
	assert_int_equal(n.bad, 8);
	assert_string_equal(n.items[0].text, "cut");
	assert_int_equal(n.items[0].offset, 4096);
	assert_string_equal(n.items[1].text, "broken");
	assert_string_equal(n.items[2].text, "no names");
	assert_string_equal(n.items[3].text, "unknown");
	assert_string_equal(notes_kind(n.items[0].kind), "damage");
	notes_deinit(&n);
}

static void test_equal_are_counted(void **state)
{
	(void)state;
	struct notes n = {0};

	for (unsigned i = 0; i < 1000; i++)
		take(&n, "the same", NOTE_DAMAGE, 100 + i, 2);
	take(&n, "the same", NOTE_OTHER, NOTE_NOWHERE, 0);
	assert_int_equal(n.n, 2);
	assert_int_equal(n.items[0].count, 1000);
	assert_int_equal(n.items[0].offset, 100);
	assert_int_equal(n.bad, 2000);
	assert_int_equal(n.items[1].count, 1);
	notes_deinit(&n);
}

/* Damage pushes out others; what has no room is counted. */
static void test_bounded(void **state)
{
	(void)state;
	struct notes n = {0};
	char text[32];

	for (unsigned i = 0; i < NOTES_MOST + 36; i++) {
		snprintf(text, sizeof(text), "feature %u", i);
		take(&n, text, NOTE_UNKNOWN, NOTE_NOWHERE, 0);
	}
	assert_int_equal(n.n, NOTES_MOST);
	assert_int_equal(n.left_out, 36);
	for (unsigned i = 0; i < NOTES_MOST + 1; i++) {
		snprintf(text, sizeof(text), "damage %u", i);
		take(&n, text, NOTE_DAMAGE, i, 1);
	}
	assert_int_equal(n.n, NOTES_MOST);
	assert_int_equal(n.n_damage, NOTES_MOST);
	assert_int_equal(n.left_out, 36 + NOTES_MOST + 1);
	assert_int_equal(n.bad, NOTES_MOST + 1);
	assert_string_equal(n.items[NOTES_MOST - 1].text, "damage 63");
	notes_deinit(&n);
}

/* Old recordings have the text alone; hostile ones anything. */
static void test_without_kind(void **state)
{
	(void)state;
	const struct record_note odd = {.offset = 1, .kind = 77};
	char longest[2000], text[8 + sizeof(odd)] = "odd";
	struct notes n = {0};

	memset(longest, 'x', sizeof(longest));
	memcpy(text + 4, &odd, sizeof(odd));
	const struct record r[] = {
		{.kind = RECORD_NOTE, .data = "a note", .len = 6},
		{.kind = RECORD_NOTE, .data = longest, .len = sizeof(longest)},
		{.kind = RECORD_NOTE, .data = "a\0b", .len = 3},
		{.kind = RECORD_NOTE, .data = "", .len = 0},
		{.kind = RECORD_NOTE, .data = text, .len = 4 + sizeof(odd)},
	};
	static const size_t lengths[] = {6, NOTE_TEXT - 1, 1, 0, 3};

	for (size_t i = 0; i < sizeof(r) / sizeof(*r); i++) {
		assert_int_equal(notes_take(&n, &r[i]), 0);
		assert_int_equal(n.n, i + 1);
		assert_int_equal(n.items[i].kind, NOTE_OTHER);
		assert_int_equal(strlen(n.items[i].text), lengths[i]);
	}
	assert_true(n.items[0].offset == NOTE_NOWHERE);
	notes_deinit(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage_first),
		cmocka_unit_test(test_equal_are_counted),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_without_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
