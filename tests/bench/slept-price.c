// SPDX-License-Identifier: GPL-2.0-only
/*
 * slept-price [PAIRS [LOAD]]: what the programs that sum up sleeps in state D cost a switch with
 * its wakeup. `perf bench sched pipe` and `messaging` run on one CPU, in pairs: with the programs
 * attached and without them, in turns, so that other load falls on both alike. The figure is CPU
 * time of the load, and the interval is that of 95 %. Then the kernel's statistics of BPF, which
 * are on for that run only, give the time of each program.
 */
#include "kontend/snapshot-slept.h"
#include "paired.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77, PAIRS = 61, WORDS = 12, PROGRAMS = 2 };

struct load {
	const char *name, *args[WORDS];
};

static const struct load loads[] = {
	{"pipe", {"perf", "bench", "sched", "pipe", "-l", "20000", NULL}},
	{"messaging", {"perf", "bench", "sched", "messaging", "-g", "1", "-l", "100", NULL}},
};

/* A program that was loaded. */
struct program {
	const char *name;
	uint64_t runs, ns;
};

static void must(int code, const struct error *err)
{
	if (code == -EPERM || code == -ENOTSUP) {
		printf("skipped: %s\n", err->text);
		exit(SKIP);
	}
	if (code < 0) {
		fprintf(stderr, "FAIL %s\n", err->text);
		exit(1);
	}
}

static double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

/* CPU time of the load and its children. */
static double run(const struct load *l)
{
	double before = cpu_ns();
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		cpu_set_t first;
		CPU_ZERO(&first);
		CPU_SET(0, &first);
		sched_setaffinity(0, sizeof(first), &first);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(l->args[0], (char *const *)(uintptr_t)l->args);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		printf("skipped: there is no perf\n");
		exit(SKIP);
	}
	if (status) {
		fprintf(stderr, "FAIL %s: status %d\n", l->name, status);
		exit(1);
	}
	return cpu_ns() - before;
}

static struct snapshot_slept *attach(void)
{
	struct snapshot_slept *w;
	struct sleptsnap s = {0};
	struct error err = {0};

	must(snapshot_slept_new(&w, NULL, NULL, &err), &err);
	if (snapshot_slept_take(w, &s) < 0 || s.head.reason) {
		fprintf(stderr, "FAIL %s\n", sleptsnap_text(&s, s.head.reason));
		exit(1);
	}
	sleptsnap_deinit(&s);
	return w;
}

static double run_with(const struct load *l)
{
	struct snapshot_slept *w = attach();
	double ns = run(l);

	snapshot_slept_free(w);
	return ns;
}

static void read_program(int fd, struct program *p, size_t n)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(info.name, p[i].name) != 0)
			continue;
		p[i].runs = info.run_cnt;
		p[i].ns = info.run_time_ns;
	}
}

/* Of programs that this process has loaded. */
static void read_programs(struct program *p, size_t n)
{
	DIR *d = opendir("/proc/self/fd");

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		read_program(atoi(e->d_name), p, n);
	if (d)
		closedir(d);
}

/* The kernel keeps statistics as long as the descriptor is open; -1: it refuses. */
static int keep_statistics(void)
{
	union bpf_attr attr = {0};

	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return (int)syscall(SYS_bpf, BPF_ENABLE_STATS, &attr, sizeof(attr));
}

static double measure_programs(const struct load *l)
{
	struct program p[PROGRAMS] = {{"sleep_begins", 0, 0}, {"sleep_ends", 0, 0}};
	struct snapshot_slept *w = attach();
	int statistics = keep_statistics();

	run(l);
	read_programs(p, PROGRAMS);
	if (statistics >= 0)
		close(statistics);
	snapshot_slept_free(w);
	for (size_t i = 0; i < PROGRAMS; i++)
		printf("%s: %s takes %.1f ns in %llu runs\n", l->name, p[i].name,
		       p[i].runs ? (double)p[i].ns / (double)p[i].runs : 0.0,
		       (unsigned long long)p[i].runs);
	return (double)p[0].runs;
}

static void measure(const struct load *l, int pairs)
{
	double switches = measure_programs(l), without = 0;
	struct paired more = {0};

	for (int i = 0; switches > 0 && i < pairs; i++) {
		double first = i % 2 ? run(l) : run_with(l);
		double second = i % 2 ? run_with(l) : run(l);
		paired_add(&more, (i % 2 ? second - first : first - second) / switches);
		without += (i % 2 ? first : second) / switches / pairs;
	}
	struct paired_middle m = paired_middle(&more);
	printf("%s: %.1f ns [%.1f %.1f] of CPU time a switch more than %.0f, in %zu pairs of %.0f "
	       "switches\n",
	       l->name, m.median, m.low, m.high, without, more.n, switches);
	fflush(stdout);
	paired_free(&more);
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : PAIRS;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (argc < 3 || strcmp(argv[2], loads[i].name) == 0)
			measure(&loads[i], pairs);
	return 0;
}
