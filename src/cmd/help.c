// SPDX-License-Identifier: GPL-2.0-only
/*
 * `help` and `version`: both print from tables and the build's own facts. `help keys` is a card of
 * keys. `help VIEW` prints the text of kontend-views(7) about a view, of the sections that its
 * entry refers to, and of the columns of its tables. The page is a part of the program, as text
 * (man/view-help.py): a line that begins with a form feed is the title of a part, one with a
 * vertical tab the title of another part that this one refers to.
 */
#include "build-features.h"
#include "kontend/command.h"
#include "kontend/tables.h"
#include "kontend/view.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern const char view_help_text[];

/* The text after the line with the title; NULL: there is no such part. */
static const char *find_after(const char *before, const char *title)
{
	size_t head = strlen(before), len = strlen(title);

	for (const char *p = strchr(view_help_text, '\f'); p; p = strchr(p + 1, '\f'))
		if (!strncmp(p + 1, before, head) && !strncmp(p + 1 + head, title, len) &&
		    p[1 + head + len] == '\n')
			return p + head + len + 2;
	return NULL;
}

static void put_text(const char *text, FILE *out)
{
	fwrite(text, 1, strcspn(text, "\f\v"), out);
}

static void put_part(const char *title, FILE *out)
{
	const char *text = find_after("", title);

	if (!text)
		return;
	fprintf(out, "\n%s\n\n", title);
	put_text(text, out);
}

/* The sections that @text, of an entry, ends with. */
static void put_sections(const char *text, FILE *out)
{
	char title[80];

	for (text += strcspn(text, "\f\v"); *text == '\v'; text += strcspn(text, "\f\v")) {
		size_t len = strcspn(++text, "\n");
		if (len >= sizeof(title))
			continue;
		memcpy(title, text, len);
		title[len] = '\0';
		put_part(title, out);
	}
}

static void put_columns(const char *tables, FILE *out)
{
	for (size_t len; tables && *tables; tables += len + (tables[len] == ' ')) {
		len = strcspn(tables, " ");
		const struct table_def *t = tables_find(tables, len);
		if (t && t->section)
			put_part(t->section, out);
	}
}

/* Prints the section on the view called @name. False: there is no such view. */
static bool help_view(const char *name, FILE *out)
{
	const struct view_ops *v = NULL;

	/* Column sets of blame are names of it. */
	if (!strcmp(name, "held") || !strcmp(name, "did"))
		name = "blame";
	for (size_t i = 0; view_roots[i]; i++)
		if (!strcmp(view_roots[i]->name, name))
			v = view_roots[i];
	const char *text = v ? find_after("view ", name) : NULL;
	if (!text)
		return false;
	if (v->digit)
		fprintf(out, "The view %s, key %c:\n\n", name, v->digit);
	else
		fprintf(out, "The view %s, :view %s:\n\n", name, name);
	put_text(text, out);
	put_sections(text, out);
	put_columns(v->tables, out);
	fputs("\nManual: kontend-views(7).\n", out);
	return true;
}

static int put_card(void)
{
	char line[COMMAND_CARD_LINE];

	for (unsigned i = 0; command_card_line(i, line); i++)
		puts(line);
	return cmd_flush(CMD_EXIT_OK);
}

int cmd_help(const struct opts *o)
{
	struct error err = {0};

	if (!o->topic) {
		opts_help_all(stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	if (strcmp(o->topic, "keys") == 0)
		return put_card();
	enum opts_verb v = opts_verb_find(o->topic);
	if (v != VERBS) {
		opts_help(v, stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	if (help_view(o->topic, stdout))
		return cmd_flush(CMD_EXIT_OK);
	const char *hint = opts_nearest_verb(o->topic);
	if (hint)
		error_set(&err, -EINVAL,
			  "There is no verb '%s', and no view: did you mean '%s'? See 'kontend "
			  "--help'",
			  o->topic, hint);
	else
		error_set(&err, -EINVAL,
			  "There is no verb '%s', and no view: see 'kontend --help', and '?' on "
			  "the screen",
			  o->topic);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

/* Features of this build. Whether they work on this machine is the doctor's business. */
static void put_features(void)
{
	static const struct {
		const char *name;
		bool has;
		const char *library, *what;
	} features[] = {KONTEND_FEATURES};

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		printf("  %-12s [%s]  %-24s %s\n", features[i].name,
		       features[i].has ? " on " : " off", features[i].library, features[i].what);
}

int cmd_version(const struct opts *o)
{
	printf("kontend %s\n", KONTEND_VERSION);
	if (o->features)
		put_features();
	return cmd_flush(CMD_EXIT_OK);
}
