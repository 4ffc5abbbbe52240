// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench page-fault` and `kontend bench mmap`: the speed of threads that contend for one
 * mmap_lock, for one number of threads or several, a line each. With --measure the same is run once
 * more, as the command of `kontend report`, so that the locks it waited for are printed below its
 * figures.
 */
#include "kontend/bench-mm.h"
#include "kontend/cmd.h"
#include "kontend/units.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const uint64_t MS = 1000000;

enum { MEASURE_ROWS = 6, WORDS = 12, WORD = 32, LIST = 512 };

struct bench {
	const char *name;
	const char
		*comm; /* of the process and its threads, which is what their locks are named by */
	uint64_t bytes, rounds; /* where none are asked for */
	int (*run)(const struct bench_mm_options *o, struct bench_mm_result *ret,
		   struct error *err);
};

static const struct bench page_fault = {"page-fault", "bench-fault", 256 << 20, 1, bench_mm_fault};
static const struct bench map_and_unmap = {"mmap", "bench-mmap", 64 << 10, 2000, bench_mm_map};

static void print_ms(FILE *out, const char *name, uint64_t ns)
{
	fprintf(out, "%s: %" PRIu64 ".%03" PRIu64 " ms\n", name, ns / MS, ns % MS / 1000);
}

static double rate_of(const struct bench_mm_result *r)
{
	return r->real_ns ? (double)r->pages * 1e9 / (double)r->real_ns : (double)NAN;
}

static void print_result(FILE *out, const struct bench *b, const struct bench_mm_options *o,
			 const struct bench_mm_result *r)
{
	char bytes[UNITS_BUF], pages[UNITS_BUF], rate[UNITS_BUF];

	fprintf(out, "%s: %" PRIu32 " threads, %s, rounds %" PRIu64 ", %s pages, %s/s\n", b->name,
		r->threads, units_bytes(bytes, o->bytes), o->rounds, units_count(pages, r->pages),
		units_rate(rate, r->real_ns ? rate_of(r) : 0));
	print_ms(out, "usr", r->usr_ns);
	print_ms(out, "sys", r->sys_ns);
	print_ms(out, "real", r->real_ns);
}

static void print_head(FILE *out, const struct bench *b, const struct bench_mm_options *o)
{
	char bytes[UNITS_BUF];

	fprintf(out, "%s: %s, rounds %" PRIu64 "\n", b->name, units_bytes(bytes, o->bytes),
		o->rounds);
	fprintf(out, "%8s %8s %8s %12s %12s %12s\n", "threads", "pages", "pages/s", "usr ms",
		"sys ms", "real ms");
}

static void print_row(FILE *out, const struct bench_mm_result *r)
{
	char pages[UNITS_BUF], rate[UNITS_BUF];

	fprintf(out, "%8" PRIu32 " %8s %8s %12.3f %12.3f %12.3f\n", r->threads,
		units_count(pages, r->pages), units_rate(rate, r->real_ns ? rate_of(r) : 0),
		(double)r->usr_ns / 1e6, (double)r->sys_ns / 1e6, (double)r->real_ns / 1e6);
	fflush(out);
}

static const struct bench_metric pages_rate = {"pages", "1/s", BENCH_HIGHER},
				 usr = {"usr", "ns", BENCH_LOWER}, sys = {"sys", "ns", BENCH_LOWER},
				 real = {"real", "ns", BENCH_LOWER};
/* For a page. */
static const struct bench_metric taken[2] = {{"mmap_lock_read", "1", BENCH_FACT},
					     {"mmap_lock_write", "1", BENCH_FACT}};
/* The name of a case: the usual mode has none. */
static const char *mode_text(const struct bench_mm_options *o, char buf[WORD])
{
	snprintf(buf, WORD, "%s%s", o->mode ? bench_mm_mode_name(o->mode) : "",
		 o->mode ? ", " : "");
	return buf;
}

static void put_figures(struct bench_figures *f, const struct bench_mm_options *o,
			const struct bench_mm_result *r)
{
	const struct {
		const struct bench_metric *metric;
		double value;
	} all[] = {
		{&pages_rate, rate_of(r)},
		{&usr, (double)r->usr_ns},
		{&sys, (double)r->sys_ns},
		{&real, (double)r->real_ns},
	};
	char mode[WORD];

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(f, all[i].metric, all[i].value, "%s%" PRIu32 " threads",
				  mode_text(o, mode), r->threads);
}

static void print_locks(FILE *out, const struct bench_mm_options *o, const struct bench_mm_locks *l)
{
	fprintf(out,
		"mmap_lock: %s takes it %.2f times for reading and %.2f for writing a page, "
		"counted "
		"apart with %" PRIu64 " pages\n",
		bench_mm_mode_name(o->mode), (double)l->got[0] / (double)l->pages,
		(double)l->got[1] / (double)l->pages, l->pages);
}

/* If these locks cannot be counted, a line reports it; the benchmark does not fail. */
static void report_locks(const struct bench_mm_options *o, struct bench_out *out)
{
	struct bench_mm_locks l;
	struct error err = {0};
	bool known = bench_mm_locks(o->mode, &l, &err) == 0 && l.pages;

	for (int w = 0; w < 2; w++) {
		double pages = known ? (double)l.pages : (double)NAN;
		bench_figures_put(&out->figures, &taken[w], (double)l.got[w] / pages, "%s",
				  bench_mm_mode_name(o->mode));
	}
	if (out->text && known)
		print_locks(out->text, o, &l);
	else if (out->text)
		fprintf(out->text, "mmap_lock: acquisitions cannot be counted: %s\n", err.text);
}

/* This program, by its path: a process that began as /proc/self/exe would be called "exe". */
static int find_self(char *ret, size_t size, struct error *err)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	if (n <= 0)
		return error_errno(err, n ? -errno : -ENOENT, "Cannot find this program again");
	ret[n] = '\0';
	return 0;
}

/* As the command of a report about sleeping locks of its own. */
static int measure(const struct bench *b, const struct bench_mm_options *m, const struct opts *o,
		   int (*print_report)(const struct opts *o), struct error *err)
{
	char self[4096], numbers[2][WORD], name[WORD], mode[WORD], list[LIST];
	char verb[] = "bench", threads[] = "--threads", size[] = "--size", rounds[] = "--rounds",
	     mode_word[] = "--mode";
	char *words[WORDS] = {self, verb, name, size, numbers[0], rounds, numbers[1]};
	size_t n = 7;
	int code = find_self(self, sizeof(self), err);

	if (code < 0)
		return code;
	snprintf(name, sizeof(name), "%s", b->name);
	snprintf(numbers[0], WORD, "%" PRIu64, m->bytes);
	snprintf(numbers[1], WORD, "%" PRIu64, m->rounds);
	snprintf(mode, sizeof(mode), "%s", bench_mm_mode_name(m->mode));
	snprintf(list, sizeof(list), "%s", o->counts ? o->counts : "");
	if (m->mode) {
		words[n++] = mode_word;
		words[n++] = mode;
	}
	if (o->counts) {
		words[n++] = threads;
		words[n++] = list;
	}
	struct opts report = {.verb = VERB_REPORT,
			      .quiet = o->quiet,
			      .command = words,
			      .delay_ns = 100 * MS,
			      .view = "locks",
			      .filter = "type:rwsem",
			      .rows = MEASURE_ROWS};
	code = print_report(&report);
	return code ? error_set(err, -ECHILD, "The measurement of '%s' is not complete", name) : 0;
}

static int run_all(const struct bench *b, struct bench_mm_options *m,
		   const struct bench_counts *counts, struct bench_out *out, struct error *err)
{
	int code = 0;

	if (counts->is_list && out->text)
		print_head(out->text, b, m);
	for (size_t i = 0; code == 0 && i < counts->n; i++) {
		struct bench_mm_result r;
		m->threads = counts->v[i];
		code = b->run(m, &r, err);
		if (code < 0)
			return code;
		if (out->text && counts->is_list)
			print_row(out->text, &r);
		else if (out->text)
			print_result(out->text, b, m, &r);
		put_figures(&out->figures, m, &r);
	}
	return 0;
}

/* All options but the number of threads, which bench_counts() takes. */
static struct bench_mm_options options_of(const struct bench *b, const struct opts *o)
{
	struct bench_mm_options m = {.bytes = o->size ? o->size : b->bytes,
				     .rounds = o->rounds ? o->rounds : b->rounds};

	if (o->mode)
		(void)bench_mm_mode_parse(o->mode, &m.mode); /* one of the table's */
	return m;
}

/* @ret: with the number of threads that was last. */
static int run(const struct bench *b, const struct opts *o, struct bench_mm_options *ret,
	       struct bench_out *out, struct error *err)
{
	struct bench_counts counts;
	int code = bench_counts(o, &counts, err);

	*ret = options_of(b, o);
	if (code < 0)
		return code;
	if (o->measure && !out->text)
		return error_set(err, -EINVAL,
				 "--measure prints a text: for JSON, 'kontend report -j -- kontend "
				 "bench %s'",
				 b->name);
	if (o->measure)
		return measure(b, ret, o, out->report, err);
	(void)prctl(PR_SET_NAME, b->comm, 0, 0, 0);
	return run_all(b, ret, &counts, out, err);
}

int bench_run_page_fault(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct bench_mm_options m;
	int code = run(&page_fault, o, &m, out, err);

	if (code < 0 || o->measure)
		return code;
	report_locks(&m, out);
	if (m.mode == BENCH_MM_KERNEL)
		bench_retries(&m, out);
	return 0;
}

int bench_run_mmap(const struct opts *o, struct bench_out *out, struct error *err)
{
	struct bench_mm_options m;

	if (o->cost)
		return bench_run_mmap_cost(o, out, err);
	if (o->pairs)
		return error_set(err, -EINVAL, "--pairs is of --cost");
	return run(&map_and_unmap, o, &m, out, err);
}
