// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as members of JSON objects: cells of tables by their columns, members of structs by their
 * figures. Unknown values are null.
 */
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/query-damage.h"

#include <stdlib.h>
#include <string.h>

const struct figure report_node_figures[] = {
	{FIGURE("depth", COUNT, struct query_node, depth)},
	{FIGURE("name", TEXT, struct query_node, name)},
	{FIGURE("addr", ADDR, struct query_node, addr), .flags = FIGURE_JSON},
	{FIGURE("waits", COUNT, struct query_node, n)},
	{FIGURE("total_ns", NS, struct query_node, total_ns)},
	{FIGURE("max_ns", NS, struct query_node, max_ns)},
	{FIGURE("pct", PCT, struct query_node, pct)},
	{FIGURE("pct_parent", PCT, struct query_node, pct_parent)},
	FIGURE_END,
};

const struct figure report_bar_figures[] = {
	{FIGURE("lower_ns", NS, struct query_bar, lower_ns)},
	{FIGURE("upper_ns", NS, struct query_bar, upper_ns)},
	{FIGURE("waits", COUNT, struct query_bar, n)},
	{FIGURE("pct", PCT, struct query_bar, pct)},
	FIGURE_END,
};

static void put_list(struct jsonw *j, const char *key, bool numbers, const char *s)
{
	char item[256];

	jsonw_begin(j, key, '[', true);
	while (*s) {
		size_t len = strcspn(s, "\n");
		snprintf(item, sizeof(item), "%.*s", len < sizeof(item) ? (int)len : 255, s);
		if (numbers)
			jsonw_i64(j, NULL, strtoll(item, NULL, 10));
		else
			jsonw_str(j, NULL, item);
		s += len + (s[len] == '\n');
	}
	jsonw_end(j, ']');
}

static void put_series(struct jsonw *j, const char *key, const struct value *v)
{
	jsonw_begin(j, key, '[', true);
	for (uint32_t i = 0; i < v->n; i++)
		jsonw_u64(j, NULL, v->series[i]);
	jsonw_end(j, ']');
}

static void put_value(struct jsonw *j, const char *key, unsigned type, const struct value *v)
{
	if (!v->known) {
		jsonw_null(j, key);
		return;
	}
	switch (type) {
	case COLUMN_TEXT:
		jsonw_str(j, key, v->s);
		break;
	case COLUMN_INT:
		jsonw_i64(j, key, v->i);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		jsonw_double(j, key, v->d);
		break;
	case COLUMN_ADDR:
		jsonw_hex(j, key, v->u);
		break;
	case COLUMN_BOOL:
		jsonw_bool(j, key, v->u);
		break;
	case COLUMN_SERIES:
		put_series(j, key, v);
		break;
	default:
		jsonw_u64(j, key, v->u);
	}
}

void report_json_value(struct jsonw *j, const struct column *c, const struct value *v)
{
	if (v->known && c->flags & COLUMN_LIST)
		put_list(j, c->key, c->flags & COLUMN_NUMBERS, v->s);
	else
		put_value(j, c->key, c->type, v);
}

void report_json_keys(struct jsonw *j, const char *name, const struct table *t, size_t row,
		      bool (*is)(const struct value *v))
{
	bool any = false;

	for (size_t col = 0; col < t->n_columns; col++) {
		const struct value *v = table_value(t, row, col);

		if (!v->known || !is(v) || !(t->columns[col].flags & COLUMN_REPORT))
			continue;
		if (!any)
			jsonw_begin(j, name, '[', true);
		any = true;
		jsonw_str(j, NULL, t->columns[col].key);
	}
	if (any)
		jsonw_end(j, ']');
}

bool report_is_at_least(const struct value *v)
{
	return v->at_least;
}

void report_json_row(struct jsonw *j, const struct table *t, size_t row)
{
	bool at_least = false, is_column = false;

	for (size_t col = 0; col < t->n_columns; col++) {
		const struct column *c = &t->columns[col];
		const struct value *v = table_value(t, row, col);
		if (!(c->flags & COLUMN_REPORT))
			continue;
		at_least |= v->known && v->at_least;
		is_column |= !strcmp(c->key, "at_least");
		report_json_value(j, c, v);
	}
	if (!at_least)
		return;
	/* Waiters have a column of that name: of the begin of the wait. */
	if (!is_column)
		jsonw_bool(j, "at_least", true);
	report_json_keys(j, "lower_bound", t, row, report_is_at_least);
}

void report_json_figures(struct jsonw *j, const struct figure *list, const void *base,
			 uint32_t missing)
{
	for (const struct figure *f = list; f->key; f++) {
		struct value v = figure_value(f, base, missing);
		put_value(j, f->key, f->type, &v);
	}
}

void report_json_structs(struct jsonw *j, const char *key, const struct figure *list,
			 const void *array, size_t n, size_t size)
{
	jsonw_begin(j, key, '[', false);
	for (size_t i = 0; i < n; i++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, list, (const char *)array + i * size, 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void report_json_damage(struct jsonw *j, const struct model_damage *d,
			const struct query_loss *loss, const double *unmatched_pct)
{
	const struct figure *f = query_damage_figures;

	for (size_t i = 0; i <= DAMAGE_DEEP; i++) {
		struct value v = figure_value(&f[i], d, 0);
		put_value(j, f[i].key, f[i].type, &v);
		if (unmatched_pct && i == DAMAGE_UNMATCHED_END)
			jsonw_double(j, "unmatched_pct", *unmatched_pct);
	}
	report_json_figures(j, query_loss_figures, loss, 0);
}
