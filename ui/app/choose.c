// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that ask what is meant by a list over the view: what rows are by, the column that they
 * are sorted by, its columns, the theme. As with the prompt, the list has all keys until something
 * is taken, and what is taken goes the way of a command that was typed with its argument.
 */
#include "kontend/engine.h"
#include "kontend/query-recorded.h"
#include "kontend/units.h"
#include "kontend/view.h"
#include "priv.h"
#include "widgets/theme.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

struct chooser *app_choose_open(struct app *a, enum choose_kind kind, const char *title)
{
	a->choose.kind = kind;
	chooser_open(&a->choose.list, title, kind == CHOOSE_COLUMNS);
	return &a->choose.list;
}

static struct view_bys bys_of(struct view *v)
{
	struct view_bys bys = {0};

	if (v->ops->choices && v->ops->choices->bys)
		v->ops->choices->bys(v, &bys);
	return bys;
}

void app_choose_groups(struct app *a)
{
	const char *names = "";

	for (size_t i = 0; names && i < a->n_roots; i++)
		if (a->roots[i].view->ops->digit && bys_of(a->roots[i].view).n)
			names = arena_printf(&a->query.arena, "%s %s", names,
					     a->roots[i].view->ops->name);
	app_say(a, ROLE_DIM, "Rows are by one thing here; b groups those of%s",
		names ? names : " others");
}

/* The next one is at hand: Enter takes it. */
static void choose_by(struct app *a)
{
	struct view_bys bys = bys_of(app_keys(a));

	if (!bys.n) {
		app_choose_groups(a);
		return;
	}
	struct chooser *c = app_choose_open(a, CHOOSE_BY, "group by");
	for (size_t i = 0; i < bys.n; i++) {
		struct chooser_entry *e = chooser_add(c, bys.names[i], "");

		if (e)
			e->is_now = i == bys.now;
	}
	c->index = (bys.now + 1) % c->n;
}

const struct table_widget *app_choose_table(struct app *a)
{
	struct view *v = app_keys(a);
	const struct table_widget *w = v->ops->choices ? v->ops->choices->table(v) : NULL;

	if (!w || !w->n_names)
		app_say(a, ROLE_DIM, "There is no table here with columns to choose from");
	return w && w->n_names ? w : NULL;
}

static void choose_sort(struct app *a)
{
	const struct table_widget *w = app_choose_table(a);
	struct table_widget_choice column;

	if (!w)
		return;
	struct chooser *c = app_choose_open(a, CHOOSE_SORT, "sort by");
	for (size_t i = 0; i < w->n_names; i++) {
		if (!table_widget_choice(w, i, &column) || !column.sorts)
			continue;
		struct chooser_entry *e = chooser_add(c, column.title, column.help);
		if (!e)
			return;
		e->id = i;
		e->is_now = column.is_sorted;
		if (column.is_sorted)
			c->index = c->n - 1;
		if (!column.is_shown)
			snprintf(e->state, sizeof(e->state), "not shown");
	}
}

static void set_theme(struct app *a, const char *name)
{
	const struct display_ops *ops = a->display->ops;

	if (!ops->theme || ops->theme(a->display, name) == 0)
		snprintf(a->theme, sizeof(a->theme), "%s", name);
	else
		app_say(a, ROLE_ERROR,
			"No theme is called '%s': there are default, light, cvd and mono", name);
}

static void choose_theme(struct app *a)
{
	struct chooser *c = app_choose_open(a, CHOOSE_THEME, "theme");

	for (size_t i = 0; theme_name(i); i++) {
		struct chooser_entry *e = chooser_add(c, theme_name(i), theme_help(i));

		if (e && strcmp(theme_name(i), a->theme) == 0) {
			e->is_now = true;
			c->index = i;
		}
	}
}

static void set_events(struct app *a, const char *text)
{
	uint64_t events = eventlist_match(&a->query.engine->events, text);

	if (strcmp(text, "default") == 0)
		a->query.events = 0;
	else if (events)
		a->query.events = events;
	else
		app_say(a, ROLE_ERROR, "No recorded event is '%s': V lists them", text);
}

/* Each event with its samples, and all of them. */
static void choose_events(struct app *a)
{
	struct query_recorded r;
	char buf[UNITS_BUF];

	if (query_recorded(&a->query, &r) < 0 || !r.n) {
		app_say(a, ROLE_DIM, "No events are recorded");
		return;
	}
	struct chooser *c = app_choose_open(a, CHOOSE_EVENTS, "event of the profile");
	chooser_add(c, "default", "cycles or clock, the event with the most samples");
	for (size_t i = 0; i < r.n; i++) {
		const struct query_recorded_event *e = &r.events[i];
		char help[UNITS_BUF + 16];
		snprintf(help, sizeof(help), "%s samples", units_count(buf, e->samples));
		struct chooser_entry *to = e->is_used ? NULL : chooser_add(c, e->name, help);
		if (!to)
			continue;
		to->id = e->number;
		to->is_now = e->is_shown;
		if (e->is_shown)
			c->index = c->n - 1;
		snprintf(to->state, sizeof(to->state), "-e %u", e->number);
	}
	chooser_add(c, "all", "samples of all events in one profile");
}

static void take_event(struct app *a, const struct chooser_entry *e)
{
	char number[24];

	snprintf(number, sizeof(number), "%zu", e->id);
	app_command(a, CMD_EVENTS, &(struct command_arg){.text = e->id ? number : e->name});
}

bool app_choose(struct app *a, enum command c, const struct command_arg *arg)
{
	if (c == CMD_THEME && arg->text)
		set_theme(a, arg->text);
	else if (c == CMD_THEME)
		choose_theme(a);
	else if (c == CMD_BY && !arg->text)
		choose_by(a);
	else if (c == CMD_SORT && !arg->text)
		choose_sort(a);
	else if (c == CMD_COLUMNS)
		app_choose_columns(a);
	else if (c == CMD_EVENTS && arg->text)
		set_events(a, arg->text);
	else if (c == CMD_EVENTS)
		choose_events(a);
	else
		return false;
	return true;
}

static void show_theme(struct app *a, const char *name)
{
	if (a->display->ops->theme)
		a->display->ops->theme(a->display, name);
}

/* By the names that the table has now: it is drawn on below the list. */
static void take_sort(struct app *a, const struct chooser_entry *e)
{
	const struct table_widget *w = app_choose_table(a);
	struct table_widget_choice column;

	if (!w || !table_widget_choice(w, e->id, &column))
		return;
	app_command(a, column.is_sorted ? CMD_SORT_REVERSE : CMD_SORT,
		    &(struct command_arg){.text = column.is_sorted ? NULL : column.key});
}

void app_choose_explain(struct app *a)
{
	struct view *v = app_keys(a);
	struct table_widget *w = v->ops->choices ? v->ops->choices->table(v) : NULL;
	struct table_widget_choice column;

	if (!w || !w->resorted)
		return;
	w->resorted = false;
	for (size_t i = 0; !*a->message && i < w->n_names; i++)
		if (table_widget_choice(w, i, &column) && column.will_sort)
			app_say(a, ROLE_NORMAL, "%s: %s", column.title, column.help);
}

static void take_choice(struct app *a, enum choose_kind kind)
{
	const struct chooser_entry *e = &a->choose.list.entries[a->choose.list.index];

	if (kind == CHOOSE_BY && !e->is_now)
		app_command(a, CMD_BY, &(struct command_arg){.text = e->name});
	else if (kind == CHOOSE_SORT)
		take_sort(a, e);
	else if (kind == CHOOSE_COLUMNS)
		app_choose_take_columns(a);
	else if (kind == CHOOSE_EVENTS)
		take_event(a, e);
	else if (kind == CHOOSE_THEME)
		set_theme(a, e->name);
}

void app_choose_key(struct app *a, const struct display_input *in)
{
	struct app_choose *o = &a->choose;
	enum choose_kind kind = o->kind;
	int answer = chooser_key(&o->list, in);

	if (answer == CHOOSER_TAKEN || answer == CHOOSER_LEFT) {
		o->kind = CHOOSE_NONE;
		a->message[0] = '\0';
	}
	if (answer == CHOOSER_TAKEN)
		take_choice(a, kind);
	else if (kind == CHOOSE_THEME && answer == CHOOSER_MOVED)
		show_theme(a, o->list.entries[o->list.index].name);
	else if (kind == CHOOSE_THEME && answer == CHOOSER_LEFT)
		show_theme(a, a->theme);
}

void app_choose_draw(struct app *a, struct rect r)
{
	if (a->choose.kind)
		chooser_draw(&a->choose.list, &a->screen, r);
}

void app_choose_keys(struct app *a, struct rect r)
{
	screen_put(&a->screen, r, 0, 0, ROLE_DIM,
		   a->choose.list.ticks ? "Space ticks  Enter keeps  letter jumps  Esc leaves"
					: "Enter takes  letter jumps  Esc leaves all as it was");
}
