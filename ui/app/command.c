// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks things up in the table of commands: the command of a key, of a palette line, and the name
 * of a key as help shows it. A palette line is a command's name or an unambiguous beginning of one,
 * a blank, and the rest of the line as its argument.
 */
#include "kontend/command.h"

#include "kontend/display.h"
#include "kontend/text.h"
#include <stdio.h>
#include <string.h>

bool command_in(const struct command_info *info, enum command_mode mode)
{
	unsigned times = info->modes & COMMAND_TIMES;

	if (info->modes & (mode & COMMAND_CODE ? COMMAND_ROWS : COMMAND_CODE))
		return false;
	return !times || times & (unsigned)mode;
}

bool command_is_view_key(uint32_t key)
{
	if (key >= '0' && key <= '9')
		return true;
	for (const char *k = command_view_letters; *k; k++)
		if (key == (unsigned char)*k)
			return true;
	return false;
}

enum command command_of_key(enum command_mode mode, uint32_t key, struct command_arg *ret_arg)
{
	*ret_arg = (struct command_arg){0};
	if (command_is_view_key(key) && (!(mode & COMMAND_CODE) || key <= '9')) {
		ret_arg->n = (int)key;
		return CMD_VIEW;
	}
	for (const struct command_info *i = command_table; key && i->command; i++)
		for (size_t k = 0; k < 4 && i->keys[k]; k++)
			if (i->keys[k] == key && command_in(i, mode))
				return i->command;
	return CMD_NONE;
}

/* A whole name wins over the beginnings of others; two beginnings are ambiguous. */
static const struct command_info *find_command(enum command_mode mode, const char *name, size_t len)
{
	const struct command_info *found = NULL;
	unsigned matches = 0;

	for (const struct command_info *i = command_table; len && i->command; i++) {
		if (!command_in(i, mode) || strncmp(i->name, name, len) != 0)
			continue;
		if (i->name[len] == '\0')
			return i;
		found = i;
		matches++;
	}
	return matches == 1 ? found : NULL;
}

enum command command_parse(enum command_mode mode, const char *line, struct command_arg *ret_arg)
{
	const struct command_info *info;
	size_t len;

	*ret_arg = (struct command_arg){0};
	line += strspn(line, " :");
	len = strcspn(line, " ");
	info = find_command(mode, line, len);
	if (!info)
		return CMD_NONE;
	line += len;
	line += strspn(line, " ");
	if (*line)
		ret_arg->text = line;
	if (info->command == CMD_VIEW && command_is_view_key((unsigned char)*line) && !line[1])
		ret_arg->n = *line;
	return info->command;
}

static const struct {
	uint32_t key;
	const char *name;
} key_names[] = {
	{' ', "Space"},
	{KEY_K_UP, "Up"},
	{KEY_K_DOWN, "Down"},
	{KEY_K_LEFT, "Left"},
	{KEY_K_RIGHT, "Right"},
	{KEY_K_SLEFT, "S-Left"},
	{KEY_K_SRIGHT, "S-Right"},
	{KEY_K_PGUP, "PgUp"},
	{KEY_K_PGDN, "PgDn"},
	{KEY_K_HOME, "Home"},
	{KEY_K_END, "End"},
	{KEY_K_ENTER, "Enter"},
	{KEY_K_ESC, "Esc"},
	{KEY_K_TAB, "Tab"},
	{KEY_K_BTAB, "S-Tab"},
	{KEY_K_BACKSPACE, "Backspace"},
	{KEY_K_DEL, "Del"},
	{KEY_K_RESIZE, "Resize"},
	{KEY_K_CLICK, "Click"},
	{KEY_K_DCLICK, "DoubleClick"},
	{KEY_K_WHEEL_UP, "WheelUp"},
	{KEY_K_WHEEL_DOWN, "WheelDown"},
};

const char *command_key_name(uint32_t key, char buf[16])
{
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++) {
		if (key_names[i].key == key) {
			snprintf(buf, 16, "%s", key_names[i].name);
			return buf;
		}
	}
	if (key >= KEY_K_F1 && key <= KEY_K_F10)
		snprintf(buf, 16, "F%u", (unsigned)(key - KEY_K_F1 + 1));
	else if (key > KEY_K_CTRL && key < KEY_K_CTRL + 0x80)
		snprintf(buf, 16, "^%c", (char)((key & 0x7f) - 'a' + 'A'));
	else if (key < KEY_FIRST)
		buf[text_encode(buf, key)] = '\0';
	else
		snprintf(buf, 16, "?");
	return buf;
}

uint32_t command_key_parse(const char *name)
{
	char buf[16];
	uint32_t ch;
	size_t n = text_decode(name, &ch);

	if (n > 0 && name[n] == '\0')
		return ch;
	if (name[0] == '^' && name[1] >= 'A' && name[1] <= 'Z' && !name[2])
		return KEY_K_CTRL | (uint32_t)(name[1] - 'A' + 'a');
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++)
		if (!strcmp(key_names[i].name, name))
			return key_names[i].key;
	for (uint32_t key = KEY_K_F1; key <= KEY_K_F10; key++)
		if (!strcmp(command_key_name(key, buf), name))
			return key;
	return 0;
}
