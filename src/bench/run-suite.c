// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend bench suite`: a run of each benchmark of the table that is for suites, and all of that
 * again, as often as was asked for; so that changes on the machine meanwhile affect all of them.
 * Each run is a child process, since a benchmark binds threads, renames its process and gives up
 * rights. Names of metrics and units are constants, at the same
 * addresses in parent and child. Benchmarks that a machine cannot run are skipped, with the
 * sentence that the benchmark has for it.
 */
#include "run-suite.h"
#include "child.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/cpulist.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "run.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5, MOST_FIGURES = 4096 };

static const uint64_t PATIENCE_NS = 300000000000;
static const off_t MOST_BYTES = 64 << 20;

/* The first message of a child; figures follow. */
struct answer {
	struct error err; /* with code 0: what one case of it lacks, if any */
	int code;
	size_t n;
};

/* In a child. */
static int run_child(void *ctx, int fd)
{
	const struct bench_entry *b = ctx;
	struct bench_out out = {0};
	struct answer a = {0};
	char line[BENCH_LINE];
	struct opts o;

	setpgid(0, 0);
	a.code = bench_options(b, b->suite, line, &o, &a.err);
	if (a.code == 0)
		a.code = bench_run(b, &o, &out, &a.err);
	if (a.code == 0 && out.figures.code < 0)
		a.code = error_enomem(&a.err, "the figures");
	if (a.code == 0)
		a.err = out.lacks;
	a.n = a.code == 0 ? out.figures.n : 0;
	int code = bench_child_send(fd, &a, sizeof(a));
	if (code == 0 && a.n)
		code = bench_child_send(fd, out.figures.v, a.n * sizeof(*out.figures.v));
	return code;
}

static int take_figures(struct bench_suite *s, const struct bench_entry *b, int fd, size_t n,
			uint64_t until_ns, struct error *err)
{
	if (n > MOST_FIGURES)
		return error_set(err, -E2BIG, "bench %s has %zu figures", b->name, n);
	for (size_t i = 0; i < n; i++) {
		struct bench_figure one;
		int code = bench_child_receive(fd, &one, sizeof(one), until_ns);
		if (code < 0)
			return error_errno(err, code, "Cannot read the figures of bench %s",
					   b->name);
		struct bench_suite_figure *f =
			bench_suite_figure(s, b->name, one.of, one.metric, one.unit);
		if (!f || bench_suite_add(f, one.value) < 0)
			return error_enomem(err, "figures");
		f->better = one.better;
	}
	return 0;
}

/* Errors that a second try, on this machine and as this user, would meet again. */
static bool cannot(int code)
{
	return code == -ENODEV || code == -EOPNOTSUPP || code == -EPERM || code == -EACCES ||
	       code == -ENOSYS;
}

/*
 * The results of the others are worth something without this one: its failure is printed, and
 * returned at the end.
 */
static int take_failure(struct bench_suite *s, const struct bench_entry *b, const struct error *why,
			struct error *err)
{
	char text[BENCH_SUITE_TEXT];

	snprintf(text, sizeof(text), FAILED "%.*s", (int)(sizeof(text) - sizeof(FAILED)),
		 why->text);
	if (bench_suite_skip(s, b->name, text) < 0)
		return error_enomem(err, "the failures");
	s->n_failed++;
	return 0;
}

static int take_answer(struct bench_suite *s, const struct bench_entry *b, int fd,
		       struct error *err)
{
	uint64_t until_ns = clock_now_ns() + PATIENCE_NS;
	struct answer a;
	int code = bench_child_receive(fd, &a, sizeof(a), until_ns);

	if (code == -ETIMEDOUT)
		return error_set(err, code, "it takes longer than five minutes");
	if (code < 0)
		return error_set(err, code, "it has ended without an answer");
	if (cannot(a.code))
		return bench_suite_skip(s, b->name, a.err.text) < 0
			       ? error_enomem(err, "the skipped benchmarks")
			       : 0;
	if (a.code < 0)
		return error_set(err, a.code, "%s", a.err.text);
	if (*a.err.text && bench_suite_skip_part(s, b->name, a.err.text) < 0)
		return error_enomem(err, "the skipped benchmarks");
	return take_figures(s, b, fd, a.n, until_ns, err);
}

static int run_one(struct bench_suite *s, const struct bench_entry *b, struct error *err)
{
	struct bench_entry copy = *b;
	struct error why = {0};
	struct bench_child child;
	int code = bench_child_start(&child, run_child, &copy, err);

	if (code < 0)
		return code;
	code = take_answer(s, b, child.fd, &why);
	/* And whatever it has started: it leads a group of its own. */
	if (why.code < 0)
		kill(-child.pid, SIGKILL);
	bench_child_end(&child);
	return why.code < 0 ? take_failure(s, b, &why, err) : code;
}

static bool is_skipped(const struct bench_suite *s, const char *name)
{
	for (size_t i = 0; i < s->n_skipped; i++)
		if (!s->skipped[i].is_part && strcmp(s->skipped[i].bench, name) == 0)
			return true;
	return false;
}

static int run_all(struct bench_suite *s, const struct opts *o, struct error *err)
{
	uint64_t from_ns = clock_now_ns();
	int code = 0;

	for (uint32_t run = 0; code == 0 && run < s->runs; run++) {
		cmd_say(o, "run %u of %u", run + 1, s->runs);
		for (const struct bench_entry *b = bench_table; code == 0 && b->name; b++)
			if (b->suite && !is_skipped(s, b->name))
				code = run_one(s, b, err);
	}
	s->took_ns = clock_now_ns() - from_ns;
	return code;
}

static void describe_machine(struct bench_suite *s)
{
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;
	uint32_t *cpus;
	size_t n = 0;

	if (gmtime_r(&now, &tm))
		strftime(s->date, sizeof(s->date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (uname(&u) == 0) {
		snprintf(s->host, sizeof(s->host), "%.63s", u.nodename);
		snprintf(s->kernel, sizeof(s->kernel), "%s", u.release);
		snprintf(s->machine, sizeof(s->machine), "%.63s", u.machine);
	}
	if (cpulist_read("online", &cpus, &n) == 0)
		mem_free(cpus);
	s->cpus = (uint32_t)n;
	snprintf(s->version, sizeof(s->version), "%s", KONTEND_VERSION);
}

static int read_file(struct bench_suite *ret, const char *path, struct error *err)
{
	struct stat st;
	char *text = NULL;
	size_t len = 0;

	if (stat(path, &st) == 0 && st.st_size > MOST_BYTES)
		return error_set(err, -EFBIG, "%s is too large for a suite", path);
	int code = fdio_read_file(path, &text, &len);
	if (code < 0)
		return error_errno(err, code, "Cannot read %s", path);
	code = bench_suite_read(ret, text, len, path, err);
	mem_free(text);
	return code;
}

static void write_json(const struct bench_suite *now, const struct bench_suite *before,
		       const char *name)
{
	struct jsonw j = {.out = stdout};

	jsonw_begin(&j, NULL, '{', false);
	bench_suite_put(&j, now);
	if (before)
		bench_compare_put(&j, before, now, name);
	jsonw_end(&j, '}');
}

static int run_suite(const struct opts *o, struct bench_suite *before, struct bench_suite *now,
		     struct error *err)
{
	int code = o->compare ? read_file(before, o->compare, err) : 0;

	if (code < 0)
		return code;
	if (o->input && o->repeat)
		return error_set(err, -EINVAL, "--input runs nothing: leave out --repeat");
	if (o->input)
		return read_file(now, o->input, err);
	if (o->repeat > BENCH_STATS_MOST)
		return error_set(err, -EINVAL, "--repeat '%llu': a suite has 1 to %d runs",
				 (unsigned long long)o->repeat, BENCH_STATS_MOST);
	describe_machine(now);
	now->runs = o->repeat ? (uint32_t)o->repeat : RUNS;
	return run_all(now, o, err);
}

int bench_suite_main(const struct opts *o)
{
	bool json = o->format && strcmp(o->format, "json") == 0;
	struct bench_suite before = {0}, now = {0};
	struct error err = {0};
	int code = run_suite(o, &before, &now, &err);

	if (code == 0 && json) {
		write_json(&now, o->compare ? &before : NULL, o->compare);
	} else if (code == 0) {
		bench_suite_print(stdout, &now);
		if (o->compare)
			bench_compare_print(stdout, &before, &now, o->compare);
	}
	if (code == 0 && now.n_failed)
		code = error_set(&err, -EIO, "%u of the benchmarks failed: their lines say why",
				 now.n_failed);
	bench_suite_deinit(&before);
	bench_suite_deinit(&now);
	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	return cmd_flush(CMD_EXIT_OK);
}
