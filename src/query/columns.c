// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns of tables that the user has chosen: an order for each table. A table has a fixed
 * number of columns of each importance (struct column); the chosen ones get these in their order,
 * so that names keep as much room as before, and the columns chosen first stay longest on a narrow
 * screen. Columns that name the row cannot be chosen: they depend on the grouping.
 */
#include "filter.h"
#include "kontend/query-columns.h"
#include "kontend/tables.h"
#include "kontend/textbuf.h"

#include <errno.h>
#include <string.h>

bool query_columns_is_name(const struct column *c)
{
	return c->priority == 0 && (c->type == COLUMN_TEXT || c->type == COLUMN_INT);
}

static bool is_choice(const struct column *c)
{
	return c->flags & COLUMN_SCREEN && !query_columns_is_name(c);
}

const struct query_columns_of *query_columns_find(const struct query_columns *c, const char *table)
{
	for (size_t i = 0; c && i < c->n; i++)
		if (strcmp(c->of[i].kind->name, table) == 0)
			return &c->of[i];
	return NULL;
}

void query_columns_built(const struct table_kind *kind, struct query_columns_of *ret)
{
	*ret = (struct query_columns_of){.kind = kind};
	for (unsigned priority = 0; priority <= UINT8_MAX; priority++)
		for (size_t i = 0; i < kind->n_columns; i++)
			if (is_choice(&kind->columns[i]) && kind->columns[i].priority == priority)
				ret->order[ret->n++] = (uint8_t)i;
}

static bool is_as_built(const struct query_columns_of *of)
{
	struct query_columns_of built;

	query_columns_built(of->kind, &built);
	return built.n == of->n && memcmp(built.order, of->order, of->n) == 0;
}

void query_columns_put(struct query_columns *c, const struct query_columns_of *of)
{
	size_t at = 0;

	while (at < c->n && c->of[at].kind != of->kind)
		at++;
	if (is_as_built(of)) {
		if (at < c->n)
			c->of[at] = c->of[--c->n];
		return;
	}
	if (at == QUERY_COLUMNS_TABLES)
		return;
	c->of[at] = *of;
	c->n += at == c->n;
}

static int no_table(const char *table, struct error *err)
{
	char names[512];
	struct textbuf b = textbuf_make(names, sizeof(names));

	for (const struct table_def *t = table_defs; t->kind; t++) {
		textbuf_str(&b, t == table_defs ? "" : ", ");
		textbuf_str(&b, t->kind->name);
	}
	return error_set(err, -EINVAL, "there is no table '%s'; tables: %s", table,
			 textbuf_end(&b));
}

static int no_column(const struct table_kind *kind, const char *key, size_t len, struct error *err)
{
	struct column c[TABLE_COLUMNS];
	char names[512];

	memcpy(c, kind->columns, kind->n_columns * sizeof(*c));
	for (size_t i = 0; i < kind->n_columns; i++)
		c[i].flags &= COLUMN_SCREEN;
	return error_set(err, -EINVAL, "the screen has no column '%.*s' in table '%s'; columns: %s",
			 (int)len, key, kind->name,
			 column_names(c, kind->n_columns, names, sizeof(names)));
}

static size_t find_column(const struct table_kind *kind, const char *key, size_t len)
{
	for (size_t i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].flags & COLUMN_SCREEN && strlen(kind->columns[i].key) == len &&
		    !memcmp(kind->columns[i].key, key, len))
			return i;
	return SIZE_MAX;
}

/* Once each; names are there in any case. */
static void add_column(struct query_columns_of *of, size_t column)
{
	if (is_choice(&of->kind->columns[column]) && !memchr(of->order, (int)column, of->n))
		of->order[of->n++] = (uint8_t)column;
}

int query_columns_set(struct query_columns *c, const char *table, const char *keys,
		      struct error *err)
{
	const struct table_def *t = tables_find(table, strlen(table));

	if (!t)
		return no_table(table, err);
	struct query_columns_of of = {.kind = t->kind};
	while (*(keys += strspn(keys, " \t,"))) {
		size_t len = strcspn(keys, " \t,"), column = find_column(t->kind, keys, len);

		if (column == SIZE_MAX)
			return no_column(t->kind, keys, len, err);
		add_column(&of, column);
		keys += len;
	}
	query_columns_put(c, &of);
	return 0;
}

const char *query_columns_text(const struct query_columns_of *of, char buf[QUERY_COLUMNS_TEXT])
{
	struct textbuf b = textbuf_make(buf, QUERY_COLUMNS_TEXT);

	for (size_t i = 0; i < of->n; i++) {
		textbuf_str(&b, i ? "," : "");
		textbuf_str(&b, of->kind->columns[of->order[i]].key);
	}
	return textbuf_end(&b);
}

static bool is_wanted(const struct query_columns_of *of, const struct column *c)
{
	for (size_t i = 0; i < of->n; i++)
		if (strcmp(of->kind->columns[of->order[i]].key, c->key) == 0)
			return true;
	return false;
}

/* The lowest of the priorities that are left over; from TABLE_NICE on no two are the same. */
static uint8_t take_priority(unsigned left[UINT8_MAX + 1], unsigned last)
{
	unsigned priority = 0;

	while (priority < UINT8_MAX && !left[priority])
		priority++;
	left[priority] -= left[priority] > 0;
	if (priority >= TABLE_NICE && priority <= last)
		priority = last + 1;
	return priority < UINT8_MAX ? (uint8_t)priority : UINT8_MAX - 1;
}

void query_columns_apply(const struct query_columns *c, const char *table, struct column *columns,
			 size_t n)
{
	const struct query_columns_of *of = query_columns_find(c, table);
	unsigned left[UINT8_MAX + 1] = {0}, last = 0;

	for (size_t i = 0; of && i < n; i++) {
		/* A column that the kind hides and the table shows has a reason to be there. */
		bool asked =
			find_column(of->kind, columns[i].key, strlen(columns[i].key)) != SIZE_MAX;

		if (!asked || !is_choice(&columns[i]))
			continue;
		if (is_wanted(of, &columns[i]))
			left[columns[i].priority]++;
		else
			columns[i].flags &= (uint8_t)~COLUMN_SCREEN;
	}
	for (size_t k = 0; of && k < of->n; k++)
		for (size_t i = 0; i < n; i++)
			if (is_choice(&columns[i]) &&
			    !strcmp(columns[i].key, of->kind->columns[of->order[k]].key))
				last = columns[i].priority = take_priority(left, last);
}
