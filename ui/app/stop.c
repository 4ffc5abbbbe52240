// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops at the next wait that the user asked for: at each tick the tasks that wait, and the waits
 * that have ended since the last one, are asked for by a filter of the table of waiters. The first
 * that passes it freezes the screen, as Space does, with the cursor on it.
 */
#include "kontend/query-wait.h"
#include "kontend/units.h"
#include "priv.h"

#include <stdio.h>
#include <string.h>

/* A column is called by its key or its title; "wait>5ms" is what users write. */
static void name_columns(char *dst, size_t size, const char *text)
{
	size_t n = 0;

	for (const char *at = text; *at && n + sizeof("since") < size; at++) {
		bool begins = at == text || strchr(" !(|", at[-1]);

		if (begins && strncmp(at, "wait", 4) == 0 && (at[4] == '>' || at[4] == '<')) {
			memcpy(dst + n, "since", 5);
			n += 5;
			at += 3;
		} else {
			dst[n++] = *at;
		}
	}
	dst[n] = '\0';
}

static void set_message(struct app *a, const char *text)
{
	struct error err = {0};
	char filter[PROMPT_TEXT];

	name_columns(filter, sizeof(filter), text);
	if (query_filter_check(filter, &query_waiters_kind, &err) < 0) {
		app_say(a, ROLE_ERROR, "stop-on: %s", err.text);
		return;
	}
	snprintf(a->stop.filter, sizeof(a->stop.filter), "%s", filter);
	snprintf(a->stop.text, sizeof(a->stop.text), "%s", text);
	a->stop.since_ns = a->engine->model->now_ns;
	app_say(a, ROLE_NORMAL, "stops at the next wait with %s; :stop-on off forgets it", text);
}

void app_stop_on(struct app *a, const char *text)
{
	if (text && strcmp(text, "off") != 0) {
		set_message(a, text);
		return;
	}
	if (!text && !*a->stop.filter)
		app_say(a, ROLE_ERROR,
			"stop-on wants a filter of waiters, as in: stop-on "
			"wait>100ms type:rwsem");
	else if (!text)
		app_say(a, ROLE_NORMAL, "stops at the next wait with %s", a->stop.text);
	else
		app_say(a, ROLE_NORMAL, "stops at no wait");
	if (text)
		*a->stop.filter = '\0';
}

static const struct value *value(const struct table *t, size_t row, const char *key)
{
	return table_cell(t, row, key);
}

/* The longest in flight, or ended since @since_ns; SIZE_MAX: there is none. */
static size_t find_fired(struct app *a, uint64_t since_ns, struct table *t)
{
	const struct query_spec spec = {.sort = "since_ns", .filter = a->stop.filter};
	uint64_t now = a->engine->model->now_ns;

	query_begin(&a->query);
	if (query_wait_rows(&a->query, &spec, NULL, t, NULL) < 0)
		return SIZE_MAX;
	for (size_t i = 0; i < t->n_rows; i++) {
		if (value(t, i, "doubtful")->u)
			continue;
		if (!value(t, i, "ended")->u || now - value(t, i, "ended_ns")->u > since_ns)
			return i;
	}
	return SIZE_MAX;
}

static void freeze(struct app *a)
{
	if (a->time.playing)
		app_command(a, CMD_PLAY, &(struct command_arg){0});
	else if (!a->time.line && !a->paused)
		app_history_pause(a);
}

void app_stop_tick(struct app *a)
{
	uint64_t since_ns = a->stop.since_ns;
	char buf[UNITS_BUF], said[sizeof(a->message)];
	struct table t;

	a->stop.since_ns = a->engine->model->now_ns;
	if (!*a->stop.filter || since_ns >= a->stop.since_ns)
		return;
	size_t row = find_fired(a, since_ns, &t);
	if (row == SIZE_MAX)
		return;
	const struct value *name = value(&t, row, "name"), *task = value(&t, row, "task");
	uint64_t id = t.ids[row];
	snprintf(said, sizeof(said), "stopped: %s %s %s for %s; Space goes on",
		 task->known ? task->s : "a task",
		 value(&t, row, "ended")->u ? "has waited" : "waits",
		 units_ns(buf, value(&t, row, "since_ns")->u), name->known ? name->s : "a lock");
	freeze(a);
	app_command(a, CMD_VIEW, &(struct command_arg){.text = "waiters"});
	app_command(a, CMD_SELECT, &(struct command_arg){.id = id});
	app_say(a, ROLE_BOLD, "%s", said);
}
