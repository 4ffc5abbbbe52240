// SPDX-License-Identifier: GPL-2.0-only
/*
 * `help VIEW`: the text of kontend-views(7) about a view, of the sections that its entry refers to,
 * and of the columns of its tables. The page is a part of the program, as text (man/view-help.py):
 * a line that begins with a form feed is the title of a part, one with a vertical tab the title of
 * another part that this one refers to.
 */
#include "help-view.h"
#include "kontend/tables.h"
#include "kontend/view.h"

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

bool help_view(const char *name, FILE *out)
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
