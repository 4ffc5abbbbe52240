// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits that a user has selected in a heat map. The views about waits have these alone until
 * Esc; the others say that they have all.
 */
#include "kontend/units.h"
#include "priv.h"

#include <stdio.h>

const struct heat_part *app_part(const struct app *a)
{
	return &a->part;
}

const char *app_part_text(const struct app *a, char buf[APP_PART_TEXT])
{
	const struct heat_part *p = &a->part;
	char lower[UNITS_BUF], upper[UNITS_BUF], from[WHEN_BUF], length[UNITS_BUF];

	units_ns(lower, p->lower_ns);
	units_ns(upper, p->upper_ns);
	snprintf(buf, APP_PART_TEXT, "%s%s%s, %s for %s", lower,
		 p->upper_ns ? " to " : " and longer", p->upper_ns ? upper : "",
		 app_elapsed(a, p->from_ns, from), units_ns(length, p->to_ns - p->from_ns));
	return buf;
}

bool app_part_clear(struct app *a)
{
	bool any = heat_part_any(&a->part);

	a->part = (struct heat_part){0};
	return any;
}

void app_select_part(struct app *a, const struct heat_part *p)
{
	char text[APP_PART_TEXT];

	a->part = *p;
	app_pop(a);
	if (!app_is_about_waits(app_top(a)->view))
		app_command(a, CMD_VIEW, &(struct command_arg){.text = "locks"});
	app_say(a, ROLE_NORMAL, "waits of %s; Esc: all again", app_part_text(a, text));
}
