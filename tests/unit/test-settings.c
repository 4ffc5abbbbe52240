// SPDX-License-Identifier: GPL-2.0-only
/* Options that a configuration sets: what it may say, and what goes before what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 16 };

static int take_line(void *ctx, const struct config_line *l, struct error *err)
{
	return settings_add(ctx, l, err);
}

static int read_settings(struct settings *s, const char *text, struct error *err)
{
	const struct config_reader r = {take_line, s};

	*s = (struct settings){0};
	*err = (struct error){0};
	return config_parse(text, strlen(text), "file", &r, err);
}

/* The settings of the command line "a b c" with the configuration @text. */
static void with(struct opts *o, struct settings *s, const char *text, const char *line)
{
	static char copy[256];
	static char name[] = "kontend";
	char *argv[WORDS + 1] = {name};
	struct error err;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w && argc < WORDS; w = strtok(NULL, " "))
		argv[argc++] = w;
	if (read_settings(s, text, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(opts_parse(o, argc, argv, &err), 0);
	settings_apply(s, o);
	if (opts_check(o, &err) < 0)
		fail_msg("'%s' below '%s': %s", line, text, err.text);
}

static void assert_refused(const char *text, const char *part)
{
	struct settings s;
	struct error err;

	assert_int_equal(read_settings(&s, text, &err), -EINVAL);
	if (!strstr(err.text, part))
		fail_msg("'%s' says '%s', not '%s'", text, err.text, part);
}

static void every_kind_of_value(void **state)
{
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s,
	     "[options]\ndelay = 500ms\nfreq = 99\nmmap-pages = 64\ntheme = mono\nascii = yes\n"
	     "percent-limit = 2.5\nno-mouse = no\ncall-graph = dwarf,4096\n[record]\ncompress = "
	     "3\n",
	     "live");
	assert_int_equal(o.delay_ns, 500000000);
	assert_int_equal(o.freq, 99);
	assert_int_equal(o.mmap_pages, 64);
	assert_string_equal(o.theme, "mono");
	assert_string_equal(o.percent_limit, "2.5");
	assert_string_equal(o.call_graph, "dwarf,4096");
	assert_true(o.ascii);
	assert_false(o.no_mouse);
	assert_int_equal(o.compress, 0);
	with(&o, &s, "[record]\ncompress = 3\n[options]\ntheme = mono\n", "record");
	assert_int_equal(o.compress, 3);
	assert_null(o.theme); /* nothing to record with */
}

static void command_line_wins(void **state)
{
	static const char text[] =
		"[options]\ndelay=2s\nfreq=99\nascii=yes\nrows=5\nno-stack=yes\ncolor=never\n";
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, text, "-d 3s -F 0 --ascii=no --color always");
	assert_int_equal(o.delay_ns, 3000000000);
	assert_int_equal(o.freq, 0);
	assert_false(o.ascii);
	assert_string_equal(o.color, "always");
	assert_true(o.no_stack);
	with(&o, &s, text, "report -n 0");
	assert_int_equal(o.rows, 0);
	with(&o, &s, text, "report");
	assert_int_equal(o.rows, 5);
}

static void section_of_verb_goes_before(void **state)
{
	static const char text[] = "[options]\nfreq = 99\nno-inline = yes\nno-stack = yes\n"
				   "[report]\nfreq = 0\nno-inline = no\nmax-stack = 20\n";
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, text, "report");
	assert_int_equal(o.freq, 0);
	assert_false(o.no_inline);
	assert_int_equal(o.max_stack, 20);
	assert_false(o.no_stack);
	with(&o, &s, text, "export");
	assert_int_equal(o.freq, 99);
	assert_true(o.no_inline && o.no_stack);
}

static void senseless_ones_give_way(void **state)
{
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, "[options]\nno-stack = yes", "--max-stack 5");
	assert_false(o.no_stack);
	with(&o, &s, "[options]\nno-stack = yes", "--call-graph fp");
	assert_false(o.no_stack);
	with(&o, &s, "[options]\nmax-stack = 5", "--no-stack");
	assert_int_equal(o.max_stack, 0);
	with(&o, &s, "[options]\nno-stack = yes\nmax-stack = 5", "");
	assert_int_equal(o.max_stack, 5);
	with(&o, &s, "[options]\nowner = yes", "--no-bpf");
	assert_false(o.owner);
	with(&o, &s, "[options]\nno-switches = yes", "--switches 50ms");
	assert_false(o.no_switches);
	with(&o, &s, "[options]\nswitches = 50ms", "--no-switches");
	assert_int_equal(o.switches_ns, 0);
	with(&o, &s, "[options]\nmmap-pages = 64\ndelay = 2s", "report -i file");
	assert_int_equal(o.mmap_pages, 0);
	assert_int_equal(o.delay_ns, 2000000000);
}

static void call_graphs_are_of_samples(void **state)
{
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, "[options]\ncall-graph = dwarf", "report");
	assert_null(o.call_graph);
	with(&o, &s, "[options]\ncall-graph = dwarf", "report -F 99");
	assert_string_equal(o.call_graph, "dwarf");
	with(&o, &s, "[options]\ncall-graph = dwarf", "-F 0");
	assert_null(o.call_graph);
	with(&o, &s, "[report]\ncall-graph = dwarf\n[options]\nfreq = 99", "report");
	assert_string_equal(o.call_graph, "dwarf");
	with(&o, &s, "[options]\nfreq = 0", "--call-graph dwarf");
	assert_true(o.freq == OPTS_FREQ_DEFAULT);
	with(&o, &s, "[options]\nfreq = 99", "report --call-graph lbr");
	assert_string_equal(o.call_graph, "lbr");
}

static void order_is_of_locks(void **state)
{
	static const char text[] = "[options]\nby = caller\nsort = max_ns\n";
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, text, "");
	assert_null(o.by);
	assert_null(o.sort);
	assert_string_equal(o.locks_by, "caller");
	assert_string_equal(o.locks_sort, "max_ns");
	with(&o, &s, text, "--view hot --sort self");
	assert_string_equal(o.sort, "self");
	assert_null(o.locks_sort);
	assert_string_equal(o.locks_by, "caller");
	with(&o, &s, text, "report");
	assert_string_equal(o.by, "caller");
	assert_string_equal(o.sort, "max_ns");
	with(&o, &s, text, "report --view slots");
	assert_null(o.by);
	assert_null(o.sort);
	with(&o, &s, text, "report --view locks --by task");
	assert_string_equal(o.by, "task");
	assert_string_equal(o.sort, "max_ns");
	with(&o, &s, text, "report --annotate f");
	assert_null(o.sort);
}

static void what_is_wrong_names_its_line(void **state)
{
	char text[512];

	(void)state;
	assert_refused("[options]\n\nfrq = 3",
		       "file:3: there is no setting 'frq' in [options]: did "
		       "you mean 'freq'?");
	assert_refused("[options]\nzzzzzzzzzz = 3", "kontend-config(5) lists them");
	assert_refused("[options]\npid = 3", "file:2: --pid is only for the command line");
	assert_refused("[report]\ntheme = mono", "'theme' is not a setting of 'kontend report'");
	assert_refused("[doctor]\nno-bpf = yes", "there is no section [doctor]");
	assert_refused("[top]\nfreq = 3", "there is no section [top]");
	assert_refused("[options]\nfreq = 3\nfreq = 3", "file:3: freq has been set in [options]");
	assert_refused("[options]\nmmap-pages = 100", "a power of two");
	assert_refused("[options]\ndelay = 1h", "from 100ms to");
	assert_refused("[options]\nascii = maybe", "yes or no");
	assert_refused("[options]\nascii = YES", "yes or no");
	assert_refused("[options]\npercent-limit = 1e9", "from 0 to 100");
	assert_refused("[options]\npercent-limit = nan", "from 0 to 100");
	assert_refused("[options]\ntheme = dark", "give one of: default");
	/* A value for `report`, and not for `live`, which [options] is about, too. */
	assert_refused("[options]\nby = symbol", "give one of: lock");
	snprintf(text, sizeof(text), "[options]\nsort = %0*d", SETTING_VALUE, 0);
	assert_refused(text, "more than 159 characters");
}

/* Options that a command line may repeat. */
static void lists(void **state)
{
	static const char text[] = "[options]\ntrigger = a>1\n[record]\ntrigger = wait>5ms\n"
				   "pre = 3s\ntrigger = waiting>20\ntrigger = wait>5ms\n";
	char many[OPTS_LIST_MAX * 16 + 64] = "[record]\n";
	struct settings s;
	struct opts o;

	(void)state;
	with(&o, &s, text, "record");
	assert_string_equal(o.triggers[0], "wait>5ms");
	assert_string_equal(o.triggers[1], "waiting>20");
	assert_string_equal(o.triggers[2], "wait>5ms");
	assert_null(o.triggers[3]); /* the section of the verb goes before */
	assert_int_equal(o.pre_ns, 3000000000);
	with(&o, &s, text, "record --trigger deadlock");
	assert_string_equal(o.triggers[0], "deadlock");
	assert_null(o.triggers[1]);
	for (int i = 0; i < OPTS_LIST_MAX; i++)
		strcat(many, "trigger = wait>1\n");
	with(&o, &s, many, "record");
	assert_non_null(o.triggers[OPTS_LIST_MAX - 1]);
	strcat(many, "trigger = wait>1\n");
	assert_refused(many, "file:34: trigger is set more than 32 times in [record]");
}

/* Settings that a service applies when it reads its configuration again; reports on the rest. */
static void reloaded(void **state)
{
	struct settings was, now;
	struct opts o, new;
	char rest[200];

	(void)state;
	with(&o, &was, "[record]\ntrigger=a\ntrigger=b\npre=3s\npost=1s\nmax-files=5\ncompress=3\n",
	     "record --max-size 1G");
	with(&new, &now,
	     "[record]\ntrigger=b\npre=4s\npost=2s\nmax-size=2G\nmax-age=2d\nmmap-pages=64\n"
	     "compress=3\n",
	     "record --max-size 1G");
	opts_reload(&o, &new, rest, sizeof(rest));
	assert_string_equal(rest, "mmap-pages, pre");
	assert_string_equal(o.triggers[0], "b");
	assert_ptr_equal(o.triggers[0], new.triggers[0]); /* the texts of before may go */
	assert_null(o.triggers[1]);
	assert_int_equal(o.post_ns, 2000000000);
	assert_int_equal(o.max_files, 0);
	assert_int_equal(o.max_size, 1 << 30);
	assert_int_equal(o.max_age_ns, 172800000000000);
	assert_int_equal(o.pre_ns, 3000000000);
	assert_int_equal(o.mmap_pages, 0);
	opts_reload(&o, &new, rest, 8);
	assert_string_equal(rest, "mmap-pa"); /* cut where there is no room */
	new.pre_ns = o.pre_ns;
	new.mmap_pages = 0;
	opts_reload(&o, &new, rest, sizeof(rest));
	assert_string_equal(rest, "");
}

/* All that can be set is an option of each of its verbs, and there is room for all of it. */
static void table_holds_together(void **state)
{
	unsigned n = 0;

	(void)state;
	for (const struct opts_info *i = opts_table; i->name; i++) {
		assert_int_equal(i->settings & ~i->verbs, 0);
		assert_true(!i->reloads || i->settings);
		if (!i->settings)
			continue;
		assert_true(i->kind != OPTS_PRESET);
		n += 1 + (unsigned)__builtin_popcount(i->settings);
	}
	assert_in_range(n, 20, SETTINGS_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value),
		cmocka_unit_test(command_line_wins),
		cmocka_unit_test(section_of_verb_goes_before),
		cmocka_unit_test(senseless_ones_give_way),
		cmocka_unit_test(call_graphs_are_of_samples),
		cmocka_unit_test(order_is_of_locks),
		cmocka_unit_test(what_is_wrong_names_its_line),
		cmocka_unit_test(lists),
		cmocka_unit_test(reloaded),
		cmocka_unit_test(table_holds_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
