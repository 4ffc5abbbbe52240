// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench`: chooses the benchmark, checks that it takes the options, and prints its figures
 * as JSON.
 */
#include "run.h"
#include "kontend/bench.h"
#include "kontend/cmd.h"
#include "kontend/jsonw.h"
#include "kontend/number.h"

#include <errno.h>
#include <string.h>

enum { THREADS_MOST = 65536, WORDS = 16 };

static int refuse_counts(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--threads '%s': give a number from 1 to %d, 'all' for one for each CPU, "
			 "or several of these with commas between them, %d at most",
			 text, THREADS_MOST, BENCH_COUNTS);
}

static int parse_count(const char *text, size_t len, uint32_t *ret)
{
	uint64_t n;

	*ret = 0;
	if (len == 3 && memcmp(text, "all", len) == 0)
		return 0;
	if (number_parse_n(text, len, 1, THREADS_MOST, &n) < 0)
		return -EINVAL;
	*ret = (uint32_t)n;
	return 0;
}

int bench_counts(const struct opts *o, struct bench_counts *ret, struct error *err)
{
	const char *text = o->counts;

	*ret = (struct bench_counts){.n = text ? 0 : 1, .is_list = text && strchr(text, ',')};
	for (const char *at = text; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ",");
		if (ret->n == BENCH_COUNTS || parse_count(at, len, &ret->v[ret->n++]) < 0)
			return refuse_counts(text, err);
		at += len;
	}
	return 0;
}

enum {
	DURATION = 1,
	THREADS = 2,
	SIZE = 4,
	ROUNDS = 8,
	SHOW = 16,
	EVENTS = 32,
	BREAKPOINTS = 64,
	PARALLELISM = 128,
	REPEAT = 256,
	COMPARE = 512,
	INPUT = 1024,
	MODE = 2048,
	COST = 4096,
	KINDS = 8192,
	CPUS = 16384,
	LIST = 32768 /* several numbers of threads */
};
#define MM (THREADS | LIST | SIZE | ROUNDS | SHOW)

const struct bench_entry bench_table[] = {
	{"uprobe", bench_run_uprobe, DURATION | KINDS | CPUS, "--duration 2 --quiet"},
	{"rotation", bench_run_rotation, DURATION | SIZE | EVENTS, "--duration 2"},
	{"breakpoint", bench_run_breakpoint, BREAKPOINTS | PARALLELISM | THREADS | REPEAT,
	 "--repeat 3"},
	{"page-fault", bench_run_page_fault, MM | MODE, "--size 64M --threads 1,all"},
	{"mmap", bench_run_mmap, MM | COST, "--rounds 1000 --threads 1,all"},
	{"mutex", bench_run_mutex, THREADS | ROUNDS, ""},
	{"rwsem", bench_run_rwsem, THREADS | ROUNDS, ""},
	{"spinlock", bench_run_spinlock, THREADS | ROUNDS, ""},
	{"futex", bench_run_futex, THREADS | ROUNDS, ""},
	{"selftest", bench_run_selftest, THREADS | ROUNDS, NULL},
	{"suite", NULL, REPEAT | COMPARE | INPUT, NULL},
	{0},
};

static int refuse(const char *option, const char *bench)
{
	struct error err = {0};

	error_set(&err, -EINVAL,
		  "'kontend bench %s' does not take --%s: see 'kontend bench --help'", bench,
		  option);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

/* The first option that is given and not in @takes; NULL: none. */
static const char *without_use(const struct opts *o, unsigned takes)
{
	const struct {
		const char *name;
		unsigned bit;
		bool given;
	} all[] = {
		{"duration", DURATION, o->duration_ns != 0},
		{"threads", THREADS, o->counts != NULL},
		{"size", SIZE, o->size != 0},
		{"rounds", ROUNDS, o->rounds != 0},
		{"measure", SHOW, o->measure},
		{"events", EVENTS, o->events != 0},
		{"repeat", REPEAT, o->repeat != 0},
		{"compare", COMPARE, o->compare != NULL},
		{"input", INPUT, o->input != NULL},
		{"breakpoints", BREAKPOINTS, o->breakpoints},
		{"parallelism", PARALLELISM, o->parallelism != 0},
		{"mode", MODE, o->mode != NULL},
		{"cost", COST, o->cost},
		{"pairs", COST, o->pairs != 0},
		{"kind", KINDS, o->bench_kinds},
		{"cpus", CPUS, o->cpu_counts},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given && !(takes & all[i].bit))
			return all[i].name;
	return NULL;
}

static void put_figure(struct jsonw *j, const struct bench_figure *f)
{
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "case", f->of);
	jsonw_str(j, "metric", f->metric);
	jsonw_str(j, "unit", f->unit);
	jsonw_str(j, "better", bench_figures_better(f->better));
	jsonw_double(j, "value", f->value);
	jsonw_end(j, '}');
}

static void put_json(const char *bench, const struct bench_figures *f)
{
	struct jsonw j = {.out = stdout};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.bench/1");
	jsonw_str(&j, "bench", bench);
	jsonw_begin(&j, "figures", '[', false);
	for (size_t i = 0; i < f->n; i++)
		put_figure(&j, &f->v[i]);
	jsonw_end(&j, ']');
	jsonw_end(&j, '}');
}

int bench_run(const struct bench_entry *b, const struct opts *o, struct bench_out *out,
	      struct error *err)
{
	struct bench_counts counts;
	struct opts one = *o;
	int code = b->takes & LIST ? 0 : bench_counts(o, &counts, err);

	if (b->takes & LIST || code < 0)
		return code < 0 ? code : b->run(o, out, err);
	if (counts.is_list)
		return error_set(err, -EINVAL,
				 "--threads '%s': 'kontend bench %s' takes one number of threads",
				 o->counts, b->name);
	one.threads = counts.v[0];
	return b->run(&one, out, err);
}

static int run(const struct bench_entry *b, const struct opts *o,
	       int (*report)(const struct opts *o))
{
	bool json = o->format && strcmp(o->format, "json") == 0;
	struct bench_out out = {.text = json ? NULL : stdout, .report = report};
	struct error err = {0};
	int code = bench_run(b, o, &out, &err);

	if (code == 0 && out.figures.code < 0)
		code = error_enomem(&err, "the figures");
	/* Figures beyond a limit are printed all the same. */
	if (json && (code == 0 || code == -ERANGE))
		put_json(b->name, &out.figures);
	bench_figures_deinit(&out.figures);
	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	return cmd_flush(CMD_EXIT_OK);
}

int bench_options(const struct bench_entry *b, const char *options, char line[BENCH_LINE],
		  struct opts *ret, struct error *err)
{
	char *argv[WORDS], *rest = NULL;
	int argc = 0;

	snprintf(line, BENCH_LINE, "kontend bench %s %s", b->name, options);
	for (char *w = strtok_r(line, " ", &rest); w && argc < WORDS - 1;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc] = NULL;
	return opts_parse(ret, argc, argv, err);
}

int bench_line(const char *text, struct bench_figures *ret, struct error *err)
{
	size_t n = strcspn(text, " ");
	struct bench_out out = {0};
	char line[BENCH_LINE];
	struct opts o;

	*ret = (struct bench_figures){0};
	for (const struct bench_entry *b = bench_table; b->name; b++) {
		if (strncmp(b->name, text, n) != 0 || b->name[n] || !b->run)
			continue;
		int code = bench_options(b, text + n, line, &o, err);
		code = code < 0 ? code : bench_run(b, &o, &out, err);
		*ret = out.figures;
		return code;
	}
	return error_set(err, -EINVAL, "There is no benchmark '%.40s'", text);
}

/* "uprobe', 'rotation' or 'mmap". */
static void list_names(char *ret, size_t size)
{
	size_t at = 0;

	for (const struct bench_entry *b = bench_table; b->name && at < size; b++)
		at += (size_t)snprintf(ret + at, size - at, "%s%s",
				       b == bench_table ? ""
				       : b[1].name	? "', '"
							: "' or '",
				       b->name);
}

int bench_main(const struct opts *o, int (*report)(const struct opts *o))
{
	struct error err = {0};
	char names[256];

	for (const struct bench_entry *b = bench_table; o->topic && b->name; b++) {
		if (strcmp(o->topic, b->name) != 0)
			continue;
		const char *option = without_use(o, b->takes);
		if (option)
			return refuse(option, o->topic);
		return b->run ? run(b, o, report) : bench_suite_main(o);
	}
	list_names(names, sizeof(names));
	error_set(&err, -EINVAL, "Give a benchmark: 'kontend bench %s'", names);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}
