// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/caught.h"
#include "kontend/demo.h"
#include "kontend/export-formats.h"
#include "kontend/opts.h"
#include "kontend/query.h"
#include "kontend/report.h"
#include "kontend/view.h"
#include "widgets/theme.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 40 };

/* Parses "a b c" as a command line after the program's name. */
static int parse(struct opts *o, const char *line, struct error *err)
{
	static char copy[512];
	static char *argv[WORDS + 1];
	static char name[] = "kontend";
	int argc = 0;

	*err = (struct error){0};
	snprintf(copy, sizeof(copy), "%s", line);
	argv[argc++] = name;
	for (char *w = strtok(copy, " "); w && argc < WORDS; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	int r = opts_parse(o, argc, argv, err);
	return r == 0 && !o->help ? opts_check(o, err) : r;
}

static void assert_parses(struct opts *o, const char *line)
{
	struct error err;

	if (parse(o, line, &err) != 0)
		fail_msg("'%s': %s", line, err.text);
}

static void assert_fails(const char *line, const char *part)
{
	struct opts o;
	struct error err;

	assert_int_equal(parse(&o, line, &err), -EINVAL);
	if (!strstr(err.text, part))
		fail_msg("'%s' says '%s', not '%s'", line, err.text, part);
}

/* Each format of the list is a choice, and is the one that the verb gets. */
static void test_export_formats(void **state)
{
	static const char *const names[] = {
#define NAME(NAME, word, help, name, note) name,
		EXPORT_FORMATS(NAME)
#undef NAME
	};
	char line[64];
	struct opts o;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(line, sizeof(line), "export --format %s", names[i]);
		assert_parses(&o, line);
		assert_int_equal(export_format_of(&o), i);
	}
	assert_parses(&o, "export");
	assert_int_equal(export_format_of(&o), EXPORT_FOLDED);
	assert_fails("export --format svg", "pprof otlp-development ndjson");
}

static void test_verbs(void **state)
{
	struct opts o;

	(void)state;
	assert_parses(&o, "");
	assert_int_equal(o.verb, VERB_LIVE);
	assert_true(o.rows == OPTS_ROWS_DEFAULT);
	assert_parses(&o, "top");
	assert_int_equal(o.verb, VERB_LIVE);
	assert_parses(&o, "--demo");
	assert_int_equal(o.verb, VERB_LIVE);
	assert_true(o.demo);
	assert_parses(&o, "report");
	assert_int_equal(o.verb, VERB_REPORT);
	assert_parses(&o, "--version");
	assert_int_equal(o.verb, VERB_VERSION);
	assert_parses(&o, "-h");
	assert_int_equal(o.verb, VERB_HELP);
	assert_parses(&o, "help report");
	assert_string_equal(o.topic, "report");
	assert_parses(&o, "-- sleep 1");
	assert_int_equal(o.verb, VERB_LIVE);
	assert_string_equal(o.command[0], "sleep");
}

static void test_values(void **state)
{
	struct opts o;

	(void)state;
	assert_parses(&o, "report --duration 1.5s -C0-3 --pid=1,2 -vj -n 7 --mmap-pages 64");
	assert_int_equal(o.duration_ns, 1500000000);
	assert_string_equal(o.cpus, "0-3");
	assert_string_equal(o.pids, "1,2");
	assert_true(o.verbose);
	assert_string_equal(o.format, "json");
	assert_int_equal(o.rows, 7);
	assert_int_equal(o.mmap_pages, 64);
	assert_parses(&o, "-d 100ms --color=never --theme cvd --view cpus --ascii");
	assert_int_equal(o.delay_ns, 100000000);
	assert_string_equal(o.color, "never");
	assert_string_equal(o.theme, "cvd");
	assert_string_equal(o.view, "cpus");
	assert_true(o.ascii);
	assert_parses(&o, "report -n 0");
	assert_int_equal(o.rows, 0);
	assert_parses(&o, "report -x \\t");
	assert_string_equal(o.separator, "\\t");
}

static void test_command(void **state)
{
	struct opts o;

	(void)state;
	assert_parses(&o, "report -a -- report --zzz -- x");
	assert_string_equal(o.command[0], "report");
	assert_string_equal(o.command[1], "--zzz");
	assert_string_equal(o.command[2], "--");
	assert_string_equal(o.command[3], "x");
	assert_null(o.command[4]);
}

static void test_help_wins(void **state)
{
	struct opts o;

	(void)state;
	assert_parses(&o, "report --help --zzz");
	assert_true(o.help);
	assert_parses(&o, "report -p 1 -t 1 -h");
	assert_true(o.help);
}

/* A word that the option takes as its argument. */
static const char *some_value(const struct opts_info *i, char buf[64])
{
	switch (i->kind) {
	case OPTS_CHOICE:
		snprintf(buf, 64, "%.*s", (int)strcspn(i->words, " "), i->words);
		return buf;
	case OPTS_TIME:
		snprintf(buf, 64, "%llus", (unsigned long long)(i->min / 1000000000 + 1));
		return buf;
	case OPTS_TEXT:
		return strcmp(i->name, "separator") ? "fp" : ";";
	case OPTS_LIST:
		return !strcmp(i->name, "zoom")	     ? "pid=1"
		       : !strcmp(i->name, "trigger") ? "wait>1s"
						     : "a:b";
	default:
		snprintf(buf, 64, "%llu", (unsigned long long)(i->min ? i->min : 1));
		return buf;
	}
}

/*
 * Options that have a meaning with --input. A new option has none until it is listed here, so that
 * no option about measuring is accepted and then ignored.
 */
static const char shows_recordings[] =
	"lengths fields cpu pid tid cgroup lock caller stack min-wait "
	"input delay view time by group annotate no-source no-inline debuginfod no-symbol-cache "
	"kallsyms vmlinux symfs trust-paths "
	"no-sandbox "
	"sort reverse filter memory rows threads verdict format weight zoom mark-kernel json "
	"separator "
	"output trigger cooldown "
	"bucket tables compress percent-limit config no-config verbose quiet help";

static void check_beside_input(enum opts_verb verb, const struct opts_info *i)
{
	const char *name = opts_verb_info(verb)->name;
	char line[200], value[64];
	struct opts o;
	struct error err;

	if (i->arg)
		snprintf(line, sizeof(line), "%s -i f --%s=%s", name, i->name,
			 some_value(i, value));
	else
		snprintf(line, sizeof(line), "%s -i f --%s", name, i->name);

	int r = parse(&o, line, &err);

	/* When measuring, --event is what to sample on; of a recording, what to show. */
	assert_int_equal(i->reads, !strcmp(i->name, "event"));
	if (i->reads) {
		assert_true(i->measures);
		assert_int_equal(r, 0);
		return;
	}
	if (opts_has_word(shows_recordings, i->name, strlen(i->name))) {
		assert_false(i->measures);
		return;
	}
	if (r != -EINVAL || !(strstr(err.text, "--input") || strstr(err.text, "--interval is")))
		fail_msg("'%s': %d %s", line, r, err.text);
}

static void test_all_beside_input(void **state)
{
	static const enum opts_verb verbs[] = {VERB_REPORT, VERB_SCRIPT, VERB_EXPORT};

	(void)state;
	for (size_t v = 0; v < sizeof(verbs) / sizeof(*verbs); v++)
		for (const struct opts_info *i = opts_table; i->name; i++)
			if (i->verbs & 1u << verbs[v])
				check_beside_input(verbs[v], i);
	assert_fails("script -i f -F 1", "--freq is for measuring");
	assert_fails("report -i f -F 0", "--freq is for measuring");
	assert_fails("report --threads 2", "--threads is for reading a recording");
	assert_fails("script --no-sandbox", "--no-sandbox is for reading a recording");
}

static void test_bad(void **state)
{
	struct opts o;

	(void)state;
	/* Without a verb, -i is of a recording. */
	assert_parses(&o, "-q -i f");
	assert_int_equal(o.verb, VERB_REPLAY);
	assert_string_equal(o.input, "f");
	assert_parses(&o, "--input=f");
	assert_int_equal(o.verb, VERB_REPLAY);
	assert_parses(&o, "-- x -i f");
	assert_int_equal(o.verb, VERB_LIVE);
	assert_fails("-i f -F 9", "not of 'kontend replay'");
	assert_parses(&o, "replay -i f");
	assert_string_equal(o.input, "f");
	assert_fails("replay -i f g", "two recordings");
	assert_fails("reprot", "did you mean 'report'");
	assert_fails("report --dely 3", "did you mean '--delay'");
	assert_fails("report --zzzz", "There is no option '--zzzz': see");
	assert_fails("report -xyz", "--separator 'yz'");
	assert_fails("report -\x80", "There is no option '-");
	assert_fails("report --=3", "There is no option");
	assert_fails("-d 0.09", "from 100ms to 1m00s");
	assert_fails("-d -1", "from 100ms");
	assert_fails("-d 1e1", "from 100ms");
	assert_fails("report -m 99999999999999999999", "a number from 1 to 65536");
	assert_fails("report -m 6", "power of two");
	assert_fails("report -p 1 -p 2 -G /", "--pid and --cgroup");
	assert_fails("record x", "comes after '--'");
	assert_parses(&o, "report x -j");
	assert_string_equal(o.input, "x");
	assert_fails("script x -F 1", "--freq is for measuring");
	assert_fails("report x y", "two recordings");
	assert_fails("export -i x y", "comes after '--'");
	assert_fails("report x -- true", "leave out the command");
	assert_parses(&o, "recover -i x");
	assert_string_equal(o.topic, "x");
	assert_fails("demo -- x", "Unexpected argument 'x'");
	assert_fails("help a b", "Unexpected argument 'b'");
	assert_fails("report -i x --set-mux-interval cpu=8", "--set-mux-interval is for measuring");
	assert_fails("doctor --repair --enospc", "leave out --enospc");
}

static void assert_overhead(const char *text, uint32_t expected)
{
	const struct opts o = {.verb = VERB_RECORD, .max_overhead = text};
	uint32_t ppm = 1;

	assert_int_equal(opts_overhead(&o, &ppm, NULL), 0);
	assert_int_equal(ppm, expected);
}

static void assert_sleeps_limit(const char *text, uint32_t expected)
{
	const struct opts o = {.verb = VERB_RECORD, .max_overhead = text};

	assert_int_equal(opts_sleeps_ppm(&o), expected);
}

static void assert_default_overhead(const char *line, uint32_t expected)
{
	struct error err;
	struct opts o;
	uint32_t ppm;

	assert_parses(&o, line);
	assert_int_equal(opts_overhead(&o, &ppm, &err), 0);
	assert_int_equal(ppm, expected);
}

/* Waits that triggers ask for are reported at any cost. */
static void test_what_is_told_at_any_cost(void **state)
{
	struct opts o;

	(void)state;
	assert_parses(&o, "record");
	assert_int_equal(caught_floor_ns(&o), 0);
	assert_parses(&o, "record --trigger hand");
	assert_int_equal(caught_floor_ns(&o), 16384000);
	assert_parses(&o, "record --trigger wait>300ms --trigger waiting>20");
	assert_int_equal(caught_floor_ns(&o), 16384000);
	assert_parses(&o, "record --trigger wait>5ms --trigger blocked>2ms --trigger wait/s>1us");
	assert_int_equal(caught_floor_ns(&o), 2000000);
}

static void test_overhead(void **state)
{
	struct opts o;

	(void)state;
	assert_overhead(NULL, 0);
	assert_overhead("off", 0);
	assert_overhead("1%", 10000);
	assert_overhead("0.5", 5000);
	assert_overhead("0.01%", 100);
	assert_overhead("100%", 1000000);
	assert_sleeps_limit(NULL, 20000);
	assert_sleeps_limit("off", 1000000);
	assert_sleeps_limit("0.5", 5000);
	assert_default_overhead("record", 0);
	assert_default_overhead("record --trigger wait>5ms", 10000);
	assert_default_overhead("record --trigger wait>5ms --max-overhead off", 0);
	assert_parses(&o, "record --max-overhead 1% --min-wait 10us");
	assert_int_equal(o.min_wait_ns, 10000);
	assert_fails("report --max-overhead 0", "give a percentage");
	assert_fails("report --max-overhead 101%", "give a percentage");
	assert_fails("report --max-overhead -1", "give a percentage");
	assert_fails("report --max-overhead nan", "give a percentage");
	assert_fails("report --max-overhead 1%%", "give a percentage");
	assert_fails("script --max-overhead 1%", "is an option of 'kontend live'");
}

/* A name that is longer than any table expects must not be read beyond. */
static void test_long_words(void **state)
{
	struct opts o;
	struct error err = {0};
	char word[4096], program[] = "kontend";
	char *argv[] = {program, word, NULL};

	(void)state;
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(opts_parse(&o, 2, argv, &err), -EINVAL);
	word[0] = word[1] = '-';
	err = (struct error){0};
	assert_int_equal(opts_parse(&o, 2, argv, &err), -EINVAL);
	assert_null(opts_nearest_verb(word));
	argv[0] = NULL;
	assert_int_equal(opts_parse(&o, 0, argv, &err), 0);
}

static void test_list(void **state)
{
	char line[512] = "record";
	struct opts o;

	(void)state;
	assert_parses(&o, "-p 1 --probe a:b --probe=c:d+4");
	assert_string_equal(o.probes[0], "a:b");
	assert_string_equal(o.probes[1], "c:d+4");
	assert_null(o.probes[2]);
	assert_fails("--probe=", "not empty");
	assert_fails("--probe a:b -C 0", "exclude each other");
	assert_fails("report --probe a:b -G /x", "exclude each other");
	assert_fails("report -i x --probe a:b", "--input");
	assert_fails("script --probe a:b", "is an option of");
	for (int i = 0; i < OPTS_LIST_MAX; i++)
		strcat(line, " --probe=a:b");
	assert_parses(&o, line);
	strcat(line, " --probe=a:b");
	assert_fails(line, "32 times");
}

static void test_nearest(void **state)
{
	(void)state;
	assert_string_equal(opts_nearest_verb("docotr"), "doctor");
	assert_string_equal(opts_nearest_verb("repo"), "report");
	assert_null(opts_nearest_verb("x"));
	assert_string_equal(opts_nearest_verb("dump"), "demo"); /* hidden verbs are not suggested */
	assert_string_equal(opts_nearest(VERB_LIVE, "colour"), "color");
	assert_string_equal(opts_nearest(VERB_REPORT, "mmap"), "mmap-pages");
	assert_null(opts_nearest(VERB_REPORT, "color"));
}

/* Names are unique within a verb, an argument has a placeholder, and kinds fit what they have. */
static void test_table(void **state)
{
	(void)state;
	for (const struct opts_info *a = opts_table; a->name; a++) {
		assert_true(a->verbs != 0);
		assert_true(strlen(a->help) > 0 && strlen(a->name) > 1);
		assert_int_equal(a->arg != NULL, a->kind != OPTS_FLAG && a->kind != OPTS_PRESET);
		if (a->kind == OPTS_CHOICE || a->kind == OPTS_PRESET)
			assert_non_null(a->words);
		if (a->kind == OPTS_TIME || a->kind == OPTS_COUNT)
			assert_true(a->max > a->min);
		for (const struct opts_info *b = a + 1; b->name; b++) {
			if (!(a->verbs & b->verbs))
				continue;
			assert_string_not_equal(a->name, b->name);
			assert_true(!a->short_name || a->short_name != b->short_name);
		}
	}
}

static const char *words_of(enum opts_verb verb, const char *name)
{
	const struct opts_info *o = opts_find(verb, name, strlen(name));

	assert_non_null(o);
	return o->words;
}

static void assert_word(const char *words, const char *word)
{
	if (!opts_has_word(words, word, strlen(word)))
		fail_msg("'%s' is not in '%s'", word, words);
}

static unsigned count_words(const char *words)
{
	unsigned n = 1;

	for (; *words; words++)
		n += *words == ' ';
	return n;
}

/* The words that options allow are those of the modules that use them. */
static void test_words(void **state)
{
	const char *words = words_of(VERB_REPORT, "by");
	char kind[16];
	unsigned n = 0, views;
	enum report_format format;

	(void)state;
	enum query_by by_lock;
	for (unsigned by = 0; by < QUERY_BYS; by++, n++)
		assert_word(words, query_by_name((enum query_by)by));
	for (unsigned by = 0; by < QUERY_HOT_BYS; by++) {
		assert_word(words, query_hot_by_name((enum query_hot_by)by));
		n += query_by_parse(query_hot_by_name((enum query_hot_by)by), &by_lock) < 0;
	}
	for (unsigned by = 0; by < BLAME_BYS; by++) {
		const char *name = query_blame_by_name((enum query_blame_by)by);
		assert_word(words, name);
		n += query_by_parse(name, &by_lock) < 0;
	}
	assert_word(words, "memcg"); /* another name of cgroup */
	assert_word(words, "blame"); /* a word for the view */
	assert_int_equal(n + 2, count_words(words));
	words = words_of(VERB_LIVE, "theme");
	for (n = 0; theme_name(n); n++)
		assert_word(words, theme_name(n));
	assert_int_equal(n, count_words(words));
	words = words_of(VERB_LIVE, "view");
	for (n = 0; view_roots[n]; n++)
		assert_word(words, view_roots[n]->name);
	assert_word(words, "held"); /* column sets of blame */
	assert_word(words, "did");
	assert_int_equal(n + 2, count_words(words));
	words = words_of(VERB_DEMO, "kinds");
	for (n = 0; *words; n++) {
		size_t len = strcspn(words, " ");
		snprintf(kind, sizeof(kind), "%.*s", (int)len, words);
		assert_int_equal(demo_kinds_parse(kind, &views, NULL), 0);
		words += len + (words[len] == ' ');
	}
	assert_int_equal(n, 7);
	assert_word(words_of(VERB_DEMO, "kinds"), "all");
	assert_int_equal(count_words(words_of(VERB_REPORT, "view")), 27);
	assert_int_equal(
		report_view_parse(
			"overview,locks,waiters,tree,hist,slots,holders,"
			"creations,contexts,events,rotation,uprobes,xol,mmap,hot,flame,chains,why,"
			"held,"
			"blame,did,holds,queues,incidents,blocked,heat",
			&views),
		0);
	assert_int_equal(views, REPORT_ALL);
	assert_int_equal(count_words(words_of(VERB_REPORT, "format")), 3);
	assert_int_equal(report_format_parse("csv", &format), 0);
}

static void test_filter(void **state)
{
	char buf[OPTS_FILTER], small[8];
	struct error err = {0};

	(void)state;
	assert_int_equal(opts_filter("", buf, sizeof(buf), &err), 0);
	assert_string_equal(buf, "");
	assert_int_equal(opts_filter("rwsem:W avg_ns>1ms", buf, sizeof(buf), &err), 0);
	assert_string_equal(buf, "rwsem:W avg_ns>1ms");
	assert_int_equal(opts_filter("!rtmutex type=percpu-rwsem \"percpu-rwmem:R\"", buf,
				     sizeof(buf), &err),
			 0);
	assert_string_equal(buf, "!rt-mutex type=pcpu-sem \"pcpu-sem:R\"");
	assert_int_equal(opts_filter("caller:rtmutex_spin rtmutexes", buf, sizeof(buf), &err), 0);
	assert_string_equal(buf, "caller:rtmutex_spin rtmutexes");
	assert_int_equal(opts_filter("1234567", small, sizeof(small), &err), 0);
	assert_int_equal(opts_filter("rtmutex", small, sizeof(small), &err), -EINVAL);
	assert_true(strstr(err.text, "--filter") != NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_formats),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_help_wins),
		cmocka_unit_test(test_all_beside_input),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_what_is_told_at_any_cost),
		cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
