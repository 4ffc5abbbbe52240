// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the command line by the table of opts-table.c: --name=VALUE, --name VALUE, -xVALUE, -x
 * VALUE, and flags in one word (-vq). Names are not cut short: an option that is added later must
 * not change what a script means; a cut one is what the hint proposes. Nothing here looks at the
 * system, so that a command line means the same everywhere.
 */
#include "kontend/opts.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

struct opts_parser {
	struct opts *o;
	char **argv; /* the next word */
	struct error *err;
};

static void *field(struct opts *o, const struct opts_info *i)
{
	return (char *)o + i->offset;
}

static bool is_given(const struct opts *o, const struct opts_info *i)
{
	const char *at = (const char *)o + i->offset;

	switch (i->kind) {
	case OPTS_FLAG:
		return *(const bool *)at;
	case OPTS_TIME:
	case OPTS_COUNT:
		return *(const uint64_t *)at != 0;
	default:
		return *(const char *const *)at != NULL;
	}
}

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

static int bad_value(const struct opts_parser *p, const struct opts_info *i, const char *value,
		     const char *want)
{
	return error_set(p->err, -EINVAL, "--%s '%s': give %s; see 'kontend %s --help'", i->name,
			 value, want, opts_verb_info(p->o->verb)->name);
}

static int set_time(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	char want[96], least[UNITS_BUF], most[UNITS_BUF];
	uint64_t ns;

	if (units_parse_ns(value, &ns) == 0 && ns >= i->min && ns <= i->max) {
		*(uint64_t *)field(p->o, i) = ns;
		return 0;
	}
	snprintf(want, sizeof(want), "a time from %s to %s, like 2, 1.5s or 500ms",
		 units_ns(least, i->min), units_ns(most, i->max));
	return bad_value(p, i, value, want);
}

static int set_count(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	char want[96];
	uint64_t n;

	if (units_parse_count(value, &n) == 0 && n >= i->min && n <= i->max) {
		*(uint64_t *)field(p->o, i) = n;
		return 0;
	}
	snprintf(want, sizeof(want), "a number from %llu to %llu", (unsigned long long)i->min,
		 (unsigned long long)i->max);
	return bad_value(p, i, value, want);
}

static int set_size(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	char want[96], least[UNITS_BUF];
	uint64_t n;

	if (units_parse_bytes(value, &n) == 0 && n >= i->min && n <= i->max) {
		*(uint64_t *)field(p->o, i) = n;
		return 0;
	}
	snprintf(want, sizeof(want), "a size of at least %s, like 100M or 2G",
		 units_bytes(least, i->min));
	return bad_value(p, i, value, want);
}

static int set_choice(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	char want[160];

	if (*value && opts_has_word(i->words, value, strlen(value))) {
		*(const char **)field(p->o, i) = value;
		return 0;
	}
	snprintf(want, sizeof(want), "one of: %s", i->words);
	return bad_value(p, i, value, want);
}

static int set_text(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	if (!*value)
		return bad_value(p, i, value, "something that is not empty");
	*(const char **)field(p->o, i) = value;
	return 0;
}

static int set_list(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	const char **list = field(p->o, i);
	size_t n = 0;

	while (n < OPTS_LIST_MAX && list[n])
		n++;
	if (!*value)
		return bad_value(p, i, value, "something that is not empty");
	if (n == OPTS_LIST_MAX)
		return error_set(p->err, -EINVAL, "--%s can be given %d times at most", i->name,
				 OPTS_LIST_MAX);
	list[n] = value;
	return 0;
}

static int set_value(const struct opts_parser *p, const struct opts_info *i, const char *value)
{
	switch (i->kind) {
	case OPTS_FLAG:
		*(bool *)field(p->o, i) = true;
		return 0;
	case OPTS_PRESET:
		*(const char **)field(p->o, i) = i->words;
		return 0;
	case OPTS_TEXT:
		return set_text(p, i, value);
	case OPTS_LIST:
		return set_list(p, i, value);
	case OPTS_CHOICE:
		return set_choice(p, i, value);
	case OPTS_TIME:
		return set_time(p, i, value);
	case OPTS_SIZE:
		return set_size(p, i, value);
	case OPTS_LEVEL:
	case OPTS_COUNT:
		return set_count(p, i, value ? value : "1");
	}
	return -EINVAL;
}

/* The argument of @i is @attached, or else the next word. */
static int take_value(struct opts_parser *p, const struct opts_info *i, const char *attached)
{
	if (!i->arg || (!attached && !opts_takes_word(i)))
		return set_value(p, i, NULL);
	if (!attached) {
		if (!*p->argv)
			return error_set(p->err, -EINVAL,
					 "--%s needs a value (%s): see 'kontend %s --help'",
					 i->name, i->arg, opts_verb_info(p->o->verb)->name);
		attached = *p->argv++;
	}
	return set_value(p, i, attached);
}

/* Does another verb know this option? Then say so: a better hint than a similar name. */
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
	if (name[len] == '=' && !i->arg)
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

static int parse_word(struct opts_parser *p, const char *word)
{
	enum opts_verb v = p->o->verb;

	if ((v == VERB_HELP || v == VERB_DUMP || v == VERB_RECOVER || v == VERB_REPLAY ||
	     v == VERB_BENCH) &&
	    !p->o->topic) {
		p->o->topic = word;
		return 0;
	}
	if (v == VERB_DIFF && !p->o->files[1]) {
		p->o->files[p->o->files[0] != NULL] = word;
		return 0;
	}
	if (opts_verb_info(v)->takes_command)
		return error_set(
			p->err, -EINVAL,
			"There is no use for the word '%s': a command to measure comes after "
			"'--', as in 'kontend %s -- %s'",
			word, opts_verb_info(v)->name, word);
	return usage(p, "There is no use for the word", word, NULL);
}

static int parse_command(struct opts_parser *p)
{
	int r = 0;

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

static int check_targets(const struct opts *o, struct error *err)
{
	const char *given[5];
	size_t n = 0;

	if (o->all_cpus)
		given[n++] = "--all-cpus";
	if (o->pids)
		given[n++] = "--pid";
	if (o->tids)
		given[n++] = "--tid";
	if (o->cgroup)
		given[n++] = "--cgroup";
	if (o->command && !o->all_cpus)
		given[n++] = "-- COMMAND";
	if (n > 1)
		return error_set(err, -EINVAL,
				 "%s and %s say two things about what to measure: give one of them",
				 given[0], given[1]);
	return 0;
}

/* A recording has been measured: what says how to measure cannot be meant. */
static int check_input(const struct opts *o, struct error *err)
{
	static const char *const live[] = {
		"all-cpus",   "cpu",	   "pid",      "tid",  "cgroup", "duration",
		"mmap-pages", "max-stack", "no-stack", "demo", "probe",	 "set-mux-interval",
		"call-graph"};

	for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++) {
		const struct opts_info *info = opts_find(o->verb, live[i], strlen(live[i]));

		if (info && is_given(o, info))
			return error_set(err, -EINVAL,
					 "--input reads what has been measured: --%s says how to "
					 "measure, give one of them",
					 info->name);
	}
	if (o->command)
		return error_set(err, -EINVAL,
				 "--input reads what has been measured: there is no use for a "
				 "command");
	return 0;
}

static int check_interval(const struct opts *o, struct error *err)
{
	if (!o->format || strcmp(o->format, "openmetrics") != 0)
		return error_set(err, -EINVAL, "--interval is for --format openmetrics");
	if (!o->output)
		return error_set(err, -EINVAL, "--interval needs --output FILE to write to");
	if (o->input || o->time)
		return error_set(err, -EINVAL,
				 "--interval goes on measuring: there is no use for --%s",
				 o->input ? "input" : "time");
	return 0;
}

/* What says which breakpoint is meant says nothing without --enospc. */
static int check_enospc(const struct opts *o, struct error *err)
{
	static const char *const only[] = {"pid", "tid", "cpu", "addr", "len", "type", "no-bpf"};

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		const struct opts_info *info = opts_find(o->verb, only[i], strlen(only[i]));

		if (info && is_given(o, info))
			return error_set(err, -EINVAL,
					 "--%s is about a breakpoint: give --enospc, too",
					 info->name);
	}
	return 0;
}

static int check_repair(const struct opts *o, struct error *err)
{
	if (o->enospc || o->format || o->output)
		return error_set(err, -EINVAL,
				 "--repair does that and nothing else: there is no use for --%s",
				 o->enospc   ? "enospc"
				 : o->format ? "format"
					     : "output");
	return 0;
}

static int check(const struct opts *o, struct error *err)
{
	if (o->repair && check_repair(o, err) < 0)
		return -EINVAL;
	if (o->verb == VERB_DOCTOR && !o->enospc && check_enospc(o, err) < 0)
		return -EINVAL;
	if (o->mmap_pages & (o->mmap_pages - 1))
		return error_set(err, -EINVAL, "--mmap-pages '%llu': give a power of two, like 128",
				 (unsigned long long)o->mmap_pages);
	if (o->no_stack && o->max_stack)
		return error_set(err, -EINVAL,
				 "--no-stack and --max-stack exclude each other: give one of them");
	if (o->no_stack && o->call_graph)
		return error_set(
			err, -EINVAL,
			"--no-stack and --call-graph exclude each other: give one of them");
	if (o->call_graph && (!o->freq || (o->verb != VERB_LIVE && o->freq == OPTS_FREQ_DEFAULT)))
		return error_set(err, -EINVAL,
				 "--call-graph is about samples: say with --freq how many a second "
				 "are to be taken");
	if (o->probes[0] && (o->cpus || o->cgroup))
		return error_set(err, -EINVAL,
				 "--probe and %s exclude each other: a probe is in processes (-p), "
				 "or in all of them",
				 o->cpus ? "--cpu" : "--cgroup");
	if (o->verb == VERB_RECOVER && !o->topic)
		return error_set(err, -EINVAL,
				 "Give the recording to recover, as in 'kontend recover "
				 "kontend.data'");
	if (o->config && o->no_config)
		return error_set(err, -EINVAL,
				 "--config and --no-config exclude each other: give one of them");
	if (o->verbose && o->quiet)
		return error_set(err, -EINVAL,
				 "--verbose and --quiet exclude each other: give one of them");
	if (o->separator && o->format && strcmp(o->format, "csv") != 0)
		return error_set(err, -EINVAL, "--separator is for CSV, not for --format %s",
				 o->format);
	if (o->separator && strcmp(o->separator, "\\t") != 0 &&
	    (strlen(o->separator) != 1 || strchr("\"\n\r", o->separator[0])))
		return error_set(
			err, -EINVAL,
			"--separator '%s': give one ASCII character that is no quote, or \\t",
			o->separator);
	if (o->files[0] && !o->files[1])
		return error_set(err, -EINVAL,
				 "'%s' is one recording: give two to compare, the old one first",
				 o->files[0]);
	if (o->interval_ns && check_interval(o, err) < 0)
		return -EINVAL;
	if (o->input && check_input(o, err) < 0)
		return -EINVAL;
	return check_targets(o, err);
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

static int parse_verb(struct opts_parser *p)
{
	const char *word = *p->argv;

	if (!word || word[0] == '-') {
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

	*ret = (struct opts){
		.verb = VERB_LIVE, .rows = OPTS_ROWS_DEFAULT, .freq = OPTS_FREQ_DEFAULT};
	r = parse_verb(&p);
	if (r == 0)
		r = parse_words(&p);
	if (r == 0 && !ret->help)
		r = check(ret, err);
	return r;
}
