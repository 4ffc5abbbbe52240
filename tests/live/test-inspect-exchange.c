// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that inherited a breakpoint exchange their contexts as they follow one another on a CPU,
 * so that the event that was opened for one counts the other. Two threads do so an arbitrary number
 * of times, then one of them alone writes to the watched variable: these hits must be charged to
 * it, whichever event counted them. While both write and pass the CPU to and fro they cannot be
 * distinguished: then the sum must be right, and both must be marked.
 */
#include "kontend/inspect.h"
#include "live.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 24, WRITES = 50, LOOKS = 100 };

/* To the program that is looked at, and its answer. */
struct order {
	int passes, writes[2]; /* to and fro between the threads; writes of each at each pass */
};

struct threads {
	int tids[2];
};

struct program {
	int to[2], from[2];
	struct threads threads;
	pid_t pid;
};

struct test {
	struct inspect *inspect;
	struct perfsnap snap;
	const struct snap_event *e[2]; /* in it: of each thread */
	struct program p;
	int failures, exchanged;
};

static volatile long watched;
static int ball[2][2]; /* pipes: the thread that reads may write */
static struct order now;

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static void pass_on(int to)
{
	if (write(ball[to][1], "", 1) != 1)
		_exit(1);
}

static void wait_for_ball(int me)
{
	char byte;

	if (read(ball[me][0], &byte, 1) != 1)
		_exit(1);
}

static void write_to_it(int n)
{
	for (int i = 0; i < n; i++)
		watched++;
}

static void *second(void *arg)
{
	int *tid = arg;

	*tid = gettid();
	pass_on(0);
	for (;;) {
		wait_for_ball(1);
		write_to_it(now.writes[1]);
		pass_on(0);
	}
	return NULL;
}

static void open_breakpoint(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.inherit = 1,
		.exclude_kernel = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		_exit(errno == ENOSPC ? LIVE_SKIP : 1);
}

/* On one CPU the threads cannot but follow one another. */
static void run_program(const struct program *p)
{
	struct threads t = {.tids = {getpid(), 0}};
	cpu_set_t first;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	open_breakpoint();
	if (pipe(ball[0]) < 0 || pipe(ball[1]) < 0 ||
	    pthread_create(&thread, NULL, second, &t.tids[1]))
		_exit(1);
	wait_for_ball(0);
	if (write(p->from[1], &t, sizeof(t)) != sizeof(t))
		_exit(1);
	while (read(p->to[0], &now, sizeof(now)) == sizeof(now)) {
		for (int i = 0; i < now.passes; i++) {
			write_to_it(now.writes[0]);
			pass_on(1);
			wait_for_ball(0);
		}
		if (!now.passes)
			write_to_it(now.writes[0]);
		if (write(p->from[1], &t, sizeof(t)) != sizeof(t))
			_exit(1);
	}
	_exit(0);
}

static void hear(struct program *p)
{
	int status;

	if (read(p->from[0], &p->threads, sizeof(p->threads)) == sizeof(p->threads))
		return;
	waitpid(p->pid, &status, 0);
	bool skip = WIFEXITED(status) && WEXITSTATUS(status) == LIVE_SKIP;
	puts(skip ? "skipped: others have all slots" : "FAIL the program ended");
	exit(skip ? LIVE_SKIP : 1);
}

static void start(struct program *p)
{
	if (pipe(p->to) < 0 || pipe(p->from) < 0)
		exit(1);
	fflush(stdout);
	p->pid = fork();
	if (p->pid == 0) {
		close(p->from[0]);
		close(p->to[1]);
		run_program(p);
	}
	close(p->from[1]);
	close(p->to[0]);
	hear(p);
}

static void send_order(struct program *p, const struct order *o)
{
	if (write(p->to[1], o, sizeof(*o)) != sizeof(*o))
		exit(1);
	hear(p);
}

/* Is it asleep, so that it follows no task on a CPU any more? */
static bool is_asleep(const struct test *t, int thread)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)t->p.pid,
		 t->p.threads.tids[thread]);
	FILE *f = fopen(path, "re");
	bool good = f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1;
	if (f)
		fclose(f);
	return good && state == 'S';
}

static const struct snap_event *event_of(const struct test *t, int thread)
{
	const struct snap_event *found = NULL;

	for (size_t i = 0; i < t->snap.n_events; i++) {
		const struct snap_event *e = &t->snap.events[i];
		if (e->bp_addr != (uintptr_t)&watched || e->target_tid != t->p.threads.tids[thread])
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

/* Until it shows both, as lists may change while it looks, if not these. */
static bool look_at_slots(struct test *t)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		while (!is_asleep(t, i))
			usleep(1000);
	for (int i = 0; i < LOOKS; i++) {
		live_must(inspect_take(t->inspect, INSPECT_ALL, &t->snap, &err), &err);
		t->e[0] = event_of(t, 0);
		t->e[1] = event_of(t, 1);
		if (t->e[0] && t->e[1])
			return true;
	}
	return CHECK(t, false, "a thread has not one breakpoint");
}

static void check_alone(struct test *t, int round)
{
	uint64_t before[2];
	uint32_t parents[2];

	send_order(&t->p, &(struct order){.passes = 1 + round % 3});
	if (!look_at_slots(t))
		return;
	for (int i = 0; i < 2; i++) {
		before[i] = t->e[i]->count;
		parents[i] = t->e[i]->flags & SNAP_CHILD;
	}
	t->exchanged += parents[0] != 0;
	send_order(&t->p, &(struct order){.writes = {WRITES, 0}});
	if (!look_at_slots(t))
		return;
	for (int i = 0; i < 2; i++) {
		const struct snap_event *e = t->e[i];
		uint64_t want = i == 0 ? WRITES : 0;
		CHECK(t, e->count - before[i] == want && e->hits == want,
		      "round %d, thread %d: %llu hits, not %llu", round, i,
		      (unsigned long long)e->hits, (unsigned long long)want);
		CHECK(t, (e->flags & SNAP_CHILD) == parents[i] && e->flags & SNAP_SHARED,
		      "round %d, thread %d: flags %x", round, i, e->flags);
	}
}

static void check_both(struct test *t)
{
	struct order o = {.passes = 101, .writes = {3, 4}};
	uint64_t before = 0, after = 0;

	if (!look_at_slots(t))
		return;
	for (int i = 0; i < 2; i++)
		before += t->e[i]->count;
	send_order(&t->p, &o);
	if (!look_at_slots(t))
		return;
	for (int i = 0; i < 2; i++)
		after += t->e[i]->count;
	CHECK(t, after - before == (uint64_t)o.passes * 7, "both: %llu hits, not %d",
	      (unsigned long long)(after - before), o.passes * 7);
}

int main(void)
{
	struct inspect_options all = {.probe_cpus = true};
	struct test t = {0};
	struct error err = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	live_need_root();
	if (inspect_bpf_new(&t.inspect, &all, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return LIVE_SKIP;
	}
	start(&t.p);
	for (int i = 0; i < ROUNDS; i++)
		check_alone(&t, i);
	check_both(&t);
	/* Some kernel may not do it; then this shows nothing of it. */
	printf("in %d of %d rounds the threads had exchanged their events\n", t.exchanged, ROUNDS);
	close(t.p.to[1]);
	waitpid(t.p.pid, NULL, 0);
	inspect_free(t.inspect);
	perfsnap_deinit(&t.snap);
	printf("%d failures\n", t.failures);
	return t.failures != 0;
}
