// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the command line by the table in table.c: --name=VALUE, --name VALUE, -xVALUE, -x VALUE,
 * and flags in one word (-vq). Names cannot be abbreviated: an option that is added later must not
 * change the meaning of a script; the hint proposes the full name. Nothing here depends on the
 * system, so a command line has the same meaning everywhere.
 */
#include "internal.h"
#include "kontend/nearest.h"
#include "kontend/opts.h"

#include <errno.h>
#include <string.h>

const char *opts_nearest(enum opts_verb verb, const char *word)
{
	struct nearest n = {.word = word};

	for (const struct opts_info *o = opts_table; o->name; o++)
		if (o->verbs & 1u << verb)
			nearest_consider(&n, o->name);
	return n.names[0];
}

const char *opts_nearest_verb(const char *word)
{
	struct nearest n = {.word = word};

	for (unsigned v = 0; v < VERBS; v++) {
		const struct opts_verb_info *i = opts_verb_info((enum opts_verb)v);

		if (i->hidden)
			continue;
		nearest_consider(&n, i->name);
		if (i->alias)
			nearest_consider(&n, i->alias);
	}
	return n.names[0];
}

struct opts_parser {
	struct opts *o;
	char **argv; /* the next word */
	struct error *err;
	size_t n_more; /* recordings in o->more */
};

static int usage(const struct opts_parser *p, const char *problem, const char *word,
		 const char *hint)
{
	const char *verb = opts_verb_info(p->o->verb)->name;

	if (hint)
		return error_set(p->err, -EINVAL,
				 "%s '%s': did you mean '%s'? See 'kontend %s --help'", problem,
				 word, hint, verb);
	return error_set(p->err, -EINVAL, "%s '%s': see 'kontend %s --help'", problem, word, verb);
}

/* The argument of @i is @attached, or else the next word. */
static int take_value(struct opts_parser *p, const struct opts_info *i, const char *attached)
{
	if (!attached && (!i->arg || !opts_takes_word(i)))
		return opts_set(p->o, i, NULL, p->err);
	if (!attached) {
		if (!*p->argv)
			return error_set(p->err, -EINVAL,
					 "--%s needs a value (%s): see 'kontend %s --help'",
					 i->name, i->arg, opts_verb_info(p->o->verb)->name);
		attached = *p->argv++;
	}
	return opts_set(p->o, i, attached, p->err);
}

/* If another verb has this option, that is a better hint than a similar name. */
static const char *other_verb(const char *name, size_t len, char short_name)
{
	for (unsigned v = 0; v < VERBS; v++) {
		enum opts_verb verb = (enum opts_verb)v;

		if (name ? opts_find(verb, name, len) : opts_find_short(verb, short_name))
			return opts_verb_info(verb)->name;
	}
	return NULL;
}

static int unknown(const struct opts_parser *p, const char *word, const char *other,
		   const char *nearest)
{
	const char *verb = opts_verb_info(p->o->verb)->name;

	if (other)
		return error_set(p->err, -EINVAL,
				 "'%s' is an option of 'kontend %s', not of 'kontend %s': see "
				 "'kontend %s --help'",
				 word, other, verb, verb);
	return usage(p, "There is no option", word, nearest);
}

static int parse_long(struct opts_parser *p, const char *word)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const struct opts_info *i = opts_find(p->o->verb, name, len);
	char bare[64], hint[64];

	if (!i) {
		snprintf(bare, sizeof(bare), "%.*s", (int)(len < 60 ? len : 60), name);
		const char *nearest = opts_nearest(p->o->verb, bare);

		snprintf(hint, sizeof(hint), "--%s", nearest ? nearest : "");
		return unknown(p, word, other_verb(name, len, 0), nearest ? hint : NULL);
	}
	if (name[len] == '=' && !i->arg && !(i->settings && i->kind == OPTS_FLAG))
		return usage(p, "This option takes no value", word, NULL);
	return take_value(p, i, name[len] == '=' ? name + len + 1 : NULL);
}

static int parse_short(struct opts_parser *p, const char *word)
{
	int r = 0;

	for (const char *c = word + 1; *c && r == 0; c++) {
		const struct opts_info *i = opts_find_short(p->o->verb, *c);
		char name[3] = {'-', *c, '\0'};

		if (!i)
			return unknown(p, *c > 0 ? name : word, other_verb(NULL, 0, *c), NULL);
		if (i->arg && (opts_takes_word(i) || c[1] == '='))
			return take_value(p, i, c[1] ? c + 1 + !opts_takes_word(i) : NULL);
		r = take_value(p, i, NULL);
	}
	return r;
}

/* Adds a recording, for verbs that export or merge several. */
static int parse_more(struct opts_parser *p, const char *word)
{
	if (p->n_more == OPTS_MORE)
		return error_set(p->err, -EINVAL,
				 "'%s' is one recording too many: at most %d are read in one go",
				 word, OPTS_MORE + 1);
	p->o->more[p->n_more++] = word;
	return 0;
}

/* FILE alone is the same as -i FILE. */
static int parse_recording(struct opts_parser *p, const char *word)
{
	if (p->o->input && (p->o->verb == VERB_EXPORT || p->o->verb == VERB_MERGE))
		return parse_more(p, word);
	if (p->o->input)
		return error_set(p->err, -EINVAL,
				 "'%s' and '%s' are two recordings: give one of them; a command to "
				 "measure comes after '--'",
				 p->o->input, word);
	if (p->o->verb == VERB_MERGE) {
		p->o->input = word;
		return 0;
	}
	return opts_set(p->o, opts_find_short(p->o->verb, 'i'), word, p->err);
}

/* Two recordings, or two groups with '--' between them. */
static int parse_compared(struct opts_parser *p, const char *word)
{
	if (p->o->two_groups && word[0] == '-' && word[1])
		return error_set(
			p->err, -EINVAL,
			"'%s' follows '--', where only recordings may be: give options before it",
			word);
	return parse_more(p, word);
}

static int parse_word(struct opts_parser *p, const char *word)
{
	enum opts_verb v = p->o->verb;

	if ((v == VERB_HELP || v == VERB_DUMP || v == VERB_RECOVER || v == VERB_REPLAY ||
	     v == VERB_TOUR || v == VERB_SCREENSHOT || v == VERB_STORY || v == VERB_BENCH ||
	     v == VERB_INCIDENTS) &&
	    !p->o->topic) {
		p->o->topic = word;
		return 0;
	}
	if (v == VERB_CUT || v == VERB_MERGE ||
	    (opts_verb_info(v)->takes_command && opts_find_short(v, 'i')))
		return parse_recording(p, word);
	if (v == VERB_DIFF)
		return parse_compared(p, word);
	if (opts_verb_info(v)->takes_command)
		return error_set(p->err, -EINVAL,
				 "Unexpected argument '%s': a command to measure comes after "
				 "'--', as in 'kontend %s -- %s'",
				 word, opts_verb_info(v)->name, word);
	return usage(p, "Unexpected argument", word, NULL);
}

static int parse_command(struct opts_parser *p)
{
	int r = 0;

	if (p->o->verb == VERB_DIFF) {
		p->o->two_groups = true;
		p->o->n_before = p->n_more;
	}
	if (!opts_verb_info(p->o->verb)->takes_command) {
		while (r == 0 && *p->argv)
			r = parse_word(p, *p->argv++);
		return r;
	}
	if (!*p->argv)
		return error_set(p->err, -EINVAL,
				 "A command must follow '--', as in 'kontend %s -- make -j8'",
				 opts_verb_info(p->o->verb)->name);
	p->o->command = p->argv;
	return 0;
}

static int parse_words(struct opts_parser *p)
{
	int r = 0;

	while (r == 0 && *p->argv && !p->o->help) {
		const char *word = *p->argv++;

		if (strcmp(word, "--") == 0)
			return parse_command(p);
		if (word[0] == '-' && word[1] == '-')
			r = parse_long(p, word);
		else if (word[0] == '-' && word[1])
			r = parse_short(p, word);
		else
			r = parse_word(p, word);
	}
	return r;
}

/* Without a verb, -i FILE shows the recording: is it among the words before a command? */
static bool names_recording(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (!strncmp(*argv, "-i", 2) || !strcmp(*argv, "--input") ||
		    !strncmp(*argv, "--input=", 8))
			return true;
	return false;
}

static int parse_verb(struct opts_parser *p)
{
	const char *word = *p->argv;

	if (!word || word[0] == '-') {
		if (names_recording(p->argv))
			p->o->verb = VERB_REPLAY;
		if (word && (!strcmp(word, "--version") || !strcmp(word, "-V"))) {
			p->o->verb = VERB_VERSION;
			p->argv++;
		} else if (word && (!strcmp(word, "--help") || !strcmp(word, "-h"))) {
			p->o->verb = VERB_HELP;
			p->argv++;
		}
		return 0;
	}
	p->o->verb = opts_verb_find(word);
	if (p->o->verb == VERBS) {
		const char *hint = opts_nearest_verb(word);

		p->o->verb = VERB_HELP;
		return error_set(
			p->err, -EINVAL,
			"There is no verb '%s'%s%s%s 'kontend --help'; a command to measure "
			"comes after '--'",
			word, hint ? ": did you mean '" : ": see", hint ? hint : "",
			hint ? "'? See" : "");
	}
	p->argv++;
	return 0;
}

int opts_parse(struct opts *ret, int argc, char **argv, struct error *err)
{
	struct opts_parser p = {ret, argv + (argc > 0), err};
	int r;

	*ret = (struct opts){.verb = VERB_LIVE,
			     .rows = OPTS_ROWS_DEFAULT,
			     .freq = OPTS_FREQ_DEFAULT,
			     .argv = argv};
	r = parse_verb(&p);
	return r == 0 ? parse_words(&p) : r;
}
