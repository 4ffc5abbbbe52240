// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which columns of the table that is sorted are shown. The list has those that there are now, with
 * those that no table of this kind can do without; the others, which come when rows are by
 * something else, stay as they are. A column that was ticked just now precedes all others where
 * there is no room, then come the rest in their order.
 */
#include "kontend/tables.h"
#include "priv.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

/* The order that holds now: the user's, or the one that is built in. */
static struct query_columns_of order_now(const struct app *a, const struct table_kind *kind)
{
	const struct query_columns_of *own = query_columns_find(&a->columns, kind->name);
	struct query_columns_of built;

	query_columns_built(kind, &built);
	return own ? *own : built;
}

static bool has(const struct query_columns_of *of, size_t column)
{
	return memchr(of->order, (int)column, of->n) != NULL;
}

static void add_entry(struct chooser *c, const struct table_widget *w,
		      const struct query_columns_of *now, size_t column)
{
	const bool is_fixed = query_columns_is_name(&now->kind->columns[column]);
	struct table_widget_choice choice;

	if (!(now->kind->columns[column].flags & COLUMN_SCREEN) ||
	    !table_widget_choice(w, column, &choice))
		return;
	struct chooser_entry *e = chooser_add(c, choice.title, choice.help);
	if (!e)
		return;
	e->id = column;
	e->is_fixed = is_fixed;
	e->ticked = is_fixed || has(now, column);
	if (is_fixed || (e->ticked && !choice.is_shown))
		snprintf(e->state, sizeof(e->state), is_fixed ? "always" : "no room");
}

void app_choose_columns(struct app *a)
{
	const struct table_widget *w = app_choose_table(a);
	const struct table_def *t = w ? tables_find(w->name, strlen(w->name)) : NULL;
	char title[64];

	if (!t)
		return;
	struct query_columns_of now = order_now(a, t->kind);
	snprintf(title, sizeof(title), "columns of %s", t->title);
	struct chooser *c = app_choose_open(a, CHOOSE_COLUMNS, title);
	a->choose.columns_of = t->kind;
	for (size_t i = 0; i < w->n_names; i++)
		add_entry(c, w, &now, i);
}

static const struct chooser_entry *entry_of(const struct chooser *c, size_t column)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->entries[i].id == column)
			return &c->entries[i];
	return NULL;
}

static void add_column(struct query_columns_of *of, size_t column)
{
	if (!has(of, column))
		of->order[of->n++] = (uint8_t)column;
}

/* The entry that was newly ticked after turn @after; NULL: there is no more. */
static const struct chooser_entry *next_turn(const struct chooser *c, unsigned after)
{
	const struct chooser_entry *found = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct chooser_entry *e = &c->entries[i];
		if (e->ticked && e->turn > after && (!found || e->turn < found->turn))
			found = e;
	}
	return found;
}

/* Besides the columns that are always there. */
static bool is_any_ticked(const struct chooser *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->entries[i].ticked && !c->entries[i].is_fixed)
			return true;
	return false;
}

static struct query_columns_of chosen(const struct app *a, const struct chooser *c)
{
	struct query_columns_of now = order_now(a, a->choose.columns_of), ret = {.kind = now.kind};
	unsigned turn = 0;

	for (const struct chooser_entry *e; (e = next_turn(c, turn)); turn = e->turn)
		add_column(&ret, e->id);
	for (size_t i = 0; i < now.n; i++) {
		const struct chooser_entry *e = entry_of(c, now.order[i]);
		if (!e || e->ticked)
			add_column(&ret, now.order[i]);
	}
	return ret;
}

/* Shows where they are kept, or why they are not. */
static void keep(struct app *a, const struct table_kind *kind)
{
	const struct query_columns_of *own = query_columns_find(&a->columns, kind->name);
	char keys[QUERY_COLUMNS_TEXT];
	struct error err = {0};

	if (!a->keep)
		app_say(a, ROLE_NORMAL,
			"so until the end: without a configuration nothing is kept");
	else if (a->keep->columns(a->keep->arg, a->keep->where, kind->name,
				  own ? query_columns_text(own, keys) : NULL, &err) < 0)
		app_say(a, ROLE_ERROR, "so until the end, not kept: %s", err.text);
	else
		app_say(a, ROLE_NORMAL, "kept in %s", a->keep->where);
}

void app_choose_take_columns(struct app *a)
{
	const struct table_kind *kind = a->choose.columns_of;

	if (!is_any_ticked(&a->choose.list)) {
		app_say(a, ROLE_ERROR, "no column is ticked: the table stays as it was");
		return;
	}
	struct query_columns_of of = chosen(a, &a->choose.list);
	query_columns_put(&a->columns, &of);
	keep(a, kind);
}
