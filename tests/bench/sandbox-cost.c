// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost for a reader of giving up its rights: a recording is read with and without --no-sandbox,
 * in turns. It prints medians of CPU time, with that of children, and the least time on the
 * clock: on a machine that is busy most of that is waiting for a CPU.
 *
 *     sandbox-cost KONTEND RECORDING [RUNS]
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 101, RUNS_MOST = 10000, ARGS = 8 };

struct cost {
	double wall_ms, cpu_ms;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static struct cost run(char *const argv[])
{
	posix_spawn_file_actions_t files;
	struct rusage usage;
	double begun = now_ms();
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ) != 0 ||
	    wait4(pid, &status, 0, &usage) != pid || status != 0) {
		fprintf(stderr, "%s %s failed\n", argv[0], argv[1]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&files);
	return (struct cost){now_ms() - begun, ms_of(usage.ru_utime) + ms_of(usage.ru_stime)};
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 2];
}

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

static void measure(const char *kontend, const char *verb, const char *recording, size_t runs)
{
	char *with[ARGS] = {text(kontend), text(verb), text("-q"), text("-i"), text(recording)};
	char *without[ARGS] = {text(kontend), text(verb),      text("-q"),
			       text("-i"),    text(recording), text("--no-sandbox")};
	double *v[4];

	for (size_t i = 0; i < 4; i++)
		v[i] = calloc(runs, sizeof(double));
	for (size_t i = 0; i < runs; i++) {
		struct cost a = run(with), b = run(without);
		v[0][i] = a.wall_ms;
		v[1][i] = b.wall_ms;
		v[2][i] = a.cpu_ms;
		v[3][i] = b.cpu_ms;
	}
	double m[4];
	for (size_t i = 0; i < 4; i++) {
		m[i] = median(v[i], runs);
		m[i] = i < 2 ? v[i][0] : m[i]; /* they are sorted now */
		free(v[i]);
	}
	printf("%-10s %zu runs  CPU %6.2f ms, without %6.2f ms: %+5.2f ms  least time %6.2f ms, "
	       "without %6.2f ms: %+5.2f ms\n",
	       verb, runs, m[2], m[3], m[2] - m[3], m[0], m[1], m[0] - m[1]);
}

int main(int argc, char **argv)
{
	size_t runs = argc > 3 ? strtoul(argv[3], NULL, 10) : RUNS;

	if (argc < 3 || runs < 1 || runs > RUNS_MOST) {
		fprintf(stderr, "usage: sandbox-cost KONTEND RECORDING [RUNS]\n");
		return 2;
	}
	measure(argv[1], "report", argv[2], runs);
	measure(argv[1], "script", argv[2], runs);
	measure(argv[1], "screenshot", argv[2], runs);
	return 0;
}
