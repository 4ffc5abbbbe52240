// SPDX-License-Identifier: GPL-2.0-only
/*
 * The columns that the user asked for, in that order: a table with its columns rearranged. All
 * others follow them, neither shown nor reported, so that code which looks up a column by its key
 * still finds it.
 */
#include "filter.h"
#include "internal.h"
#include "kontend/query-fields.h"

#include <errno.h>
#include <string.h>

/* The next word of a list; NULL: none is left. */
static const char *next_word(const char **list, size_t *ret_len)
{
	const char *word = *list;

	if (!word || !*word)
		return NULL;
	*ret_len = strcspn(word, ",");
	*list = word + *ret_len + (word[*ret_len] == ',');
	return word;
}

/* Sums and texts; a series is drawn, and nothing else. */
static size_t find_field(const struct column *c, size_t n, const char *key, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].flags && c[i].type != COLUMN_SERIES && strlen(c[i].key) == len &&
		    memcmp(c[i].key, key, len) == 0)
			return i;
	return SIZE_MAX;
}

static int no_field(const struct column *c, size_t n, const char *word, size_t len,
		    struct error *err)
{
	char names[512];

	return error_set(err, -EINVAL, "--fields: there is no column '%.*s' here; columns: %s",
			 (int)len, word, column_names(c, n, names, sizeof(names)));
}

int query_fields_check(const char *fields, const struct table_kind *kind, enum query_by by,
		       struct error *err)
{
	struct column c[TABLE_COLUMNS];
	size_t n = kind->n_columns, len;

	memcpy(c, kind->columns, n * sizeof(*c));
	for (size_t i = 0; kind == &query_locks_kind && i < n; i++)
		if (!query_locks_has(by, i))
			c[i].flags = 0;
	for (const char *word; (word = next_word(&fields, &len));)
		if (find_field(c, n, word, len) == SIZE_MAX)
			return no_field(c, n, word, len, err);
	return 0;
}

struct arrangement {
	size_t from[TABLE_COLUMNS]; /* by the new place */
	size_t n, chosen;
};

static void add_field(struct arrangement *o, size_t column)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->from[i] == column)
			return;
	o->from[o->n++] = column;
}

static struct column arranged(const struct table *t, const struct arrangement *o, size_t place)
{
	struct column c = t->columns[o->from[place]];

	if (place >= o->chosen) {
		c.flags = 0;
		return c;
	}
	c.flags |= COLUMN_SCREEN | COLUMN_REPORT | COLUMN_CHOSEN;
	c.priority = 0;
	c.title = *c.title ? c.title : c.key;
	return c;
}

static int arrange(struct query *q, const struct arrangement *o, struct table *t)
{
	struct column *columns = arena_alloc(&q->arena, t->n_columns * sizeof(*columns));
	struct value *v = arena_alloc(&q->arena, (t->n_rows * t->n_columns + 1) * sizeof(*v));
	size_t sort = t->sort_col;

	if (!columns || !v)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++) {
		columns[i] = arranged(t, o, i);
		if (o->from[i] == sort)
			t->sort_col = i;
		for (size_t row = 0; row < t->n_rows; row++)
			v[row * t->n_columns + i] = *table_value(t, row, o->from[i]);
	}
	t->columns = t->keys = columns;
	t->values = v;
	t->window_first = t->window_n = 0;
	t->most = NULL;
	return 0;
}

int query_fields(struct query *q, const char *fields, struct table *t, struct error *err)
{
	const struct column *keys = t->keys ? t->keys : t->columns;
	struct arrangement o = {0};
	size_t len;

	if (!fields)
		return 0;
	for (const char *word; (word = next_word(&fields, &len));) {
		size_t column = find_field(keys, t->n_columns, word, len);
		if (column == SIZE_MAX)
			return no_field(keys, t->n_columns, word, len, err);
		add_field(&o, column);
	}
	o.chosen = o.n;
	for (size_t i = 0; i < t->n_columns; i++)
		add_field(&o, i);
	return arrange(q, &o, t) < 0 ? query_enomem(err, t->name) : 0;
}
