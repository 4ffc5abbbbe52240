// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an observer for the observed load, to a part of a percent. Each load is a fixed piece
 * of work of some tenths of a second: it is done with the observer and without in turns, in the
 * order off, on, on, off, so that what changes slowly cancels out, and the figures are the
 * differences of neighbours: their median, and the interval in which that lies with a certainty of
 * 95 %.
 *
 * The observer is not started and ended in between: its events are switched off and on through its
 * own descriptors, kontend's program of waits by the memory that it shares, and it is stopped while
 * they are off. The cost of their mere presence is not seen: some ns each time that
 * one of its tracepoints is passed, and with a program, in a storm of waits, about a quarter of a
 * percent of it. But what was before a load is of more weight than this, and seconds apart that
 * differs. An observer that switches some of its events itself is given as
 * NAME:PAIRS~COMMAND: which these are is found out while it watches a storm, and they are left to
 * it; a burst that it is stopped in is cut short, so there is as much of them as events/s says.
 *
 * CPU time is that of the load. That of the observer is given beside it, as a part of the load's,
 * from a stretch in which it was not stopped: on a machine without an idle CPU the load pays for
 * it, too. Events are those of the observer, those that only count among them.
 *
 *     observer-cost [-c FILE.i] [-l LOADS] [-t THREADS] NAME:PAIRS=COMMAND...
 *         NAME:PAIRS~COMMAND...
 *
 * Loads: mmap and page-fault of `kontend bench`, and with -c two compilers on that file; with -l
 * the first so many of them. To show half a percent takes some 1500 pairs.
 */
#include "kontend/bench-mm.h"
#include "observed.h"
#include "paired.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 77, LOADS = 3, STEADY = 6, NAME = 32 };
enum { MMAP_ROUNDS = 900, MMAP_BYTES = 64 << 10, FAULT_ROUNDS = 6, FAULT_BYTES = 64 << 20 };

struct setup {
	uint32_t threads;
	const char *unit; /* what compilers are given; NULL: no such load */
	size_t loads;
};

struct used {
	uint64_t cpu_ns, real_ns;
};

struct outcome {
	struct paired cpu, real;  /* with the observer, in percent of without */
	struct paired per_event;  /* ns */
	uint64_t cpu_ns, real_ns; /* without */
	uint64_t events, watched_ns;
	uint64_t own_ns, beside_ns; /* CPU time of the observer, and of the load meanwhile */
};

struct observer {
	char name[NAME];
	size_t pairs;
	char how; /* '=' by its events, '~' but for some that it switches itself */
	const char *command;
	struct observed at;
	struct outcome loads[LOADS];
};

static const char *const load_names[LOADS] = {"mmap", "page-fault", "compile"};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t children_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

static pid_t compiler(const char *unit, int cpu)
{
	pid_t pid = fork();
	cpu_set_t set;

	if (pid)
		return pid;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	execlp("cc", "cc", "-O2", "-w", "-c", "-o", "/dev/null", unit, (char *)NULL);
	_exit(127);
}

static bool compile(const struct setup *s, struct used *ret)
{
	uint64_t cpu = children_ns(), from = now_ns();
	pid_t pids[2];
	int status = 0, all = 0;

	for (int i = 0; i < 2; i++)
		pids[i] = compiler(s->unit, i);
	for (int i = 0; i < 2; i++) {
		waitpid(pids[i], &status, 0);
		all |= status;
	}
	*ret = (struct used){children_ns() - cpu, now_ns() - from};
	return all == 0;
}

static bool storm(const struct setup *s, size_t load, struct used *ret)
{
	const struct bench_mm_options map = {s->threads, MMAP_BYTES, MMAP_ROUNDS};
	const struct bench_mm_options fault = {s->threads, FAULT_BYTES, FAULT_ROUNDS};
	struct bench_mm_result r;
	struct error err = {0};
	int code = load ? bench_mm_fault(&fault, &r, &err) : bench_mm_map(&map, &r, &err);

	if (code < 0)
		fprintf(stderr, "FAIL %s: %s\n", load_names[load], err.text);
	*ret = (struct used){r.usr_ns + r.sys_ns, r.real_ns};
	return code == 0;
}

static struct used work(const struct setup *s, size_t load)
{
	struct used u;

	if (!(load == LOADS - 1 ? compile(s, &u) : storm(s, load, &u)))
		exit(1);
	return u;
}

static void begin(struct observer *o)
{
	if (observed_start(&o->at, o->command) && observed_grab(&o->at))
		return;
	fprintf(stderr, "FAIL %s: '%s' does not run, has no events, or cannot be switched\n",
		o->name, o->command);
	exit(1);
}

static struct used watched(struct observer *o, const struct setup *s, size_t load)
{
	struct outcome *r = &o->loads[load];
	uint64_t events = observed_events(&o->at);
	struct used u = work(s, load);

	events = observed_events(&o->at) - events;
	r->events += events;
	r->watched_ns += u.real_ns;
	return u;
}

static double percent(uint64_t on, uint64_t off)
{
	return 100 * ((double)on / (double)off - 1);
}

/* Two pairs: off, on, on, off. */
static void turn(struct observer *o, const struct setup *s, size_t load)
{
	struct outcome *r = &o->loads[load];
	struct used off[2], on[2];

	off[0] = work(s, load);
	observed_switch(&o->at, true);
	uint64_t events = r->events;
	on[0] = watched(o, s, load);
	on[1] = watched(o, s, load);
	events = (r->events - events) / 2;
	observed_switch(&o->at, false);
	off[1] = work(s, load);
	for (int i = 0; i < 2; i++) {
		paired_add(&r->cpu, percent(on[i].cpu_ns, off[i].cpu_ns));
		paired_add(&r->real, percent(on[i].real_ns, off[i].real_ns));
		if (events)
			paired_add(&r->per_event,
				   ((double)on[i].cpu_ns - (double)off[i].cpu_ns) / (double)events);
		r->cpu_ns += off[i].cpu_ns;
		r->real_ns += off[i].real_ns;
	}
}

/* CPU time of the observer itself, when it is not stopped. */
static void steady(struct observer *o, const struct setup *s, size_t load)
{
	struct outcome *r = &o->loads[load];
	uint64_t own = observed_cpu_ns(&o->at);

	for (int i = 0; i < STEADY; i++)
		r->beside_ns += work(s, load).cpu_ns;
	r->own_ns += observed_cpu_ns(&o->at) - own;
}

/* Which events it switches itself, by the first load. */
static void learn(struct observer *o, const struct setup *s)
{
	observed_learn(&o->at);
	for (int i = 0; i < STEADY; i++)
		work(s, 0);
	size_t n = observed_learnt(&o->at);
	if (n) {
		printf("# %s: it switches %zu of its %zu events itself\n", o->name, n, o->at.n);
		return;
	}
	fprintf(stderr, "FAIL %s: '%s' switches none of its events\n", o->name, o->command);
	exit(1);
}

static void measure(struct observer *o, const struct setup *s)
{
	begin(o);
	if (o->how == '~')
		learn(o, s);
	for (size_t i = 0; i < s->loads; i++)
		steady(o, s, i);
	observed_switch(&o->at, false);
	for (size_t i = 0; i < s->loads; i++) {
		work(s, i);
		for (size_t k = 0; k < o->pairs; k += 2)
			turn(o, s, i);
	}
	observed_stop(&o->at);
}

static void print_one(const struct observer *o, size_t load)
{
	const struct outcome *r = &o->loads[load];
	struct paired_middle cpu = paired_middle(&r->cpu), real = paired_middle(&r->real);
	struct paired_middle each = paired_middle(&r->per_event);
	double own = r->beside_ns ? 100 * (double)r->own_ns / (double)r->beside_ns : 0;

	printf("%-10s %-16s %4zu %7.1f %+6.2f [%+6.2f %+6.2f] %+6.2f [%+6.2f %+6.2f] %6.2f %+6.2f",
	       load_names[load], o->name, r->cpu.n, (double)r->cpu_ns / (double)r->cpu.n / 1e6,
	       cpu.median, cpu.low, cpu.high, real.median, real.low, real.high, own,
	       cpu.median + own);
	if (r->per_event.n)
		printf(" %9.0f %6.0f", (double)r->events * 1e9 / (double)r->watched_ns,
		       each.median);
	else
		printf(" %9s %6s", "-", "-");
	printf("\n");
	fflush(stdout);
}

static void print_head(void)
{
	printf("%-10s %-16s %4s %7s %6s %-15s %6s %-15s %6s %6s %9s %6s\n", "load", "observer", "n",
	       "cpu ms", "cpu %", "95 %", "real %", "95 %", "own %", "sum %", "events/s", "ns ev");
	fflush(stdout);
}

/* NAME:PAIRS=COMMAND or NAME:PAIRS~COMMAND */
static bool parse(const char *arg, struct observer *o)
{
	const char *colon = strchr(arg, ':');
	char *end;

	if (!colon || colon - arg >= NAME)
		return false;
	memcpy(o->name, arg, (size_t)(colon - arg));
	o->pairs = strtoul(colon + 1, &end, 10);
	o->how = *end;
	o->command = end + 1;
	return *end && strchr("=~", *end) && o->pairs;
}

static void run(const char *arg, const struct setup *s)
{
	struct observer o = {0};

	if (!parse(arg, &o)) {
		fprintf(stderr, "observer-cost: '%s' is not NAME:PAIRS=COMMAND\n", arg);
		exit(2);
	}
	measure(&o, s);
	for (size_t i = 0; i < LOADS; i++) {
		struct outcome *r = &o.loads[i];
		if (r->cpu.n)
			print_one(&o, i);
		paired_free(&r->cpu);
		paired_free(&r->real);
		paired_free(&r->per_event);
	}
}

int main(int argc, char **argv)
{
	struct setup s = {.threads = 8, .loads = LOADS};
	int c;

	while ((c = getopt(argc, argv, "c:l:t:")) != -1) {
		if (c == 'c')
			s.unit = optarg;
		else if (c == 'l')
			s.loads = strtoul(optarg, NULL, 10);
		else if (c == 't')
			s.threads = (uint32_t)atoi(optarg);
		else
			return 2;
	}
	if (s.loads > LOADS - !s.unit)
		s.loads = LOADS - !s.unit;
	if (geteuid()) {
		printf("skipped: needs root\n");
		return SKIP;
	}
	print_head();
	for (size_t i = 0; i < s.loads; i++)
		work(&s, i);
	for (int i = optind; i < argc; i++)
		run(argv[i], &s);
	return 0;
}
