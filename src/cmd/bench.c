// SPDX-License-Identifier: GPL-2.0-only
/* `kontend bench`: which of them, that the options are for it, and its figures as JSON. */
#include "bench.h"
#include "kontend/jsonw.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

enum {
	DURATION = 1,
	THREADS = 2,
	SIZE = 4,
	ROUNDS = 8,
	SHOW = 16,
	EVENTS = 32,
	MODE = 64,
	COST = 128,
	LIST = 256 /* several numbers of threads */
};
#define MM (THREADS | LIST | SIZE | ROUNDS | SHOW)

static const struct bench {
	const char *name;
	int (*run)(const struct opts *o, struct bench_out *out, struct error *err);
	unsigned takes; /* options */
} benches[] = {
	{"uprobe", cmd_bench_uprobe, DURATION},
	{"rotation", cmd_bench_rotation, DURATION | SIZE | EVENTS},
	{"page-fault", cmd_bench_page_fault, MM | MODE},
	{"mmap", cmd_bench_mmap, MM | COST},
};

static int refuse(const char *option, const char *bench)
{
	struct error err = {0};

	error_set(&err, -EINVAL,
		  "'kontend bench %s' has no use for --%s: see 'kontend bench --help'", bench,
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
		{"mode", MODE, o->mode != NULL},
		{"cost", COST, o->cost},
		{"pairs", COST, o->pairs != 0},
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

/* Who knows no lists finds the one number in `threads`; 0: one for each CPU, or none was given. */
static int set_threads(const struct bench *b, struct opts *o, struct error *err)
{
	struct bench_counts counts;
	int code = bench_counts(o, &counts, err);

	if (code < 0)
		return code;
	if (counts.is_list && !(b->takes & LIST))
		return error_set(err, -EINVAL, "'kontend bench %s' takes one number of threads",
				 b->name);
	o->threads = counts.v[0];
	return 0;
}

static int run(const struct bench *b, const struct opts *o)
{
	bool json = o->format && strcmp(o->format, "json") == 0;
	struct bench_out out = {.text = json ? NULL : stdout};
	struct error err = {0};
	struct opts own = *o;
	int code = set_threads(b, &own, &err);

	if (code == 0)
		code = b->run(&own, &out, &err);

	if (code == 0 && out.figures.code < 0)
		code = error_set(&err, out.figures.code, "no memory for what was measured");
	if (code == 0 && json)
		put_json(b->name, &out.figures);
	bench_figures_deinit(&out.figures);
	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	return cmd_flush(CMD_EXIT_OK);
}

int cmd_bench(const struct opts *o)
{
	struct error err = {0};

	for (size_t i = 0; o->topic && i < sizeof(benches) / sizeof(*benches); i++) {
		if (strcmp(o->topic, benches[i].name) != 0)
			continue;
		const char *option = without_use(o, benches[i].takes);
		return option ? refuse(option, o->topic) : run(&benches[i], o);
	}
	error_set(&err, -EINVAL,
		  "What is to be measured? 'kontend bench uprobe', 'rotation', 'page-fault' or "
		  "'mmap'");
	return cmd_fail(CMD_EXIT_USAGE, &err);
}
