// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of snapshots of breakpoint slots for a program that makes some 100,000 a second:
 * a process a CPU, each with inherited breakpoints, starts and joins threads, two at a time, as
 * `perf bench breakpoint thread` does, so that every thread gets a copy of each. Turns without
 * snapshots, with the inspector as kontend uses it (slots 10 times a second, everything once), and
 * with kontend itself alternate in each round. The test compares the CPU time of the same work in
 * the same round, and prints the median over the rounds (goal: below 2 %). Meanwhile it checks
 * every row of the inspector, and prints the time of the longest snapshot.
 *
 *     inspect-churn KONTEND [ROUNDS [THREADS]]
 */
#include "churn.h"
#include "kontend/inspect.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 99, LOOK_US = 100000, ALL_EVERY = 10 };

/* Results of the inspector's process, for the other one. */
struct seen {
	volatile uint64_t looks, rows, wrong, opened, opened_ns, incomplete;
	volatile uint64_t longest_ns, longest_cpu_ns, cpu_ns;
	volatile uint32_t ready;
};

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return n ? v[n / 2] : 0;
}

/*
 * Does the row match the breakpoint that we made? Threads have the inherited ones, except where the
 * kernel has exchanged the contexts of two of them.
 */
static bool is_right(const struct churn *c, const struct snap_event *e)
{
	bool child = (e->flags & SNAP_CHILD) != 0;
	bool is_thread = e->target_tid != e->target_pid;

	return e->type == PERF_TYPE_BREAKPOINT && e->bp_addr == c->addr && e->bp_len == c->len &&
	       e->bp_type == c->rwx && e->cpu == -1 && e->state <= SNAP_ACTIVE &&
	       (child == is_thread || (e->flags & SNAP_SHARED)) &&
	       !(e->flags & (SNAP_PTRACE | SNAP_KERNEL | SNAP_CGROUP | SNAP_CPU_BOUND)) &&
	       (child || e->owner_pid == e->target_pid);
}

static void check_rows(const struct churn *c, const struct perfsnap *s, struct seen *seen)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (!churn_has(c, e->target_pid) || e->type != PERF_TYPE_BREAKPOINT)
			continue;
		seen->rows++;
		if (is_right(c, e))
			continue;
		seen->wrong++;
		printf("wrong: event %llu of %d for %d/%d at 0x%llx/%llu, flags %x\n",
		       (unsigned long long)e->id, e->owner_pid, e->target_pid, e->target_tid,
		       (unsigned long long)e->bp_addr, (unsigned long long)e->bp_len, e->flags);
	}
}

static void look_once(struct inspect *i, enum inspect_what what, const struct churn *c,
		      struct seen *seen)
{
	static struct perfsnap s;
	uint64_t from = churn_ns(CLOCK_MONOTONIC);

	if (inspect_take(i, what, &s, NULL) < 0)
		_exit(1);
	uint64_t took = churn_ns(CLOCK_MONOTONIC) - from;
	seen->looks++;
	seen->incomplete += s.head.incomplete != 0;
	seen->cpu_ns += s.head.cost_ns;
	seen->longest_ns = took > seen->longest_ns ? took : seen->longest_ns;
	if (s.head.cost_ns > seen->longest_cpu_ns)
		seen->longest_cpu_ns = s.head.cost_ns;
	if (what == INSPECT_SLOTS && s.head.opened != UINT64_MAX) {
		seen->opened += s.head.opened;
		seen->opened_ns += s.head.interval_ns;
	}
	check_rows(c, &s, seen);
}

static void look_on(const struct churn *c, struct seen *seen)
{
	struct inspect_options o = {0};
	struct inspect *i;
	struct error err = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (inspect_bpf_new(&i, &o, &err) < 0) {
		printf("skipped: %s\n", err.text);
		_exit(1);
	}
	for (unsigned n = 0;; n++) {
		if (n % ALL_EVERY == 0)
			look_once(i, INSPECT_ALL, c, seen);
		look_once(i, INSPECT_SLOTS, c, seen);
		seen->ready = 1;
		usleep(LOOK_US);
	}
}

enum way { NOBODY, INSPECTOR, KONTEND, WAYS };

/* kontend gives up privileges when everything is open. */
static bool has_opened(pid_t pid)
{
	char path[64], line[128];
	bool has = false;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *f = fopen(path, "re");
	while (f && !has && fgets(line, sizeof(line), f))
		has = strcmp(line, "NoNewPrivs:\t1\n") == 0;
	if (f)
		fclose(f);
	return has;
}

static pid_t start(enum way way, const char *kontend, const struct churn *c, struct seen *seen)
{
	pid_t pid;

	if (way == NOBODY)
		return 0;
	fflush(stdout);
	seen->ready = 0;
	pid = fork();
	if (pid == 0 && way == INSPECTOR)
		look_on(c, seen);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(kontend, "kontend", "report", "--quiet", "--duration", "1h", "--delay",
		      "100ms", "--output", "/dev/null", (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 200 && !(way == INSPECTOR ? seen->ready : has_opened(pid)); i++)
		usleep(20000);
	return pid;
}

static void stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* CPU time of one turn, in seconds. */
static double turn(enum way way, const char *kontend, struct churn *c, struct seen *seen)
{
	pid_t pid = start(way, kontend, c, seen);
	double took = (double)churn_turn(c) / 1e9;

	stop(pid);
	return took;
}

static void print_medians(const struct churn *c, double v[WAYS][MOST_ROUNDS], int rounds)
{
	static const char *const names[WAYS] = {"no snapshots",
						"the inspector, slots 10/s, all 1/s",
						"kontend report --delay 100ms"};

	for (int way = 0; way < WAYS; way++) {
		double more[MOST_ROUNDS], each[MOST_ROUNDS];
		for (int r = 0; r < rounds; r++) {
			more[r] = 100 * (v[way][r] / v[NOBODY][r] - 1);
			each[r] = 1e6 * v[way][r] / (double)churn_breakpoints(c);
		}
		printf("%-36s %6.2f us CPU a breakpoint", names[way], median(each, (size_t)rounds));
		if (way)
			printf("  %+5.1f %%", median(more, (size_t)rounds));
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static double v[WAYS][MOST_ROUNDS];
	int rounds = argc > 2 ? atoi(argv[2]) : 9, ways = argc > 1 ? WAYS : KONTEND;
	struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct churn c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (seen == MAP_FAILED || geteuid() != 0) {
		printf("skipped: perf events of all processes need root\n");
		return 77;
	}
	rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
	if (churn_start(&c, argc > 3 ? atol(argv[3]) : 12000) < 0)
		return 77;
	(void)churn_turn(&c);
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < ways; k++) {
			/* The order changes, since the conditions of the machine do. */
			int way = (k + r) % ways;
			v[way][r] = turn((enum way)way, argv[1], &c, seen);
		}
	print_medians(&c, v, rounds);
	churn_stop(&c);
	printf("%.0f breakpoints a second while looking; %llu looks, %llu of them incomplete; the "
	       "longest %.1f ms, of that CPU at most %.2f ms, on average %.3f ms\n",
	       seen->opened_ns ? 1e9 * (double)seen->opened / (double)seen->opened_ns : 0,
	       (unsigned long long)seen->looks, (unsigned long long)seen->incomplete,
	       (double)seen->longest_ns / 1e6, (double)seen->longest_cpu_ns / 1e6,
	       seen->looks ? (double)seen->cpu_ns / 1e6 / (double)seen->looks : 0);
	printf("%llu rows of what comes and goes, %llu wrong\n", (unsigned long long)seen->rows,
	       (unsigned long long)seen->wrong);
	return seen->wrong != 0;
}
