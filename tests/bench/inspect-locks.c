// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of lock snapshots with 1000 tasks more, half of them threads of one process: at the
 * start, and for each snapshot. With a command (tests/live/reading mem) it measures while that one
 * runs, and searches for its readers.
 *
 *     bench-inspect-locks [--blocked N] [COMMAND ARG...]
 *
 * With --blocked N of the tasks wait for a child of vfork.
 */
#include "kontend/snapshot-locks.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 1000, LOOKS = 101 };

/* CPU time of a snapshot: wall-clock time passes for other reasons, too. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void *sleep_main(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static pid_t start(char **argv, int *ret_in)
{
	int in[2], out[2];
	char c;

	if (pipe(in) < 0 || pipe(out) < 0)
		exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execv(argv[0], argv);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	if (read(out[0], &c, 1) != 1)
		exit(1);
	usleep(500000);
	*ret_in = in[1];
	return pid;
}

/* A task in state D. */
static void start_blocked(void)
{
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (vfork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		_exit(0);
	}
}

static void start_tasks(void)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < TASKS / 2; i++)
			pthread_create(&t, &small, sleep_main, NULL);
		sleep_main(NULL);
	}
	for (int i = 0; i < TASKS / 2; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sleep_main(NULL);
		}
	usleep(500000);
}

int main(int argc, char **argv)
{
	struct snapshot_locks *w;
	struct locksnap s = {0};
	struct error err = {0};
	double us[LOOKS], first = 0;
	int in = -1, blocked = 0;

	if (argc > 2 && !strcmp(argv[1], "--blocked")) {
		blocked = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc > 1)
		start(argv + 1, &in);
	for (int i = 0; i < blocked; i++)
		start_blocked();
	start_tasks();
	uint64_t from = cpu_ns();
	if (snapshot_locks_new(&w, false, NULL, &err) < 0) {
		printf("%s\n", err.text);
		return 1;
	}
	double begin = (double)(cpu_ns() - from) / 1e6;
	for (int i = 0; i <= LOOKS; i++) {
		from = cpu_ns();
		if (snapshot_locks_take(w, NULL, 0, &s, &err) < 0) {
			printf("%s\n", err.text);
			return 1;
		}
		*(i ? &us[i - 1] : &first) = (double)(cpu_ns() - from) / 1000;
	}
	qsort(us, LOOKS, sizeof(*us), by_size);
	printf("CPU time: begin %.1f ms, first look %.2f ms, others median %.0f us, least %.0f us; "
	       "%zu queues, %zu readers by evidence, %zu files, %zu blocked\n",
	       begin, first / 1000, us[LOOKS / 2], us[0], s.n_queues, s.n_readers, s.n_sleeps,
	       s.n_blocked);
	snapshot_locks_free(w);
	locksnap_deinit(&s);
	return 0;
}
