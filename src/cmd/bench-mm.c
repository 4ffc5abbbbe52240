// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench page-fault` and `kontend bench mmap`: what threads need that contend for one
 * mmap_lock. With --measure the same is run once more, as the command of `kontend report`, so that
 * the locks it waited for stand below its figures.
 */
#include "kontend/bench-mm.h"
#include "bench.h"
#include "kontend/units.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const uint64_t MS = 1000000;

enum { MEASURE_ROWS = 6, WORDS = 10, WORD = 32 };

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

static void print_result(FILE *out, const struct bench *b, const struct bench_mm_options *o,
			 const struct bench_mm_result *r)
{
	char bytes[UNITS_BUF], pages[UNITS_BUF], rate[UNITS_BUF];

	fprintf(out, "%s: %" PRIu32 " threads, %s, rounds %" PRIu64 ", %s pages, %s/s\n", b->name,
		r->threads, units_bytes(bytes, o->bytes), o->rounds, units_count(pages, r->pages),
		units_rate(rate, r->real_ns ? (double)r->pages * 1e9 / (double)r->real_ns : 0.0));
	print_ms(out, "usr", r->usr_ns);
	print_ms(out, "sys", r->sys_ns);
	print_ms(out, "real", r->real_ns);
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
		   struct error *err)
{
	char self[4096], numbers[3][WORD], name[WORD];
	char verb[] = "bench", threads[] = "--threads", size[] = "--size", rounds[] = "--rounds";
	char *words[WORDS] = {self, verb,	name,	threads,    numbers[0],
			      size, numbers[1], rounds, numbers[2], NULL};
	int code = find_self(self, sizeof(self), err);

	if (code < 0)
		return code;
	snprintf(name, sizeof(name), "%s", b->name);
	snprintf(numbers[0], WORD, "%" PRIu32, m->threads);
	snprintf(numbers[1], WORD, "%" PRIu64, m->bytes);
	snprintf(numbers[2], WORD, "%" PRIu64, m->rounds);
	if (!m->threads)
		memmove(words + 3, words + 5, (WORDS - 5) * sizeof(*words));
	struct opts report = {.verb = VERB_REPORT,
			      .quiet = o->quiet,
			      .command = words,
			      .delay_ns = 100 * MS,
			      .view = "locks",
			      .filter = "type:rwsem",
			      .rows = MEASURE_ROWS};
	code = cmd_report(&report);
	return code ? error_set(err, -ECHILD, "What was measured of '%s' is not all here", name)
		    : 0;
}

static const struct bench_metric pages_rate = {"pages", "1/s", BENCH_HIGHER},
				 usr = {"usr", "ns", BENCH_LOWER}, sys = {"sys", "ns", BENCH_LOWER},
				 real = {"real", "ns", BENCH_LOWER};

static void put_figures(struct bench_figures *f, const struct bench_mm_result *r)
{
	const struct {
		const struct bench_metric *metric;
		double value;
	} all[] = {
		{&pages_rate,
		 r->real_ns ? (double)r->pages * 1e9 / (double)r->real_ns : (double)NAN},
		{&usr, (double)r->usr_ns},
		{&sys, (double)r->sys_ns},
		{&real, (double)r->real_ns},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		bench_figures_put(f, all[i].metric, all[i].value, "%" PRIu32 " threads",
				  r->threads);
}

static int run(const struct bench *b, const struct opts *o, struct bench_out *out,
	       struct error *err)
{
	const struct bench_mm_options m = {.threads = (uint32_t)o->threads,
					   .bytes = o->size ? o->size : b->bytes,
					   .rounds = o->rounds ? o->rounds : b->rounds};
	struct bench_mm_result r;

	if (o->measure && !out->text)
		return error_set(err, -EINVAL,
				 "--measure prints a text: for JSON, 'kontend report -j -- kontend "
				 "bench %s'",
				 b->name);
	if (o->measure)
		return measure(b, &m, o, err);
	(void)prctl(PR_SET_NAME, b->comm, 0, 0, 0);
	int code = b->run(&m, &r, err);
	if (code < 0)
		return code;
	if (out->text)
		print_result(out->text, b, &m, &r);
	put_figures(&out->figures, &r);
	return 0;
}

int cmd_bench_page_fault(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(&page_fault, o, out, err);
}

int cmd_bench_mmap(const struct opts *o, struct bench_out *out, struct error *err)
{
	return run(&map_and_unmap, o, out, err);
}
