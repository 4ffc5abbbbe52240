// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options in a configuration. Each value is tried at once on unused options, for every verb that it
 * is for: so whether a configuration is valid does not depend on how it is used. Each option is set
 * at most once per section, so settings have no order. An option that a command line may repeat is
 * a list, in the order of its lines; the command line replaces the whole list. Of options that
 * exclude each other, those in the verb's section win, then the first in the table.
 */
#include "kontend/settings.h"
#include "internal.h"
#include "kontend/nearest.h"

#include <errno.h>
#include <string.h>

/* A setting yields to options that exclude it. */
static const struct {
	const char *setting, *to;
} gives_way[] = {
	{"max-stack", "no-stack"},   {"no-stack", "max-stack"}, {"no-stack", "call-graph"},
	{"call-graph", "no-stack"},  {"owner", "no-bpf"},	{"switches", "no-switches"},
	{"no-switches", "switches"}, {"follow", "no-follow"},	{"no-follow", "follow"},
	{"follow", "no-bpf"},
};

static bool has_section(enum opts_verb v)
{
	for (const struct opts_info *i = opts_table; i->name; i++)
		if (i->settings & 1u << v)
			return true;
	return false;
}

int settings_section(const char *name)
{
	if (strcmp(name, "options") == 0)
		return VERBS;
	for (unsigned v = 0; v < VERBS; v++)
		if (has_section((enum opts_verb)v) &&
		    strcmp(opts_verb_info((enum opts_verb)v)->name, name) == 0)
			return (int)v;
	return -EINVAL;
}

/* The next row of the table after @last for this setting of @section; NULL: none. */
static const struct opts_info *next_row(enum opts_verb section, const char *name,
					const struct opts_info *last)
{
	unsigned of = section == VERBS ? ~0u : 1u << section;

	for (const struct opts_info *i = last ? last + 1 : opts_table; i->name; i++)
		if (i->settings & of && strcmp(i->name, name) == 0)
			return i;
	return NULL;
}

static enum opts_verb first_verb(unsigned verbs)
{
	unsigned v = 0;

	while (!(verbs & 1u << v))
		v++;
	return (enum opts_verb)v;
}

static bool is_option(const char *name)
{
	for (const struct opts_info *i = opts_table; i->name; i++)
		if (strcmp(i->name, name) == 0)
			return true;
	return false;
}

/* No setting has this name there. */
static int complain_name(const struct config_line *l, enum opts_verb section, struct error *err)
{
	struct nearest n = {.word = l->key};

	if (section != VERBS && next_row(VERBS, l->key, NULL))
		return error_set(err, -EINVAL, "'%s' is not a setting of 'kontend %s'", l->key,
				 l->section);
	if (is_option(l->key))
		return error_set(err, -EINVAL,
				 "--%s is only for the command line: kontend-config(5) lists the "
				 "settings of [%s]",
				 l->key, l->section);
	for (const struct opts_info *i = opts_table; i->name; i++)
		if (section == VERBS ? i->settings : i->settings & 1u << section)
			nearest_consider(&n, i->name);
	if (n.names[0])
		return error_set(err, -EINVAL,
				 "there is no setting '%s' in [%s]: did you mean '%s'?", l->key,
				 l->section, n.names[0]);
	return error_set(err, -EINVAL,
			 "there is no setting '%s' in [%s]: kontend-config(5) lists them", l->key,
			 l->section);
}

/* Checks the value for each verb that the setting is for. */
static int try_value(const struct config_line *l, enum opts_verb section, struct error *err)
{
	const struct opts_info *i = NULL;
	int r = 0;

	while (r == 0 && (i = next_row(section, l->key, i))) {
		struct opts scratch = {.verb = first_verb(i->settings)};

		r = opts_set(&scratch, i, l->value, err);
	}
	return r;
}

static const struct setting *find_setting(const struct settings *s, enum opts_verb section,
					  const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->list[i].section == section && strcmp(s->list[i].name, name) == 0)
			return &s->list[i];
	return NULL;
}

static unsigned count(const struct settings *s, enum opts_verb section, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->list[i].section == section && strcmp(s->list[i].name, name) == 0;
	return n;
}

int settings_add(struct settings *s, const struct config_line *l, struct error *err)
{
	int code = settings_section(l->section);
	enum opts_verb section = (enum opts_verb)code;
	const struct opts_info *first;

	if (code < 0)
		return error_set(err, -EINVAL, "there is no section [%s]", l->section);
	first = next_row(section, l->key, NULL);
	if (!first)
		return complain_name(l, section, err);
	if (first->kind != OPTS_LIST && find_setting(s, section, first->name))
		return error_set(err, -EINVAL, "%s has been set in [%s] before", l->key,
				 l->section);
	if (strlen(l->value) >= SETTING_VALUE)
		return error_set(err, -EINVAL, "the value of %s has more than %d characters",
				 l->key, SETTING_VALUE - 1);
	if (s->n == SETTINGS_MOST)
		return error_set(err, -EINVAL, "there are more than %d settings", SETTINGS_MOST);
	if (first->kind == OPTS_LIST && count(s, section, first->name) == OPTS_LIST_MAX)
		return error_set(err, -EINVAL, "%s is set more than %d times in [%s]", l->key,
				 OPTS_LIST_MAX, l->section);
	if (try_value(l, section, err) < 0)
		return -EINVAL;
	struct setting *new = &s->list[s->n++];
	new->section = section;
	new->name = first->name;
	memcpy(new->value, l->value, strlen(l->value) + 1);
	return 0;
}

/* The command line wins, and so do earlier settings. */
static bool has_to_yield(const struct opts *o, const struct opts_info *i)
{
	if (opts_is_said(o, i) || (o->input && i->measures))
		return true;
	for (size_t k = 0; k < sizeof(gives_way) / sizeof(gives_way[0]); k++) {
		const char *to = gives_way[k].to;
		const struct opts_info *other = opts_find(o->verb, to, strlen(to));

		if (strcmp(gives_way[k].setting, i->name) == 0 && other && opts_is_given(o, other))
			return true;
	}
	return false;
}

/* Of a list, applies all lines. */
static void apply_one(const struct settings *s, enum opts_verb section, const struct opts_info *i,
		      struct opts *o)
{
	struct error none = {0};

	for (unsigned k = 0; k < s->n; k++)
		if (s->list[k].section == section && strcmp(s->list[k].name, i->name) == 0)
			opts_set(o, i, s->list[k].value, &none); /* tried before */
}

static void apply_section(const struct settings *s, enum opts_verb section, struct opts *o)
{
	for (const struct opts_info *i = opts_table; i->name; i++)
		if (i->settings & 1u << o->verb && !has_to_yield(o, i))
			apply_one(s, section, i, o);
}

/* Both are for the locks table and have no meaning for others. */
static void place_order(struct opts *o, bool by, bool sort)
{
	const char *set_by = by ? o->by : NULL, *set_sort = sort ? o->sort : NULL;
	bool other = o->annotate || (o->view && strcmp(o->view, "locks") != 0);

	if (o->verb != VERB_REPORT) {
		o->locks_by = set_by;
		o->locks_sort = set_sort;
	}
	if (by && (other || o->verb != VERB_REPORT))
		o->by = NULL;
	if (sort && (other || o->verb != VERB_REPORT))
		o->sort = NULL;
}

void settings_apply(const struct settings *s, struct opts *o)
{
	const bool by = !o->by, sort = !o->sort, call_graph = !o->call_graph;
	const uint64_t freq = o->freq;

	apply_section(s, o->verb, o);
	apply_section(s, VERBS, o);
	if (!opts_samples(o)) {
		if (call_graph)
			o->call_graph = NULL;
		else
			o->freq = freq;
	}
	place_order(o, by, sort);
}

/* Verbs that have a setting of this name. */
static unsigned verbs_of(const char *name)
{
	unsigned verbs = 0;

	for (const struct opts_info *i = NULL; (i = next_row(VERBS, name, i));)
		verbs |= i->settings;
	return verbs;
}

void settings_dump(FILE *out)
{
	for (const struct opts_info *i = opts_table; i->name; i++) {
		if (!i->settings || next_row(VERBS, i->name, NULL) != i)
			continue;
		fprintf(out, "%s\t%s", i->name, i->arg ? i->arg : "yes|no");
		for (unsigned v = 0; v < VERBS; v++)
			if (verbs_of(i->name) & 1u << v)
				fprintf(out, "\t%s", opts_verb_info((enum opts_verb)v)->name);
		fputc('\n', out);
	}
}
