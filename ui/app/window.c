// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which time the figures of tables, trees and graphs are of: the last second, ten, a minute, or all
 * since counting began. A range that is shown is a window itself. Titles name it.
 */
#include "kontend/units.h"
#include "priv.h"

#include <stdio.h>
#include <string.h>

static const uint64_t second_ns = 1000000000;

static uint64_t length_ns(enum app_window w)
{
	static const uint64_t seconds[APP_WINDOWS] = {
		[APP_WINDOW_1S] = 1, [APP_WINDOW_10S] = 10, [APP_WINDOW_1MIN] = 60};

	return seconds[w] * second_ns;
}

uint64_t app_window_ns(const struct app *a)
{
	return length_ns(a->window);
}

void app_window_apply(struct app *a)
{
	a->query.window_ns = app_shows_range(a) ? 0 : length_ns(a->window);
}

bool app_averages(const struct app *a)
{
	return a->window == APP_WINDOW_ALL || app_shows_range(a);
}

const char *app_window_text(const struct app *a, char buf[APP_WINDOW_TEXT])
{
	if (heat_part_any(&a->query.part)) {
		snprintf(buf, APP_WINDOW_TEXT, "selected");
		return buf;
	}
	if (!app_shows_range(a))
		return query_window_text(&a->query, buf);
	snprintf(buf, APP_WINDOW_TEXT, "range");
	return buf;
}

static void set_window(struct app *a, enum app_window w)
{
	char text[APP_WINDOW_TEXT];

	a->window = w;
	app_window_apply(a);
	if (app_shows_range(a))
		app_say(a, ROLE_DIM, "A range is shown, which figures are of; \\ forgets it");
	else if (w == APP_WINDOW_ALL)
		app_say(a, ROLE_NORMAL, "figures are of all since counting began");
	else
		app_say(a, ROLE_NORMAL, "figures are of the last %s", app_window_text(a, text));
}

/* "10s" or "all"; other lengths are not kept apart. */
static void set_by_text(struct app *a, const char *text)
{
	uint64_t ns = 0;

	if (strcmp(text, "all") != 0 && units_parse_ns(text, &ns) < 0)
		ns = UINT64_MAX;
	for (int w = 0; w < APP_WINDOWS; w++)
		if (length_ns((enum app_window)w) == ns) {
			set_window(a, (enum app_window)w);
			return;
		}
	app_say(a, ROLE_ERROR, "window wants 1s, 10s, 1m or all, as in: window 10s");
}

void app_window_command(struct app *a, const char *text)
{
	if (text)
		set_by_text(a, text);
	else
		set_window(a, (enum app_window)((a->window + 1) % APP_WINDOWS));
}
