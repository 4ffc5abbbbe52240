// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend incidents`: the incidents that triggers have caught, a line a file. A file that cannot
 * be read is named on standard error, and the rest is listed all the same.
 */
#include "kontend/incident-list.h"
#include "kontend/jsonw.h"
#include "kontend/report.h"
#include "kontend/sandboxed.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/when.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

enum { WHEN, FIRED, WORST, LOCK, BECAUSE, SIZE, NAME, COLUMNS, CELL = 200 };

static const char *const titles[COLUMNS] = {"WHEN",	  "WHAT FIRED", "WORST", "LOCK",
					    "BECAUSE OF", "SIZE",	"FILE"};

struct row {
	char cells[COLUMNS][CELL];
};

static void set_text(struct row *r, int column, const char *text)
{
	text_clean(r->cells[column], CELL, *text ? text : "-");
}

/* The expression, and with which value unless that says no more. */
static void set_fired(struct row *r, const struct incident *in)
{
	char both[sizeof(in->expr) + sizeof(in->fired) + 4];

	if (*in->fired && strcmp(in->fired, in->expr) != 0)
		snprintf(both, sizeof(both), "%s (%s)", in->expr, in->fired);
	else
		snprintf(both, sizeof(both), "%s", in->expr);
	set_text(r, FIRED, both);
}

static void fill(struct row *r, const struct incident_entry *e)
{
	const struct incident *in = &e->found.incident;
	char text[WHEN_BUF];

	set_text(r, WHEN, when_date(text, e->found.wall_ns, 0));
	set_fired(r, in);
	set_text(r, WORST, in->worst_ns ? units_ns(text, in->worst_ns) : "");
	set_text(r, LOCK, in->lock_name);
	set_text(r, BECAUSE, in->because);
	set_text(r, SIZE, units_bytes(text, e->found.bytes));
	set_text(r, NAME, e->name);
}

static bool is_right(int column)
{
	return column == WORST || column == SIZE;
}

static void widen(int widths[COLUMNS], int column, const char *text)
{
	int w = text_width(text);

	widths[column] = w > widths[column] ? w : widths[column];
}

static void put_cell(int column, const char *text, int width)
{
	int pad = width - text_width(text);

	if (column == NAME)
		printf("%s\n", text);
	else if (is_right(column))
		printf("%*s%s  ", pad, "", text);
	else
		printf("%s%*s  ", text, pad, "");
}

static bool has_whole(const struct incident_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].state == INCIDENT_WHOLE)
			return true;
	return false;
}

static void put_text(const struct incident_list *l)
{
	int widths[COLUMNS] = {0};
	struct row r;

	for (int c = 0; c < COLUMNS; c++)
		widen(widths, c, titles[c]);
	for (size_t i = 0; i < l->n; i++) {
		if (l->entries[i].state != INCIDENT_WHOLE)
			continue;
		fill(&r, &l->entries[i]);
		for (int c = 0; c < COLUMNS; c++)
			widen(widths, c, r.cells[c]);
	}
	for (int c = 0; c < COLUMNS; c++)
		put_cell(c, titles[c], widths[c]);
	for (size_t i = 0; i < l->n; i++) {
		if (l->entries[i].state != INCIDENT_WHOLE)
			continue;
		fill(&r, &l->entries[i]);
		for (int c = 0; c < COLUMNS; c++)
			put_cell(c, r.cells[c], widths[c]);
	}
}

static void put_json_row(struct jsonw *j, const struct incident_entry *e)
{
	static const char *const states[] = {"whole", "written", "left", "bad"};

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "file", e->name);
	jsonw_str(j, "state", states[e->state]);
	jsonw_u64(j, "bytes", e->found.bytes);
	if (e->state == INCIDENT_BAD)
		jsonw_str(j, "error", e->why);
	if (e->state == INCIDENT_WHOLE)
		report_incident_json(j, &e->found.incident, e->found.wall_ns);
	jsonw_end(j, '}');
}

static void put_json(const struct incident_list *l, const char *dir)
{
	struct jsonw j = {.out = stdout};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.incidents/1");
	jsonw_str(&j, "directory", dir);
	jsonw_begin(&j, "incidents", '[', false);
	for (size_t i = 0; i < l->n; i++)
		put_json_row(&j, &l->entries[i]);
	jsonw_end(&j, ']');
	jsonw_end(&j, '}');
}

static void say_others(const struct opts *o, const struct incident_list *l, const char *dir)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct incident_entry *e = &l->entries[i];

		if (e->state == INCIDENT_BAD)
			cmd_say(o, "%s/%s is passed over: %s", dir, e->name, e->why);
		if (e->state == INCIDENT_LEFT)
			cmd_say(o,
				"%s/%s was not finished: 'kontend recover' makes a recording of "
				"what is in it",
				dir, e->name);
	}
}

int cmd_incidents(const struct opts *o)
{
	const char *dir = o->topic ? o->topic : ".";
	struct incident_list l;
	struct error err = {0};

	struct sandboxed sandboxed;
	struct reader_options how = {0};
	const struct sandboxed_wants w = {.folder = dir};

	if (sandboxed_enter(&sandboxed, o, &w, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	sandboxed_reader(&sandboxed, &how);
	int r = incident_list_read_by(&l, dir, &how, &err);
	if (r < 0) {
		sandboxed_leave(&sandboxed);
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	}
	if (o->format && !strcmp(o->format, "json"))
		put_json(&l, dir);
	else if (has_whole(&l))
		put_text(&l);
	else
		cmd_say(o, "there are no incidents in %s: 'kontend record --trigger' catches them",
			dir);
	say_others(o, &l, dir);
	incident_list_deinit(&l);
	sandboxed_leave(&sandboxed);
	return cmd_flush(CMD_EXIT_OK);
}
