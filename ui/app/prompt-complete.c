// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completes by Tab in the palette: names of commands while the first word is typed, then values
 * of its argument where they are a closed list (themes, groupings, views). Each list is an
 * enumeration by index over the table that the command itself uses.
 */
#include "prompt-complete.h"
#include "kontend/query-blame.h"

#include "../views/annotate.h"
#include "kontend/query.h"
#include "kontend/view.h"
#include "widgets/theme.h"
#include <stdio.h>
#include <string.h>

static const char *by_value(size_t i)
{
	return i < QUERY_BYS ? query_by_name((enum query_by)i) : NULL;
}

static const char *view_value(size_t i)
{
	return view_roots[i] ? view_roots[i]->name : NULL;
}

static const char *set_value(size_t i)
{
	return i < BLAME_SETS ? query_blame_set_name((enum blame_set)i) : NULL;
}

static const char *delay_value(size_t i)
{
	static const char *const values[] = {"100ms", "500ms", "1s", "2s", "5s", "10s", "60s"};

	return i < sizeof(values) / sizeof(values[0]) ? values[i] : NULL;
}

static const char *unit_value(size_t i)
{
	return annotate_unit_name(i < ANNOTATE_UNITS ? (enum annotate_unit)i : ANNOTATE_UNITS);
}

typedef const char *values_fn(size_t i);

static values_fn *values_of(enum command c)
{
	switch (c) {
	case CMD_BY:
		return by_value;
	case CMD_VIEW:
		return view_value;
	case CMD_SET:
		return set_value;
	case CMD_THEME:
		return theme_name;
	case CMD_DELAY:
		return delay_value;
	case CMD_UNIT:
		return unit_value;
	default:
		return NULL;
	}
}

size_t prompt_matches(enum command_mode mode, const char *line, const struct command_info **ret,
		      size_t max)
{
	size_t n = 0, len;

	line += strspn(line, " ");
	len = strcspn(line, " ");
	for (const struct command_info *i = command_table; i->command && n < max; i++) {
		bool whole = line[len] == ' ';

		if (command_in(i, mode) && !strncmp(i->name, line, len) &&
		    (!whole || i->name[len] == '\0'))
			ret[n++] = i;
	}
	return n;
}

static bool complete_value(enum command_mode mode, const char *line, const char *value, size_t nth,
			   char *out, size_t size)
{
	struct command_arg arg;
	values_fn *values = values_of(command_parse(mode, line, &arg));
	size_t len = strlen(value);

	for (size_t i = 0; values && values(i); i++) {
		if (strncmp(values(i), value, len) != 0 || nth-- > 0)
			continue;
		snprintf(out, size, "%.*s%s", (int)(value - line), line, values(i));
		return true;
	}
	return false;
}

bool prompt_complete(enum command_mode mode, const char *line, size_t nth, char *out, size_t size)
{
	const struct command_info *found[COMMANDS];
	const char *name = line + strspn(line, " ");
	const char *end = name + strcspn(name, " ");
	size_t n;

	if (*end)
		return complete_value(mode, line, end + strspn(end, " "), nth, out, size);
	n = prompt_matches(mode, line, found, COMMANDS);
	if (nth >= n)
		return false;
	snprintf(out, size, "%s%s", found[nth]->name, found[nth]->arg ? " " : "");
	return true;
}
