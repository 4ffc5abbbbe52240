// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of terminals for where there are none, or none of this one: a root file system with
 * nothing in it, a server that is older than the terminal. Curses takes a compiled one from the
 * variable TERMINFO itself, after "b64:" (terminfo(5)), so that no file is written. The table is
 * made by terminfo.sh of what the building machine has; a terminal without an entry of its own may
 * have that of one which it understands.
 */
#include "kontend/mem.h"
#include "tty.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Longer than what each compiler has to take; ours do. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const struct {
	const char *name, *description;
} known[] = {
#include "terminfo-table.h"
};

bool terminfo_begin(struct terminfo *t, const char *name)
{
	const char *before = getenv("TERMINFO");
	size_t i = 0;

	*t = (struct terminfo){0};
	while (i < sizeof(known) / sizeof(*known) && strcmp(known[i].name, name) != 0)
		i++;
	if (i == sizeof(known) / sizeof(*known))
		return false;
	t->before = before ? mem_strdup(before) : NULL;
	if ((before && !t->before) || setenv("TERMINFO", known[i].description, 1) < 0) {
		mem_free(t->before);
		return false;
	}
	t->is_ours = true;
	return true;
}

void terminfo_end(struct terminfo *t)
{
	if (!t->is_ours)
		return;
	if (t->before)
		setenv("TERMINFO", t->before, 1);
	else
		unsetenv("TERMINFO");
	mem_free(t->before);
	*t = (struct terminfo){0};
}
