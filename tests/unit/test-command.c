// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/command.h"
#include "kontend/display.h"
#include "widgets/theme.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const enum command_mode modes[] = {
	COMMAND_LIVE,
	COMMAND_TRAVEL,
	COMMAND_REPLAY,
	COMMAND_LIVE | COMMAND_CODE,
	COMMAND_TRAVEL | COMMAND_CODE,
	COMMAND_REPLAY | COMMAND_CODE,
};

/* A command may be in the table twice, with other keys, for where the other one is not. */
static void check_names(const struct command_info *a, const struct command_info *b)
{
	assert_int_equal(a->command == b->command, !strcmp(a->name, b->name));
	for (size_t m = 0; a->command == b->command && m < sizeof(modes) / sizeof(*modes); m++)
		assert_false(command_in(a, modes[m]) && command_in(b, modes[m]));
}

static void test_table_is_whole(void **state)
{
	bool seen[COMMANDS] = {false};

	(void)state;
	for (const struct command_info *i = command_table; i->command; i++) {
		assert_in_range(i->command, 1, COMMANDS - 1);
		seen[i->command] = true;
		assert_non_null(i->help);
		assert_null(strchr(i->name, ' '));
		for (const struct command_info *k = command_table; k != i; k++)
			check_names(k, i);
		if (i->bar)
			assert_true(i->keys[0]);
	}
	for (int c = CMD_NONE + 1; c < COMMANDS; c++)
		if (c != CMD_SELECT && c != CMD_CLICK && c != CMD_DCLICK)
			assert_true(seen[c]);
}

/* The same command is in the table again, for @mode. */
static bool is_elsewhere(const struct command_info *i, enum command_mode mode)
{
	for (const struct command_info *k = command_table; k->command; k++)
		if (k != i && k->command == i->command && command_in(k, mode))
			return true;
	return false;
}

/* Some have two meanings: that of the tree, or of the board, comes first. */
static void check_key(const struct command_info *i, enum command_mode mode, uint32_t key)
{
	struct command_arg arg;
	enum command c = command_of_key(mode, key, &arg);

	if (!command_in(i, mode))
		assert_true(c != i->command || is_elsewhere(i, mode));
	else if (key == '+')
		assert_int_equal(c, CMD_EXPAND);
	else if (key == '-')
		assert_int_equal(c, CMD_COLLAPSE);
	else if (key == KEY_K_LEFT)
		assert_int_equal(c, CMD_LEFT);
	else if (key == KEY_K_RIGHT)
		assert_int_equal(c, CMD_RIGHT);
	else
		assert_int_equal(c, i->command);
}

static void test_keys_are_unique(void **state)
{
	struct command_arg arg;

	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++)
		for (const struct command_info *i = command_table; i->command; i++)
			for (size_t k = 0; k < 4 && i->keys[k]; k++)
				check_key(i, modes[m], i->keys[k]);
	assert_int_equal(command_of_key(COMMAND_LIVE, ' ', &arg), CMD_PAUSE);
	assert_int_equal(command_of_key(COMMAND_REPLAY, ' ', &arg), CMD_PLAY);
	assert_int_equal(command_of_key(COMMAND_LIVE, 't', &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_TRAVEL, 't', &arg), CMD_STEP);
	assert_int_equal(command_of_key(COMMAND_TRAVEL, '}', &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_LIVE, 'H', &arg), CMD_SCROLL_LEFT);
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, 'H', &arg), CMD_HOTTEST);
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, 'o', &arg), CMD_BYTES);
	assert_int_equal(command_of_key(COMMAND_LIVE, '/', &arg), CMD_FILTER);
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, '/', &arg), CMD_SEARCH);
	assert_int_equal(command_of_key(COMMAND_REPLAY | COMMAND_CODE, 't', &arg), CMD_UNIT);
	assert_int_equal(command_of_key(COMMAND_REPLAY | COMMAND_CODE, '.', &arg), CMD_STEP);
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, KEY_K_TAB, &arg),
			 CMD_HOT_NEXT);
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, KEY_K_F4, &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_LIVE, '7', &arg), CMD_VIEW);
	assert_int_equal(arg.n, '7');
	assert_int_equal(command_of_key(COMMAND_LIVE, '0', &arg), CMD_VIEW);
	assert_int_equal(arg.n, '0');
	assert_int_equal(command_of_key(COMMAND_LIVE, 'W', &arg), CMD_VIEW);
	assert_int_equal(arg.n, 'W');
	assert_int_equal(command_of_key(COMMAND_LIVE | COMMAND_CODE, 'W', &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_LIVE, 0, &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_LIVE, 0x1f600, &arg), CMD_NONE);
	assert_int_equal(command_of_key(COMMAND_LIVE, KEY_K_LEFT, &arg), CMD_LEFT);
	assert_int_equal(command_of_key(COMMAND_LIVE, KEY_K_ESC, &arg), CMD_BACK);
	assert_int_equal(command_of_key(COMMAND_LIVE, KEY_K_F10, &arg), CMD_QUIT);
}

static void test_key_names_go_both_ways(void **state)
{
	char buf[16];

	(void)state;
	for (const struct command_info *i = command_table; i->command; i++)
		for (size_t k = 0; k < 4 && i->keys[k]; k++)
			assert_int_equal(command_key_parse(command_key_name(i->keys[k], buf)),
					 i->keys[k]);
	assert_string_equal(command_key_name(KEY_K_CTRL | 'l', buf), "^L");
	assert_string_equal(command_key_name(KEY_K_F10, buf), "F10");
	assert_string_equal(command_key_name(0xe9, buf), "é");
	assert_int_equal(command_key_parse("é"), 0xe9);
	assert_int_equal(command_key_parse("NoSuchKey"), 0);
	assert_int_equal(command_key_parse(""), 0);
}

static void test_palette_lines(void **state)
{
	struct command_arg arg;

	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
		for (const struct command_info *i = command_table; i->command; i++) {
			enum command c = command_parse(modes[m], i->name, &arg);

			assert_int_equal(c == i->command,
					 command_in(i, modes[m]) || is_elsewhere(i, modes[m]));
			assert_null(arg.text);
		}
	}
	assert_int_equal(command_parse(COMMAND_LIVE, "sort avg", &arg), CMD_SORT);
	assert_string_equal(arg.text, "avg");
	assert_int_equal(command_parse(COMMAND_LIVE, "  :filter  a b ", &arg), CMD_FILTER);
	assert_string_equal(arg.text, "a b ");
	assert_int_equal(command_parse(COMMAND_LIVE, "qu", &arg), CMD_QUIT);
	assert_int_equal(command_parse(COMMAND_LIVE, "sor", &arg), CMD_NONE); /* three begin so */
	assert_int_equal(command_parse(COMMAND_LIVE, "sortx", &arg), CMD_NONE);
	assert_int_equal(command_parse(COMMAND_LIVE, "", &arg), CMD_NONE);
	assert_int_equal(command_parse(COMMAND_LIVE, " : ", &arg), CMD_NONE);
	assert_int_equal(command_parse(COMMAND_LIVE, "view 3", &arg), CMD_VIEW);
	assert_int_equal(arg.n, '3');
	assert_int_equal(command_parse(COMMAND_LIVE, "view locks", &arg), CMD_VIEW);
	assert_int_equal(arg.n, 0);
}

static void test_themes(void **state)
{
	static const char *const wanted[] = {"default", "light", "cvd", "mono"};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_non_null(theme_find(wanted[i]));
	assert_null(theme_find("no-such-theme"));
	for (size_t i = 0; theme_name(i); i++) {
		const struct theme *t = theme_find(theme_name(i));

		assert_non_null(t);
		/* Without colours the selection and warnings still differ. */
		assert_true(t->styles[ROLE_SELECTED].mono_attrs & THEME_REVERSE);
		assert_true(t->styles[ROLE_WARN].mono_attrs);
		assert_true(t->styles[ROLE_HEAT_HIGH].mono_attrs);
		for (int r = 0; r < ROLES; r++) {
			const struct theme_style style = theme_style(t, r);
			const struct theme_color *const colors[] = {&style.fg, &style.bg};

			for (int k = 0; k < 2; k++) {
				assert_in_range(theme_pick(colors[k], 8) + 1, 0, 8);
				assert_in_range(theme_pick(colors[k], 16) + 1, 0, 16);
				assert_in_range(theme_pick(colors[k], 256) + 1, 0, 256);
			}
		}
	}
	for (int r = 0; r < ROLES; r++) {
		const struct theme_style style = theme_style(theme_find("mono"), r);

		assert_int_equal(theme_pick(&style.fg, 256), -1);
		assert_int_equal(theme_pick(&style.bg, 256), -1);
	}
	assert_true(theme_has_map(theme_find("default")));
	assert_false(theme_has_map(theme_find("mono")));
}

/* Is a word the name of a key that does something somewhere? */
static void check_name(const char *name)
{
	struct command_arg arg;
	bool found = strcmp(name, "0-9") == 0;

	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++)
		found |= command_of_key(modes[m], command_key_parse(name), &arg) != CMD_NONE;
	if (!found)
		fail_msg("there is no key '%s'", name);
}

/* The text before the words of a half that begins at @line; the number of its keys. */
static unsigned check_keys(const char *line)
{
	char keys[16], *save = NULL;
	unsigned n = 0;

	memcpy(keys, line, 13);
	keys[13] = '\0';
	assert_memory_equal(keys + 11, "  ", 2);
	for (char *k = strtok_r(keys, " ", &save); k; k = strtok_r(NULL, " ", &save), n++)
		check_name(k);
	return n;
}

static void test_card(void **state)
{
	char line[COMMAND_CARD_LINE];
	unsigned n = 0, keys = 0;

	(void)state;
	for (; command_card_line(n, line); n++) {
		size_t len = strlen(line);

		assert_in_range(len, 0, 79);
		if (len > 2 && line[0] == ' ' && line[2] != ' ')
			keys += check_keys(line);
		if (len > 40) {
			assert_memory_equal(line + 39, " ", 1);
			if (line[40] == ' ')
				keys += check_keys(line + 40);
		}
	}
	assert_in_range(n, 1, 23);
	assert_in_range(keys, 50, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_card),
		cmocka_unit_test(test_table_is_whole),
		cmocka_unit_test(test_keys_are_unique),
		cmocka_unit_test(test_key_names_go_both_ways),
		cmocka_unit_test(test_palette_lines),
		cmocka_unit_test(test_themes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
