// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes --help and the dump from the tables, in their order; --help puts the options of a group
 * together, below a heading. It is laid out for 80 columns: names in the first 26, the wrapped text
 * after them.
 */
#include "kontend/opts.h"

#include <string.h>

enum { HELP_INDENT = 26, HELP_WIDTH = 80 };

/*
 * Writes @text from column @indent on, wrapped at blanks; the cursor is at @column. Ends the line.
 */
static void put_wrapped(FILE *out, const char *text, int column, int indent)
{
	const char *word = text;

	fprintf(out, "%*s", column < indent ? indent - column : 0, "");
	column = column < indent ? indent : column;
	while (*word) {
		int len = (int)strcspn(word, " ");

		if (word != text && column + 1 + len > HELP_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (word != text) {
			fputc(' ', out);
			column++;
		}
		column += fprintf(out, "%.*s", len, word);
		word += len + (word[len] == ' ');
	}
	fputc('\n', out);
}

static void put_option(FILE *out, const struct opts_info *o)
{
	int n = o->short_name ? fprintf(out, "  -%c, ", o->short_name) : fprintf(out, "      ");

	n += fprintf(out, "--%s", o->name);
	if (o->arg)
		n += fprintf(out, opts_takes_word(o) ? " %s" : "[=%s]", o->arg);
	if (n + 2 > HELP_INDENT) {
		fputc('\n', out);
		n = 0;
	}
	put_wrapped(out, o->help, n, HELP_INDENT);
}

/* Writes the options of @verb in the group of @o, its first option. */
static void put_group(FILE *out, enum opts_verb verb, const struct opts_info *o)
{
	const char *group = o->group;

	fprintf(out, "\n%s:\n", group);
	for (; o->name; o++)
		if (o->verbs & 1u << verb && !strcmp(o->group, group))
			put_option(out, o);
}

/* True if no option of @verb before @o is in its group. */
static bool begins_group(enum opts_verb verb, const struct opts_info *o)
{
	for (const struct opts_info *p = opts_table; p < o; p++)
		if (p->verbs & 1u << verb && !strcmp(p->group, o->group))
			return false;
	return true;
}

void opts_help(enum opts_verb verb, FILE *out)
{
	const struct opts_verb_info *v = opts_verb_info(verb);
	static const char config[] = "config";

	fprintf(out, "Usage: kontend %s%s%s\n\n", v->name, *v->synopsis ? " " : "", v->synopsis);
	put_wrapped(out, v->help, fprintf(out, "kontend %s: ", v->name), 0);
	if (v->more)
		fputs(v->more, out);
	for (const struct opts_info *o = opts_table; o->name; o++) {
		if (o->verbs & 1u << verb && begins_group(verb, o))
			put_group(out, verb, o);
	}
	if (opts_find(verb, config, sizeof(config) - 1))
		fprintf(out, "\nDefaults can be set: kontend-config(5). --OPTION=no turns off a "
			     "setting\nwithout an argument.\n");
	if (verb == VERB_LIVE)
		fprintf(out,
			"\nKeys: '?' on the screen, or kontend-views(7). Manual: kontend(1).\n");
	else if (verb != VERB_HELP && !v->hidden)
		fprintf(out, "\nManual: kontend-%s(1).\n", v->name);
}

void opts_help_all(FILE *out)
{
	fprintf(out,
		"Usage: kontend [VERB] [OPTIONS] [-- COMMAND [ARG...]]\n\n"
		"Shows what tasks wait for: locks of the kernel, of files and of programs, and\n"
		"what keeps them in state D; for whom, for how long, and at which line of code.\n\n"
		"Verbs:\n");
	for (unsigned i = 0; i < VERBS; i++) {
		const struct opts_verb_info *v = opts_verb_info((enum opts_verb)i);
		int n;

		if (v->hidden)
			continue;
		n = fprintf(out, "  %s%s%s", v->name, v->alias ? ", " : "",
			    v->alias ? v->alias : "");
		put_wrapped(out, v->help, n, HELP_INDENT);
	}
	fprintf(out,
		"\n'kontend VERB --help' lists the options of a verb; 'kontend live --help' those\n"
		"of kontend without a verb. Manual: kontend-intro(7) explains the words,\n"
		"kontend(1) the options, kontend-views(7) the screens, kontend-stories(7) how to\n"
		"see five known mechanisms of contention.\n");
}

void opts_dump(FILE *out)
{
	for (unsigned i = 0; i < VERBS; i++) {
		const struct opts_verb_info *v = opts_verb_info((enum opts_verb)i);

		for (const struct opts_info *o = opts_table; o->name && !v->hidden; o++) {
			if (!(o->verbs & 1u << i))
				continue;
			fprintf(out, "%s\t", v->name);
			if (o->short_name)
				fprintf(out, "-%c", o->short_name);
			fprintf(out, "\t--%s\t%s\t%s\n", o->name, o->arg ? o->arg : "", o->help);
		}
	}
}
