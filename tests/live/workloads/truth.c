// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes known lock waits and prints them as one line of JSON. Two processes: the contending one
 * (its pid is the program's) has a holder thread and the waiters; the controlling one serves the
 * slow page, lets the waiters in one by one as soon as the one before is asleep in the kernel
 * (writers first, so that readers queue behind them), sleeps for the hold time and releases. With
 * -s FILE it begins when FILE has a byte, says "waiting" when all wait, and releases when it has
 * two; so another program can look at the waiters without depending on how long that takes. The
 * controller is a process of its own since it must never need a lock that it keeps others waiting
 * for. Each waiter's truth is CLOCK_MONOTONIC around its one blocking call, which does next to
 * nothing besides, and from the outside: how long it was seen asleep at least.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct waiter {
	struct truth *truth;
	int index;
};

uint64_t truth_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void sleep_us(long us)
{
	struct timespec ts = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static int n_waiters(const struct truth *t)
{
	return t->n_readers + t->n_writers;
}

static void give_up(struct truth *t, int code)
{
	t->failed = code;
	t->done = 1;
}

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;
	struct truth *t = w->truth;

	t->tids[w->index] = gettid();
	for (int r = 0; r < t->n_rounds; r++) {
		struct truth_wait *wait = &t->waits[r][w->index];
		int err;

		while (t->go[w->index] <= r && !t->done)
			sleep_us(200);
		if (t->done)
			break;
		wait->enter_ns = truth_now();
		if (w->index < t->n_writers)
			err = t->kind->write(t, r, w->index);
		else
			err = t->kind->read(t, r, w->index);
		wait->leave_ns = truth_now();
		if (err)
			give_up(t, -err);
	}
	return NULL;
}

static void *holder_main(void *arg)
{
	struct truth *t = arg;

	for (int r = 0; r < t->n_rounds; r++) {
		int err;

		while (t->holder_go <= r && !t->done)
			sleep_us(200);
		if (t->done)
			break;
		err = t->kind->hold(t, r);
		if (err)
			give_up(t, -err);
		t->released = r + 1;
	}
	return NULL;
}

/* Keeps a CPU from its idle task, where some kernels lose samples, at the lowest priority. */
static void *busy_main(void *arg)
{
	struct truth *t = arg;

	while (!t->done)
		;
	return NULL;
}

/* The controller is killed with its parent, so it needs no patience of its own. */
static void await_step(const struct truth *t, off_t step)
{
	struct stat st;

	while (t->steps && (stat(t->steps, &st) || st.st_size < step))
		sleep_us(1000);
}

static int control_round(struct truth *t, int round)
{
	int r;

	t->holder_go = round + 1;
	r = slow_page_wait(&t->page);
	if (r)
		return r;
	for (int k = 0; k < n_waiters(t); k++) {
		t->go[k] = round + 1;
		for (int tries = 0; !slow_page_thread_sleeps(t->pid, t->tids[k]); tries++) {
			if (tries == 20000)
				return -ETIMEDOUT;
			sleep_us(100);
		}
		t->waits[round][k].asleep_ns = truth_now();
	}
	if (t->steps)
		dprintf(STDOUT_FILENO, "waiting\n");
	await_step(t, 2);
	sleep_us(t->hold_ms * 1000L);
	t->released_ns[round] = truth_now();
	r = slow_page_release(&t->page);
	for (int k = 0; k < n_waiters(t) && !r; k++) {
		while (!t->waits[round][k].leave_ns && !t->failed)
			sleep_us(200);
	}
	while (t->released <= round && !t->failed)
		sleep_us(200);
	return r;
}

static int control_main(struct truth *t)
{
	int r = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "truth-control");
	/* A FUSE file is opened before the first round, which needs an answer. */
	for (int round = 0; round < t->n_rounds && !r && !t->failed; round++)
		r = control_round(t, round);
	if (r)
		t->failed = -r;
	t->done = 1;
	if (r)
		slow_page_release(&t->page);
	return r ? 1 : 0;
}

static int start_busy(struct truth *t, pthread_t *threads, int n)
{
	struct sched_param sp = {0};
	cpu_set_t set;

	for (int k = 0; k < n; k++) {
		int r = pthread_create(&threads[k], NULL, busy_main, t);

		if (r)
			return -r;
		CPU_ZERO(&set);
		CPU_SET(k, &set);
		pthread_setaffinity_np(threads[k], sizeof(set), &set);
		pthread_setschedparam(threads[k], SCHED_IDLE, &sp);
	}
	return 0;
}

static int contend(struct truth *t)
{
	pthread_t threads[TRUTH_MAX_WAITERS], holder, busy[64];
	struct waiter waiters[TRUTH_MAX_WAITERS];
	struct sched_param sp = {0};
	int n_busy = t->busy ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 0;
	int r;

	n_busy = n_busy > 64 ? 64 : n_busy;
	r = start_busy(t, busy, n_busy);
	if (r)
		return r;
	for (int k = 0; k < n_waiters(t); k++) {
		waiters[k] = (struct waiter){t, k};
		r = pthread_create(&threads[k], NULL, waiter_main, &waiters[k]);
		if (r)
			return -r;
		while (!t->tids[k])
			sleep_us(100);
	}
	r = pthread_create(&holder, NULL, holder_main, t);
	if (r)
		return -r;
	for (int k = 0; k < n_waiters(t); k++)
		pthread_join(threads[k], NULL);
	pthread_join(holder, NULL);
	t->done = 1;
	/* At the lowest priority they would not get to see it for seconds, on a busy machine. */
	for (int k = 0; k < n_busy; k++)
		pthread_setschedparam(busy[k], SCHED_OTHER, &sp);
	for (int k = 0; k < n_busy; k++)
		pthread_join(busy[k], NULL);
	return -t->failed;
}

static void print_waits(const struct truth *t, FILE *out)
{
	const char *sep = "";

	for (int r = 0; r < t->n_rounds; r++) {
		for (int k = 0; k < n_waiters(t); k++) {
			const struct truth_wait *w = &t->waits[r][k];
			const char *mode = k < t->n_writers ? "W" : "R";

			fprintf(out,
				"%s{\"round\":%d,\"tid\":%d,\"mode\":\"%s\",\"enter_ns\":%llu,"
				"\"asleep_ns\":%llu,\"wait_ns\":%llu}",
				sep, r, t->tids[k], t->kind->modes ? mode : "",
				(unsigned long long)w->enter_ns, (unsigned long long)w->asleep_ns,
				(unsigned long long)(w->leave_ns - w->enter_ns));
			sep = ",";
		}
	}
}

static int print_truth(const struct truth *t)
{
	uint64_t total[2] = {0, 0}, least[2] = {0, 0};
	FILE *out = t->out ? fopen(t->out, "we") : stdout;

	if (!out)
		return -errno;
	for (int r = 0; r < t->n_rounds; r++) {
		for (int k = 0; k < n_waiters(t); k++) {
			const struct truth_wait *w = &t->waits[r][k];

			total[k < t->n_writers] += w->leave_ns - w->enter_ns;
			least[k < t->n_writers] += t->released_ns[r] - w->asleep_ns;
		}
	}
	fprintf(out,
		"{\"workload\":\"%s\",\"type\":\"%s\",\"modes\":%s,\"pid\":%d,\"rounds\":%d,"
		"\"hold_ns\":%lld,\"readers\":%d,\"writers\":%d,\"read_wait_ns\":%llu,"
		"\"write_wait_ns\":%llu,\"read_least_ns\":%llu,\"write_least_ns\":%llu,\"waits\":[",
		t->kind->name, t->kind->type, t->kind->modes ? "true" : "false", t->pid,
		t->n_rounds, t->hold_ms * 1000000LL, t->n_readers, t->n_writers,
		(unsigned long long)total[0], (unsigned long long)total[1],
		(unsigned long long)least[0], (unsigned long long)least[1]);
	print_waits(t, out);
	fprintf(out, "]}\n");
	return fclose(out) ? -errno : 0;
}

/* Not so when the kernel has no userfaultfd or FUSE, or a container forbids them. */
static bool can_be_made(int r)
{
	return r != -ENOSYS && r != -EPERM && r != -ENODEV && r != -ENOENT;
}

static int run(struct truth *t)
{
	pid_t child;
	int status = 0;
	int r;

	t->pid = getpid();
	r = t->kind->prepare(t);
	if (r)
		return can_be_made(r) ? r : TRUTH_SKIP;
	child = fork();
	if (child == 0)
		_exit(control_main(t));
	if (child < 0)
		return -errno;
	await_step(t, 1);
	r = t->kind->start ? t->kind->start(t) : 0;
	if (!r)
		r = contend(t);
	if (r)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return r ? r : -t->failed;
}

static int usage(void)
{
	fprintf(stderr, "usage: truth mm|dir|pipe [-h HOLD_MS] [-s FILE] [-r READERS] "
			"[-w WRITERS] [-n ROUNDS] [-o FILE] [-b]\n");
	return 129;
}

static int parse(struct truth *t, int argc, char **argv)
{
	static const struct truth_kind *const kinds[] = {&truth_mm, &truth_dir, &truth_pipe};
	int c;

	for (size_t k = 0; argc > 1 && k < sizeof(kinds) / sizeof(*kinds); k++) {
		if (!strcmp(argv[1], kinds[k]->name))
			t->kind = kinds[k];
	}
	optind = 2;
	while (t->kind && (c = getopt(argc, argv, "h:s:r:w:n:o:b")) != -1) {
		if (c == '?')
			return -EINVAL;
		if (c == 'h')
			t->hold_ms = atoi(optarg);
		else if (c == 's')
			t->steps = optarg;
		else if (c == 'r')
			t->n_readers = atoi(optarg);
		else if (c == 'w')
			t->n_writers = atoi(optarg);
		else if (c == 'n')
			t->n_rounds = atoi(optarg);
		else if (c == 'o')
			t->out = optarg;
		else
			t->busy = 1;
	}
	if (!t->kind || t->n_readers < 0 || t->n_writers < 0 || n_waiters(t) > TRUTH_MAX_WAITERS ||
	    t->n_rounds < 1 || t->n_rounds > TRUTH_MAX_ROUNDS)
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	struct truth *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int r;

	if (t == MAP_FAILED)
		return 1;
	t->hold_ms = 200;
	t->n_readers = 2;
	t->n_writers = 2;
	t->n_rounds = 1;
	if (parse(t, argc, argv))
		return usage();
	r = run(t);
	if (r == TRUTH_SKIP)
		return r;
	if (!r)
		r = print_truth(t);
	if (r)
		fprintf(stderr, "truth: %s: %s\n", t->kind->name, strerror(-r));
	return r ? 1 : 0;
}
