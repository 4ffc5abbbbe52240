// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend dump TABLE` (hidden): the program's own tables as lines of fields separated by tabs. The
 * tests of the manual pages and of the completions compare with it.
 */
#include "cmd.h"
#include "kontend/command.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame.h"
#include "kontend/query-hot.h"
#include "kontend/query-mmap.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"
#include "kontend/settings.h"
#include "kontend/view.h"

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

static void dump_table(FILE *out, const char *name, const struct column *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].flags)
			fprintf(out, "%s\t%s\t%s\t%s\t%s\n", name, c[i].key,
				c[i].flags & COLUMN_SCREEN ? c[i].title : "",
				c[i].flags & COLUMN_REPORT ? "report" : "", c[i].help);
}

static void dump_columns(FILE *out)
{
	static const struct {
		const char *name;
		const struct column *(*columns)(size_t *ret_n);
	} tables[] = {
		{"locks", query_locks_columns},
		{"waiters", query_waiters_columns},
		{"cpus", query_cpus_columns},
		{"diff", query_diff_columns},
		{"slots", query_perf_slots_columns},
		{"holders", query_perf_holders_columns},
		{"contexts", query_perf_contexts_columns},
		{"events", query_perf_events_columns},
		{"rotation", query_rotation_columns},
		{"mmap", query_mmap_columns},
		{"hot", query_hot_columns},
		{"flame", query_flame_columns},
		{"uprobes", query_uprobe_probes_columns},
		{"upprocs", query_uprobe_processes_columns},
		{"upwaits", query_uprobe_waits_columns},
		{"xol", query_uprobe_areas_columns},
		{"uptasks", query_uprobe_tasks_columns},
		{"uphits", query_uprobe_hits_columns},
	};
	const struct column *c;
	size_t n;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		c = tables[i].columns(&n);
		dump_table(out, tables[i].name, c, n);
	}
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

int cmd_dump(const struct opts *o)
{
	struct error err = {0};
	const char *what = o->topic ? o->topic : "";

	if (!strcmp(what, "options"))
		opts_dump(stdout);
	else if (!strcmp(what, "keys"))
		dump_keys(stdout);
	else if (!strcmp(what, "columns"))
		dump_columns(stdout);
	else if (!strcmp(what, "views"))
		dump_views(stdout);
	else if (!strcmp(what, "damage"))
		dump_damage(stdout);
	else if (!strcmp(what, "settings"))
		settings_dump(stdout);
	else {
		error_set(&err, -EINVAL,
			  "There is no table '%s': give options, keys, columns, damage, settings "
			  "or views",
			  what);
		return cmd_fail(CMD_EXIT_USAGE, &err);
	}
	return cmd_flush(CMD_EXIT_OK);
}
