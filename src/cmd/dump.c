// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend dump TABLE` (hidden): the program's own tables as lines of fields separated by tabs. The
 * tests of the manual pages and of the completions compare with it.
 */
#include "kontend/command.h"
#include "kontend/openmetrics-text.h"
#include "kontend/query-damage.h"
#include "kontend/query-lock.h"
#include "kontend/rows.h"
#include "kontend/settings.h"
#include "kontend/tables.h"
#include "kontend/view.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void dump_keys(FILE *out)
{
	for (const struct command_info *c = command_table; c->command != CMD_NONE; c++) {
		fprintf(out, "%s\t%s\t", c->name, c->arg ? c->arg : "");
		for (size_t i = 0; i < sizeof(c->keys) / sizeof(*c->keys) && c->keys[i]; i++) {
			char name[16];

			fprintf(out, "%s%s", i ? " " : "", command_key_name(c->keys[i], name));
		}
		fprintf(out, "\t%s\n", c->help);
	}
}

static void dump_table(FILE *out, const struct table_kind *t)
{
	for (const struct column *c = t->columns; c < t->columns + t->n_columns; c++)
		if (c->flags)
			fprintf(out, "%s\t%s\t%s\t%s\t%s\n", t->name, c->key,
				c->flags & COLUMN_SCREEN ? c->title : "",
				c->flags & COLUMN_REPORT ? "report" : "", c->help);
}

static void dump_columns(FILE *out)
{
	for (const struct table_def *t = table_defs; t->kind; t++)
		dump_table(out, t->kind);
}

/* The type of a column in JSON: "ns", "[text]". */
static void dump_json_type(FILE *out, const struct column *c)
{
	static const char *const types[] = {
		[COLUMN_TEXT] = "text", [COLUMN_COUNT] = "count",    [COLUMN_INT] = "int",
		[COLUMN_NS] = "ns",	[COLUMN_RATE] = "rate",	     [COLUMN_NSRATE] = "nsrate",
		[COLUMN_PCT] = "pct",	[COLUMN_ADDR] = "addr",	     [COLUMN_SERIES] = "series",
		[COLUMN_BOOL] = "bool", [COLUMN_NSDIFF] = "real_ns",
	};

	if (c->flags & COLUMN_LIST)
		fputs(c->flags & COLUMN_NUMBERS ? "[int]" : "[text]", out);
	else
		fputs(types[c->type], out);
}

/* That of types is the one of locks, by type. */
static bool is_there(const struct table_kind *t, size_t column)
{
	return t != &query_types_kind || query_locks_has(BY_TYPE, column);
}

static void dump_json(FILE *out)
{
	for (const struct table_def *t = table_defs; t->kind; t++) {
		const struct table_kind *k = t->whole ? t->whole : t->kind;
		/* Column sets are one table there. */
		if (strcmp(k->name, t->kind->name) != 0)
			continue;
		for (size_t i = 0; i < k->n_columns; i++) {
			const struct column *c = &k->columns[i];
			if (!(c->flags & COLUMN_REPORT) || !is_there(k, i))
				continue;
			fprintf(out, "%s\t%s\t", k->name, c->key);
			dump_json_type(out, c);
			fprintf(out, "\t%s\n", c->help);
		}
	}
}

/* Those that have columns of their own, with where the manual has these. */
static void dump_tables(FILE *out)
{
	for (const struct table_def *t = table_defs; t->kind; t++)
		if (t->section)
			fprintf(out, "%s\t%s\n", t->kind->name, t->section);
}

static void dump_damage(FILE *out)
{
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (f->title)
			fprintf(out, "%s\n", f->key);
}

static void dump_views(FILE *out)
{
	for (size_t i = 0; view_roots[i]; i++)
		fprintf(out, view_roots[i]->digit ? "%s\t%c\n" : "%s\t:view\n", view_roots[i]->name,
			view_roots[i]->digit);
}

static const struct {
	const char *name;
	void (*dump)(FILE *out);
} dumps[] = {
	{"options", opts_dump},	   {"keys", dump_keys},
	{"columns", dump_columns}, {"tables", dump_tables},
	{"damage", dump_damage},   {"settings", settings_dump},
	{"views", dump_views},	   {"metrics", openmetrics_text_dump},
	{"json", dump_json},	   {"rows", rows_dump},
};

enum { DUMPS = sizeof(dumps) / sizeof(*dumps) };

/* "options, keys or views" */
static void list_dumps(char *buf, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < DUMPS && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s",
				       i == 0	       ? ""
				       : i + 1 < DUMPS ? ", "
						       : " or ",
				       dumps[i].name);
}

int cmd_dump(const struct opts *o)
{
	const char *what = o->topic ? o->topic : "";
	struct error err = {0};
	char names[128];

	for (size_t i = 0; i < DUMPS; i++) {
		if (strcmp(what, dumps[i].name) != 0)
			continue;
		dumps[i].dump(stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	list_dumps(names, sizeof(names));
	error_set(&err, -EINVAL, "There is no table '%s': give %s", what, names);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}
