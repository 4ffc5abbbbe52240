// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of the build: writes the completion file of a shell from the tables of verbs and
 * options. It is linked with table.c alone and runs on the build machine, so that cross builds have
 * completions, too. Usage: completions bash|zsh|fish FILE.
 */
#include "kontend/opts.h"
#include "kontend/story-names.h"

#include <stdio.h>
#include <string.h>

static const char *const complete_zsh[] = {
	[COMPLETE_NONE] = "",
	[COMPLETE_FILE] = "_files",
	[COMPLETE_PID] = "_pids",
	[COMPLETE_CGROUP] = "_files -W /sys/fs/cgroup -/",
};

static bool belongs(const struct opts_info *o, unsigned verb)
{
	return (o->verbs & 1u << verb) != 0;
}

/* A visible verb. */
static const struct opts_verb_info *visible(unsigned verb)
{
	const struct opts_verb_info *v = opts_verb_info((enum opts_verb)verb);

	return v->hidden ? NULL : v;
}

static void put_verbs(FILE *out)
{
	for (unsigned v = 0; v < VERBS; v++)
		if (visible(v))
			fprintf(out, "%s%s%s%s", v ? " " : "", visible(v)->name,
				visible(v)->alias ? " " : "",
				visible(v)->alias ? visible(v)->alias : "");
}

/* In single quotes of a shell (fish knows \' inside them, the others do not). */
static void put_quoted(FILE *out, const char *s, const char *quote)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs(quote, out);
		else
			fputc(*s, out);
	}
}

static void bash_values(FILE *out, unsigned verb)
{
	static const char *const how[] = {
		[COMPLETE_NONE] = NULL,
		[COMPLETE_FILE] = "$(compgen -f -- \"$cur\")",
		[COMPLETE_PID] = "$(compgen -W \"$(ps -eo pid=)\" -- \"$cur\")",
		[COMPLETE_CGROUP] = "$(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- \"$cur\")",
	};

	for (const struct opts_info *o = opts_table; o->name; o++) {
		if (!belongs(o, verb) || !opts_takes_word(o))
			continue;
		fprintf(out, "\t%s:--%s", opts_verb_info((enum opts_verb)verb)->name, o->name);
		if (o->short_name)
			fprintf(out, " | %s:-%c", opts_verb_info((enum opts_verb)verb)->name,
				o->short_name);
		fprintf(out, ")\n");
		if (o->words)
			fprintf(out, "\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", o->words);
		else if (how[o->complete])
			fprintf(out, "\t\tCOMPREPLY=(%s)\n", how[o->complete]);
		fprintf(out, "\t\treturn\n\t\t;;\n");
	}
}

static void bash_options(FILE *out, unsigned verb)
{
	fprintf(out, "\t%s) COMPREPLY=($(compgen -W '", opts_verb_info((enum opts_verb)verb)->name);
	for (const struct opts_info *o = opts_table; o->name; o++)
		if (belongs(o, verb))
			fprintf(out, "--%s ", o->name);
	fprintf(out, "' -- \"$cur\")) ;;\n");
}

static void write_bash(FILE *out)
{
	fprintf(out, "# bash completion of kontend, made from its tables\n"
		     "_kontend() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		     "\tlocal verb=live i\n"
		     "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
		     "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
		     "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		     "\t\tcase ${COMP_WORDS[i]} in\n"
		     "\t\t--)\n\t\t\tif ((i + 1 == COMP_CWORD)); then\n"
		     "\t\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n\t\t\telse\n"
		     "\t\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\t\t\tfi\n"
		     "\t\t\treturn\n\t\t\t;;\n\t\tesac\n\tdone\n"
		     "\tcase ${COMP_WORDS[1]-} in\n");
	for (unsigned v = 0; v < VERBS; v++)
		if (visible(v))
			fprintf(out, "\t%s%s%s) ((COMP_CWORD > 1)) && verb=%s ;;\n",
				visible(v)->name, visible(v)->alias ? " | " : "",
				visible(v)->alias ? visible(v)->alias : "", visible(v)->name);
	fprintf(out, "\tesac\n\tcase $verb:$prev in\n");
	for (unsigned v = 0; v < VERBS; v++)
		if (visible(v))
			bash_values(out, v);
	fprintf(out, "\tesac\n\tif [[ $cur != -* ]]; then\n"
		     "\t\tif ((COMP_CWORD == 1)) || [[ $verb == help ]]; then\n"
		     "\t\t\tCOMPREPLY=($(compgen -W '");
	put_verbs(out);
	fprintf(out,
		"' -- \"$cur\"))\n\t\telif [[ $verb == diff || $verb == recover || $verb == cut "
		"|| $verb == replay || $verb == report || $verb == why || $verb == script "
		"|| $verb == export ]]; "
		"then\n"
		"\t\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
		"\t\telif [[ $verb == story ]]; then\n"
		"\t\t\tCOMPREPLY=($(compgen -W '" STORY_NAMES "' -- \"$cur\"))\n"
		"\t\tfi\n\t\treturn\n\tfi\n\tcase $verb in\n");
	for (unsigned v = 0; v < VERBS; v++)
		if (visible(v))
			bash_options(out, v);
	fprintf(out, "\tesac\n}\ncomplete -F _kontend kontend\n");
}

/* Help in the brackets of an _arguments specification. */
static void zsh_help(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '[' || *s == ']' || *s == '\\')
			fputc('\\', out);
		if (*s == '\'')
			fputs("'\\''", out);
		else
			fputc(*s, out);
	}
}

static void zsh_option(FILE *out, const struct opts_info *o)
{
	fprintf(out, "\t\t\t");
	if (o->short_name)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->short_name, o->name, o->short_name,
			opts_takes_word(o) ? "+" : "", o->name, opts_takes_word(o) ? "=" : "");
	else
		fprintf(out, "'%s--%s%s[", o->kind == OPTS_LIST ? "*" : "", o->name,
			opts_takes_word(o) ? "=" : "");
	zsh_help(out, o->help);
	fprintf(out, "]");
	if (o->arg && o->words)
		fprintf(out, ":%s:(%s)", o->arg, o->words);
	else if (opts_takes_word(o))
		fprintf(out, ":%s:%s", o->arg, complete_zsh[o->complete]);
	fprintf(out, "' \\\n");
}

static void write_zsh(FILE *out)
{
	fprintf(out, "#compdef kontend\n"
		     "# zsh completion of kontend, made from its tables\n"
		     "_kontend() {\n\tlocal verb=live\n\tlocal -a verbs\n\tverbs=(\n");
	for (unsigned v = 0; v < VERBS; v++) {
		if (!visible(v))
			continue;
		fprintf(out, "\t\t'%s:", visible(v)->name);
		put_quoted(out, visible(v)->help, "'\\''");
		fprintf(out, "'\n");
	}
	fprintf(out, "\t)\n\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
		     "\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
		     "\tcase $words[2] in\n");
	for (unsigned v = 0; v < VERBS; v++)
		if (visible(v))
			fprintf(out, "\t%s%s%s) verb=%s ;;\n", visible(v)->name,
				visible(v)->alias ? "|" : "",
				visible(v)->alias ? visible(v)->alias : "", visible(v)->name);
	fprintf(out, "\tesac\n\tif [[ $words[2] != -* ]]; then\n"
		     "\t\tshift words\n\t\t((CURRENT--))\n\tfi\n\tcase $verb in\n");
	for (unsigned v = 0; v < VERBS; v++) {
		if (!visible(v))
			continue;
		fprintf(out, "\t%s)\n\t\t_arguments -s \\\n", visible(v)->name);
		for (const struct opts_info *o = opts_table; o->name; o++)
			if (belongs(o, v))
				zsh_option(out, o);
		if (visible(v)->takes_command)
			fprintf(out, "\t\t\t'*:: :_normal'\n\t\t;;\n");
		else if (v == VERB_DIFF || v == VERB_MERGE)
			fprintf(out, "\t\t\t'*:file:_files'\n\t\t;;\n");
		else if (v == VERB_RECOVER || v == VERB_REPLAY || v == VERB_CUT || v == VERB_TOUR ||
			 v == VERB_SCREENSHOT)
			fprintf(out, "\t\t\t'1:file:_files'\n\t\t;;\n");
		else if (v == VERB_STORY)
			fprintf(out, "\t\t\t'1:story:(" STORY_NAMES ")'\n\t\t;;\n");
		else if (v == VERB_HELP) {
			fprintf(out, "\t\t\t'1:verb:(");
			put_verbs(out);
			fprintf(out, ")'\n\t\t;;\n");
		} else
			fprintf(out, "\t\t\t'*: :'\n\t\t;;\n");
	}
	fprintf(out, "\tesac\n}\n_kontend \"$@\"\n");
}

static void fish_option(FILE *out, const struct opts_info *o)
{
	fprintf(out, "complete -c kontend -n '");
	for (unsigned v = 0, n = 0; v < VERBS; v++)
		if (visible(v) && belongs(o, v))
			fprintf(out, "%s__kontend_verb %s", n++ ? "; or " : "", visible(v)->name);
	fprintf(out, "'");
	if (o->short_name)
		fprintf(out, " -s %c", o->short_name);
	fprintf(out, " -l %s", o->name);
	if (opts_takes_word(o))
		fprintf(out, " %s", o->complete == COMPLETE_FILE ? "-r -F" : "-x");
	if (o->arg && o->words)
		fprintf(out, " -a '%s'", o->words);
	else if (o->complete == COMPLETE_PID)
		fprintf(out, " -a '(__fish_complete_pids)'");
	else if (o->complete == COMPLETE_CGROUP)
		fprintf(out, " -a '(__fish_complete_directories)'");
	fprintf(out, " -d '");
	put_quoted(out, o->help, "\\'");
	fprintf(out, "'\n");
}

static void write_fish(FILE *out)
{
	fprintf(out, "# fish completion of kontend, made from its tables\n"
		     "function __kontend_verb\n"
		     "\tset -l words (commandline -opc)\n"
		     "\tset -l verb live\n"
		     "\tif set -q words[2]; and not string match -q -- '-*' $words[2]\n"
		     "\t\tset verb $words[2]\n\tend\n"
		     "\ttest $verb = top; and set verb live\n"
		     "\ttest $verb = $argv[1]\nend\n"
		     "function __kontend_first\n"
		     "\ttest (count (commandline -opc)) -eq 1\nend\n"
		     "complete -c kontend -f\n");
	for (unsigned v = 0; v < VERBS; v++) {
		if (!visible(v))
			continue;
		fprintf(out,
			"complete -c kontend -n '__kontend_first; or __kontend_verb help' -a %s "
			"-d '",
			visible(v)->name);
		put_quoted(out, visible(v)->help, "\\'");
		fprintf(out, "'\n");
	}
	fprintf(out,
		"complete -c kontend -n '__kontend_verb diff; or __kontend_verb recover; or "
		"__kontend_verb cut; or "
		"__kontend_verb report; or __kontend_verb script; or __kontend_verb export; or "
		"__kontend_verb replay' -F\n");
	fprintf(out, "complete -c kontend -n '__kontend_verb story' -a '" STORY_NAMES "'\n");
	for (const struct opts_info *o = opts_table; o->name; o++)
		fish_option(out, o);
}

int main(int argc, char **argv)
{
	FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;

	if (!out)
		return 1;
	if (!strcmp(argv[1], "bash"))
		write_bash(out);
	else if (!strcmp(argv[1], "zsh"))
		write_zsh(out);
	else
		write_fish(out);
	return ferror(out) || fclose(out) ? 1 : 0;
}
