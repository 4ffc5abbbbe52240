// SPDX-License-Identifier: GPL-2.0-only
/*
 * slept-price TURNS [ROUNDS [LOAD]]: what programs at the scheduler's tracepoints cost a switch
 * with its wakeup. Loads run on one CPU, in rounds: without programs; with an empty program at each
 * of the two tracepoints, which is the least that BPF costs there; with two of them at each; with
 * sleeps in state D summed up; with holders of locks followed; with both by one program; and with
 * both by a program each, of two feeds. TURNS makes long waits, so that holders are followed. The
 * order changes from round to round, so that other load falls on all alike. Figures are CPU time of
 * the load, and differences within a round; the interval is that of 95 %.
 * Then the kernel's statistics of BPF, which are on for that run only, give the time of each
 * program, and so its part of a machine's time whatever the load.
 */
#include "kontend/snapshot-slept.h"
#include "kontend/waitfeed.h"
#include "paired.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 77, ROUNDS = 31, WORDS = 16, PROGRAMS = 2, FEEDS = 2, CPUS = 1024 };

/* The programs that are attached. */
enum arm { ARM_NONE, ARM_EMPTY, ARM_TWICE, ARM_SLEPT, ARM_FOLLOW, ARM_BOTH, ARM_APART, ARMS };

/* Tasks of a feed. */
enum { SLEEPS = 1, FOLLOWS = 2 };

static const struct {
	enum arm arm, against;
	const char *words;
} compared[] = {
	{ARM_EMPTY, ARM_NONE, "empty programs cost"},
	{ARM_TWICE, ARM_EMPTY, "second empty programs cost"},
	{ARM_SLEPT, ARM_NONE, "the programs of sleeps cost"},
	{ARM_SLEPT, ARM_EMPTY, "of that more than empty ones"},
	{ARM_FOLLOW, ARM_NONE, "following holders costs"},
	{ARM_BOTH, ARM_NONE, "sleeps and holders in one program cost"},
	{ARM_BOTH, ARM_SLEPT, "of that more than sleeps alone"},
	{ARM_APART, ARM_NONE, "sleeps and holders in two programs cost"},
	{ARM_APART, ARM_BOTH, "of that more than in one"},
};

enum { COMPARED = sizeof(compared) / sizeof(compared[0]) };

struct load {
	const char *name, *args[WORDS];
};

static const struct load loads[] = {
	{"pipe", {"perf", "bench", "sched", "pipe", "-l", "20000", NULL}},
	{"messaging", {"perf", "bench", "sched", "messaging", "-g", "1", "-l", "100", NULL}},
	{"compile",
	 {"sh", "-c",
	  "for i in 1 2 3; do echo 'int main(void) { return 0; }' | cc -pipe -O2 -x c -o /dev/null "
	  "-; done",
	  NULL}},
};

static const char *turns;

/* Feeds whose programs are attached. */
struct feeds {
	struct waitfeed *feeds[FEEDS];
	size_t n;
	struct snapshot_slept *slept; /* NULL: sleeps are not summed up */
	int events[FEEDS][CPUS];      /* where records would go; -1: none */
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

static int run_command(const char *const *args, bool is_pinned)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		cpu_set_t first;
		CPU_ZERO(&first);
		CPU_SET(0, &first);
		if (is_pinned)
			sched_setaffinity(0, sizeof(first), &first);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(args[0], (char *const *)(uintptr_t)args);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* CPU time of the load and its children. */
static double run(const struct load *l)
{
	double before = cpu_ns();
	int status = run_command(l->args, true);

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

static void sum_up(struct feeds *f, struct waitfeed *w)
{
	struct sleptsnap s = {0};
	struct error err = {0};

	must(snapshot_slept_new(&f->slept, w, NULL, SNAPSHOT_SLEPT_ALL_PPM, &err), &err);
	if (snapshot_slept_take(f->slept, &s) < 0 || s.head.reason) {
		fprintf(stderr, "FAIL %s\n", sleptsnap_text(&s, s.head.reason));
		exit(1);
	}
	sleptsnap_deinit(&s);
}

/* Nothing reads what is written to it. */
static int open_event(uint32_t cpu)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = sizeof(attr),
					     .config = PERF_COUNT_SW_BPF_OUTPUT};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool is_following(struct feed *feed)
{
	struct feed_follow counts;

	return feed->follow(feed, &counts) && counts.times && !counts.failed;
}

/* It continues for seconds after the last long wait. */
static void follow(struct waitfeed *w)
{
	const char *const args[] = {turns, "/tmp/slept-price", NULL};
	const struct timespec while_ns = {.tv_nsec = 10000000};
	struct error err = {0};

	must(waitfeed_start(w, 0, &err), &err);
	must(waitfeed_follow(w, &err), &err);
	for (int i = 0; i < 5 && !is_following(waitfeed_feed(w)); i++)
		run_command(args, false);
	for (int i = 0; i < 100 && !is_following(waitfeed_feed(w)); i++)
		nanosleep(&while_ns, NULL);
	unlink(args[1]);
	if (!is_following(waitfeed_feed(w))) {
		printf("skipped: %s makes no long waits\n", turns);
		exit(SKIP);
	}
}

static void add_feed(struct feeds *f, int what)
{
	const struct target all = {.kind = TARGET_SYSTEM};
	const struct waitfeed_options o = {
		.target = &all, .sleeps = what & SLEEPS, .follow_ns = what & FOLLOWS ? 1000000 : 0};
	struct waitfeed **w = &f->feeds[f->n];
	int *events = f->events[f->n++];
	struct error err = {0};

	must(waitfeed_new(w, &o, NULL, &err), &err);
	if (what & SLEEPS)
		sum_up(f, *w);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		events[cpu] = open_event(cpu);
		if (events[cpu] >= 0)
			waitfeed_feed(*w)->set(waitfeed_feed(*w), cpu, events[cpu]);
	}
	if (what & FOLLOWS)
		follow(*w);
}

static struct feeds attach(enum arm arm)
{
	struct feeds f = {0};

	if (arm == ARM_SLEPT || arm == ARM_APART)
		add_feed(&f, SLEEPS);
	if (arm == ARM_FOLLOW || arm == ARM_APART)
		add_feed(&f, FOLLOWS);
	if (arm == ARM_BOTH)
		add_feed(&f, SLEEPS | FOLLOWS);
	return f;
}

static void detach(struct feeds *f)
{
	snapshot_slept_free(f->slept);
	for (size_t i = 0; i < f->n; i++) {
		waitfeed_unfollow(f->feeds[i]);
		waitfeed_free(f->feeds[i]);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			if (f->events[i][cpu] >= 0)
				close(f->events[i][cpu]);
	}
}

/* Ends at once: at a tracepoint it costs what the kernel needs to call it. */
static int load_empty(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {0};

	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach_empty(int prog, const char *tracepoint)
{
	union bpf_attr attr = {0};

	attr.raw_tracepoint.name = (uintptr_t)tracepoint;
	attr.raw_tracepoint.prog_fd = (uint32_t)prog;
	int link = (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	if (link < 0) {
		fprintf(stderr, "FAIL cannot attach to %s: %s\n", tracepoint, strerror(errno));
		exit(1);
	}
	return link;
}

static double run_beside_empty(const struct load *l, int times)
{
	int prog[2], links[4], n = 0;

	for (int i = 0; i < times; i++) {
		prog[i] = load_empty();
		links[n++] = attach_empty(prog[i], "sched_switch");
		links[n++] = attach_empty(prog[i], "sched_waking");
	}
	double ns = run(l);
	while (n)
		close(links[--n]);
	for (int i = 0; i < times; i++)
		close(prog[i]);
	return ns;
}

static double run_arm(const struct load *l, enum arm arm)
{
	struct feeds f = attach(arm);
	double ns = arm == ARM_EMPTY   ? run_beside_empty(l, 1)
		    : arm == ARM_TWICE ? run_beside_empty(l, 2)
				       : run(l);

	detach(&f);
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

static double measure_programs(const struct load *l, enum arm arm, const char *words)
{
	struct program p[PROGRAMS] = {{arm == ARM_BOTH ? "on_switch" : "on_typed_switch", 0, 0},
				      {arm == ARM_BOTH ? "on_waking" : "on_typed_waking", 0, 0}};
	struct feeds f = attach(arm);
	int statistics = keep_statistics();

	run(l);
	read_programs(p, PROGRAMS);
	if (statistics >= 0)
		close(statistics);
	detach(&f);
	if (!p[0].runs || !p[1].runs) {
		fprintf(stderr, "FAIL %s: %s has not run\n", l->name,
			p[0].runs ? p[1].name : p[0].name);
		exit(1);
	}
	for (size_t i = 0; i < PROGRAMS; i++)
		printf("%s: %s, %s takes %.1f ns in %llu runs\n", l->name, words, p[i].name,
		       p[i].runs ? (double)p[i].ns / (double)p[i].runs : 0.0,
		       (unsigned long long)p[i].runs);
	return (double)p[0].runs;
}

static void measure(const struct load *l, int rounds)
{
	double switches = measure_programs(l, ARM_SLEPT, "sleeps"), without = 0;
	struct paired more[COMPARED] = {{0}};

	measure_programs(l, ARM_BOTH, "sleeps and holders");
	for (int i = 0; switches > 0 && i < rounds; i++) {
		double ns[ARMS];
		for (int a = 0; a < ARMS; a++)
			ns[(a + i) % ARMS] = run_arm(l, (enum arm)((a + i) % ARMS));
		for (size_t c = 0; c < COMPARED; c++)
			paired_add(&more[c],
				   (ns[compared[c].arm] - ns[compared[c].against]) / switches);
		without += ns[ARM_NONE] / switches / rounds;
	}
	printf("%s: %.0f ns of CPU time a switch without programs, in %d rounds of %.0f switches\n",
	       l->name, without, rounds, switches);
	for (size_t c = 0; c < COMPARED; c++) {
		struct paired_middle m = paired_middle(&more[c]);
		printf("%s: %s %.1f ns [%.1f %.1f] a switch with its wakeup\n", l->name,
		       compared[c].words, m.median, m.low, m.high);
		paired_free(&more[c]);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;

	if (argc < 2) {
		fprintf(stderr, "usage: slept-price TURNS [ROUNDS [LOAD]]\n");
		return 2;
	}
	turns = argv[1];
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (argc < 4 || strcmp(argv[3], loads[i].name) == 0)
			measure(&loads[i], rounds);
	return 0;
}
