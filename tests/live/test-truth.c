// SPDX-License-Identifier: GPL-2.0-only
/*
 * kontend against workloads that know what they did (workloads/truth.c). First a measurement of the
 * whole workload: per lock type and mode, the number of waits and their total within 10 % of the
 * figures of the waiters, and of the process that watched them sleep. Then a report that is taken
 * while the waiters wait: it has every one of them, with its type and mode, on one lock, and the
 * lengths of their waits differ as their arrivals do. A moment is known as an interval: from before
 * the call until it was seen asleep; on a busy machine that may be long.
 *
 *     test-truth KONTEND TRUTH
 */
#include "live.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SUBJECTS = 3, READERS = 3, WRITERS = 2, ROUNDS = 4 };

/* A workload, and the memory files that it writes its truth to and takes its steps by. */
struct subject {
	const char *kind;
	int fd, steps_fd;
	char out[64], steps[64]; /* paths by which the workload reaches them */
	bool made;		 /* this kernel lets us */
	struct live_run run;
};

struct test {
	const char *kontend, *truth;
	struct subject subjects[SUBJECTS];
	int failures;
};

/* On PREEMPT_RT the test cannot make a reader wait behind another reader. */
static int n_readers(const struct subject *s)
{
	return strcmp(s->kind, "pipe") != 0 && live_is_rt() ? 0 : READERS;
}

static const char *readers_text(const struct subject *s)
{
	return n_readers(s) ? "3" : "0";
}

static int read_truth(const struct subject *s, struct json_doc *doc)
{
	static char buf[1 << 17];
	ssize_t len = pread(s->fd, buf, sizeof(buf), 0);
	size_t at;

	if (len < 0 || ftruncate(s->fd, 0))
		return -1;
	return json_parse(doc, buf, (size_t)len, &at);
}

static bool same(const struct json *a, const struct json *b)
{
	if (json_is(a, JSON_STRING) && json_is(b, JSON_STRING))
		return strcmp(json_text(a), json_text(b)) == 0;
	return json_is(a, JSON_NUMBER) && json_is(b, JSON_NUMBER) && json_u64(a) == json_u64(b);
}

/* Made waits of one type and mode. */
struct sum {
	char kind[32];
	uint64_t count, least_ns, wait_ns;
};

/* One row of the locks table against the truth; the lock may have had a few short waits more. */
static void compare_total(struct test *t, const struct subject *s, const struct json *row,
			  const struct sum *made)
{
	uint64_t contended = json_u64(json_get(row, "contended"));
	double total = json_number(json_get(row, "total_ns"));
	double least = (double)made->least_ns, most = (double)made->wait_ns;
	double percent = 100 * (total < least ? (total - least) / least : (total - most) / most);

	printf("%-5s %-8s truth %3llu waits %9.3f to %9.3f ms, kontend %3llu waits %9.3f ms\n",
	       s->kind, made->kind, (unsigned long long)made->count, least / 1e6, most / 1e6,
	       (unsigned long long)contended, total / 1e6);
	live_check(&t->failures, row != NULL, "%s: no row of type %s", s->kind, made->kind);
	live_check(&t->failures,
		   contended >= made->count && contended <= made->count + made->count / 4 + 2,
		   "%s: %s: wrong number of waits", s->kind, made->kind);
	live_check(&t->failures, total >= 0.9 * least && total <= 1.1 * most,
		   "%s: %s: total off by %.2f %%", s->kind, made->kind, percent);
}

/*
 * On PREEMPT_RT readers join the present reader, while writers wait; so there are none. Of the two
 * writers the first waits for the reader, the other one for the rt-mutex that the first has.
 */
static void compare_rt_totals(struct test *t, const struct subject *s, const struct json *rows,
			      const struct json *truth)
{
	const char *const kinds[] = {"rwlock-rt:W", "rt-mutex"};
	double total = 0, least = json_number(json_get(truth, "write_least_ns"));
	double most = json_number(json_get(truth, "write_wait_ns"));

	for (int k = 0; k < WRITERS; k++) {
		const struct json *row = live_worst_row(rows, kinds[k]);
		uint64_t n = json_u64(json_get(row, "contended"));
		live_check(&t->failures, row && n >= ROUNDS && n <= ROUNDS + 3,
			   "%s: %d waits made of %s, %d seen", s->kind, ROUNDS, kinds[k], (int)n);
		total += json_number(json_get(row, "total_ns"));
	}
	printf("%-5s rwsem:W  truth %3d waits %9.3f to %9.3f ms, kontend %9.3f ms\n", s->kind,
	       WRITERS * ROUNDS, least / 1e6, most / 1e6, total / 1e6);
	live_check(&t->failures, total >= 0.9 * least && total <= 1.1 * most,
		   "%s: total off by %.2f %%", s->kind, 100 * (total - least) / least);
}

static void compare_totals(struct test *t, const struct subject *s, const struct json *report,
			   const struct json *truth)
{
	const struct json *rows = json_path(report, "views.locks.rows");
	struct sum r = {.count = READERS * ROUNDS}, w = {.count = WRITERS * ROUNDS};
	const struct json *r_row, *w_row;

	if (!n_readers(s)) {
		compare_rt_totals(t, s, rows, truth);
		return;
	}

	r.wait_ns = json_u64(json_get(truth, "read_wait_ns"));
	w.wait_ns = json_u64(json_get(truth, "write_wait_ns"));
	r.least_ns = json_u64(json_get(truth, "read_least_ns"));
	w.least_ns = json_u64(json_get(truth, "write_least_ns"));
	live_truth_kind(truth, false, r.kind, sizeof(r.kind));
	live_truth_kind(truth, true, w.kind, sizeof(w.kind));
	r_row = live_worst_row(rows, r.kind);
	w_row = live_worst_row(rows, w.kind);
	if (strcmp(r.kind, w.kind) == 0) {
		r.count += w.count;
		r.wait_ns += w.wait_ns;
		r.least_ns += w.least_ns;
		compare_total(t, s, r_row, &r);
		return;
	}
	compare_total(t, s, r_row, &r);
	compare_total(t, s, w_row, &w);
	live_check(&t->failures, same(json_get(r_row, "lock"), json_get(w_row, "lock")),
		   "%s: readers and writers do not wait for the same lock", s->kind);
}

/* False: the workload cannot be made on this kernel. */
static bool totals(struct test *t, struct subject *s)
{
	const char *argv[] = {t->kontend, "report", "--view", "locks", "--format",	"json",
			      "--",	  t->truth, s->kind,  "-r",    readers_text(s), "-w",
			      "2",	  "-n",	    "4",      "-h",    "100",		"-b",
			      "-o",	  s->out,   NULL};
	struct json_doc report, truth;
	struct live_run run;
	int code;

	live_run_start(&run, argv);
	live_run_end(&run);
	code = live_run_code(&run);
	if (code == LIVE_SKIP) {
		printf("%-5s skipped: this kernel does not let us make it\n", s->kind);
		live_run_deinit(&run);
		return false;
	}
	if (live_check(&t->failures, code == 0, "%s: report ended with %d", s->kind, code)) {
		live_run_json(&run, &report);
		if (live_check(&t->failures, read_truth(s, &truth) == 0, "%s: no truth in %s",
			       s->kind, s->out)) {
			compare_totals(t, s, json_root(&report), json_root(&truth));
			json_deinit(&truth);
		}
		json_deinit(&report);
	}
	live_run_deinit(&run);
	return true;
}

static const struct json *waiter_row(const struct json *rows, uint64_t tid)
{
	for (size_t k = 0; k < json_len(rows); k++) {
		if (json_u64(json_get(json_at(rows, k), "tid")) == tid)
			return json_at(rows, k);
	}
	return NULL;
}

static double moment(const struct json *wait, const char *name)
{
	return json_number(json_get(wait, name));
}

/* One waiter; the first one reports when the report was taken. */
static void compare_waiter(struct test *t, const struct subject *s, const struct json *rows,
			   const struct json *truth, size_t k)
{
	const struct json *waits = json_get(truth, "waits"), *wait = json_at(waits, k);
	const struct json *row = waiter_row(rows, json_u64(json_get(wait, "tid")));
	const struct json *first = waiter_row(rows, json_u64(json_get(json_at(waits, 0), "tid")));
	double since = json_number(json_get(row, "since_ns"));
	double later = json_number(json_get(first, "since_ns")) - since;
	double least = moment(wait, "enter_ns") - moment(json_at(waits, 0), "asleep_ns");
	double most = moment(wait, "asleep_ns") - moment(json_at(waits, 0), "enter_ns");
	char kind[32];

	live_truth_kind(truth, k < WRITERS, kind, sizeof(kind));
	/* The next writer waits for the first one, see compare_rt_totals(). */
	bool behind = !n_readers(s) && k > 0;
	if (behind)
		snprintf(kind, sizeof(kind), "rt-mutex");
	printf("%-5s waiter %zu: %-8s since %9.3f ms, %7.3f ms after the first (%.3f to %.3f)\n",
	       s->kind, k, json_text(json_get(row, "kind")), since / 1e6, later / 1e6, least / 1e6,
	       most / 1e6);
	if (!live_check(&t->failures, row != NULL, "%s: waiter %zu is not shown", s->kind, k))
		return;
	live_check(&t->failures, strcmp(json_text(json_get(row, "kind")), kind) == 0,
		   "%s: waiter %zu is not %s", s->kind, k, kind);
	live_check(&t->failures, json_u64(json_get(row, "pid")) == json_u64(json_get(truth, "pid")),
		   "%s: waiter %zu has another pid", s->kind, k);
	live_check(&t->failures,
		   behind || strcmp(json_text(json_get(row, "lock")),
				    json_text(json_get(first, "lock"))) == 0,
		   "%s: waiter %zu waits for another lock", s->kind, k);
	live_check(&t->failures, since > 0 && since <= json_number(json_get(wait, "wait_ns")),
		   "%s: waiter %zu cannot wait longer than it did", s->kind, k);
	live_check(&t->failures, later >= least && later <= most,
		   "%s: waiter %zu: waits since another moment than it does", s->kind, k);
}

/* While mmap_lock is held any other thread of the process may have to wait for a page. */
static bool is_fault(const struct subject *s, const struct json *truth, const struct json *row)
{
	const struct json *waits = json_get(truth, "waits");
	uint64_t tid = json_u64(json_get(row, "tid"));

	for (size_t k = 0; k < json_len(waits); k++) {
		if (json_u64(json_get(json_at(waits, k), "tid")) == tid)
			return false;
	}
	const char *kind = json_text(json_get(row, "kind"));

	return strcmp(s->kind, "mm") == 0 &&
	       (strcmp(kind, "rwsem:R") == 0 || strcmp(kind, "rwlock-rt:R") == 0);
}

/* A report is one of all workloads: the rows of this one's process. */
static void compare_waiters(struct test *t, const struct subject *s, const struct live_run *run,
			    const struct json *truth)
{
	struct json_doc report;
	const struct json *rows;
	uint64_t n = 0;

	live_run_json(run, &report);
	rows = json_path(json_root(&report), "views.waiters.rows");
	for (size_t k = 0; k < json_len(rows); k++)
		n += json_u64(json_get(json_at(rows, k), "pid")) == (uint64_t)s->run.pid &&
		     json_get(json_at(rows, k), "ended_ns")->type == JSON_NULL &&
		     !is_fault(s, truth, json_at(rows, k));
	size_t made = (size_t)n_readers(s) + WRITERS;
	live_check(&t->failures, n == made, "%s: %d waiters shown, made %zu", s->kind, (int)n,
		   made);
	for (size_t k = 0; k < made; k++)
		compare_waiter(t, s, rows, truth, k);
	json_deinit(&report);
}

static void start_subject(struct test *t, struct subject *s)
{
	const char *argv[] = {
		t->truth, s->kind, "-r", readers_text(s), "-w", "2", "-s", s->steps, "-h",
		"0",	  "-b",	   "-o", s->out,	  NULL};

	live_run_start(&s->run, argv);
}

/* All workloads take the next step. */
static void test_step(struct test *t)
{
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct subject *s = &t->subjects[k];

		live_check(&t->failures, !s->made || write(s->steps_fd, "x", 1) == 1, "%s: no step",
			   s->kind);
	}
}

static void end_subject(struct test *t, struct subject *s, const struct live_run *runs)
{
	struct json_doc truth;

	live_run_end(&s->run);
	live_run_deinit(&s->run);
	if (!live_check(&t->failures, read_truth(s, &truth) == 0, "%s: no truth", s->kind))
		return;
	for (int k = 0; k < 2; k++)
		compare_waiters(t, s, &runs[k], json_root(&truth));
	json_deinit(&truth);
}

static void start_subjects(struct test *t, char *pids, size_t size)
{
	*pids = '\0';
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct subject *s = &t->subjects[k];
		size_t len = strlen(pids);

		if (!s->made)
			continue;
		start_subject(t, s);
		snprintf(pids + len, size - len, "%s%d", len ? "," : "", s->run.pid);
	}
}

/*
 * Two reports, one of the workloads' processes and one of the whole system: when both measure, the
 * workloads begin; when all their waiters wait, the reports end; then the locks are released.
 */
static void waiters(struct test *t)
{
	char pids[64];
	const char *system[] = {t->kontend, "report",	"-v",	"--view",
				"waiters",  "--format", "json", NULL};
	const char *process[] = {t->kontend, "report", "-v", "--view", "waiters",
				 "--format", "json",   "-p", pids,     NULL};
	struct live_run runs[2];

	start_subjects(t, pids, sizeof(pids));
	live_run_start(&runs[0], process);
	live_run_start(&runs[1], system);
	for (int k = 0; k < 2; k++)
		live_check(&t->failures, live_run_says(&runs[k], "measuring"),
			   "report %d does not measure", k);
	test_step(t);
	for (size_t k = 0; k < SUBJECTS; k++)
		live_check(&t->failures,
			   !t->subjects[k].made || live_run_says(&t->subjects[k].run, "waiting"),
			   "%s: does not wait", t->subjects[k].kind);
	usleep(300000);
	for (int k = 0; k < 2; k++)
		kill(runs[k].pid, SIGINT);
	for (int k = 0; k < 2; k++) {
		live_run_end(&runs[k]);
		live_check(&t->failures, live_run_code(&runs[k]) == 0, "report %d ended with %d", k,
			   live_run_code(&runs[k]));
	}
	test_step(t);
	for (size_t k = 0; k < SUBJECTS; k++) {
		if (t->subjects[k].made)
			end_subject(t, &t->subjects[k], runs);
	}
	for (int k = 0; k < 2; k++)
		live_run_deinit(&runs[k]);
}

/* A memory file and the path by which another process reaches it. */
static int open_file(const char *name, char *path, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	snprintf(path, size, "/proc/%d/fd/%d", getpid(), fd);
	return fd;
}

int main(int argc, char **argv)
{
	static const char *const kinds[SUBJECTS] = {"mm", "dir", "pipe"};
	struct test t = {0};
	int made = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: test-truth KONTEND TRUTH\n");
		return 129;
	}
	live_need_root();
	t.kontend = argv[1];
	t.truth = argv[2];
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct subject *s = &t.subjects[k];

		s->kind = kinds[k];
		s->fd = open_file("truth", s->out, sizeof(s->out));
		s->steps_fd = open_file("steps", s->steps, sizeof(s->steps));
		s->made = s->fd >= 0 && s->steps_fd >= 0 && totals(&t, s);
		made += s->made;
	}
	if (!made)
		return LIVE_SKIP;
	waiters(&t);
	printf("%d failures\n", t.failures);
	return t.failures != 0;
}
