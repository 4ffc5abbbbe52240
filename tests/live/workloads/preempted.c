// SPDX-License-Identifier: GPL-2.0-only
/*
 * preempted: a thread that holds the lock of a file's inode, while it writes much to it, is kept
 * off its CPU again and again by another one of higher priority, and a third thread waits for
 * the lock. All have real-time priority, so that other tasks that want the CPU hardly
 * gets it. The second begins when the third sleeps, and ends with the write. Prints a line a round:
 * the ids of the first and the second thread, from when to when, how long the first was ready to
 * run and did not meanwhile, as the scheduler counts it (/proc/PID/schedstat), and how much of that
 * may have been before; in ns. The first round is for observers that follow a lock only after they
 * have seen a long wait.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 4,
	TRIES = 20,
	PARTS = 4,
	PART = 48 << 20,
	LOW = 1,
	HIGH = 2,
	BUSY_NS = 12000000,
	REST_US = 4000,
	SKIP = 77,
};

static int file;
static char *data;
static atomic_int turn, waits_for; /* rounds that have begun, and that the third may wait in */
static atomic_bool writes, done;   /* the first has begun to, and is through */
static atomic_int holder_tid, hog_tid, waiter_tid;
static uint64_t end_ns, end_delay_ns;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int this_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* How long the first was ready to run, and did not, in all its life. */
static uint64_t delay_ns(void)
{
	unsigned long long runs, waits;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", holder_tid);
	FILE *f = fopen(path, "re");
	if (!f || fscanf(f, "%llu %llu", &runs, &waits) != 2) {
		fprintf(stderr, "skipped: no schedstat of threads\n");
		exit(SKIP);
	}
	fclose(f);
	return waits;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("the CPU");
}

static void be_first(int priority)
{
	const struct sched_param p = {.sched_priority = priority};

	if (sched_setscheduler(0, SCHED_FIFO, &p)) {
		fprintf(stderr, "skipped: no real-time priority\n");
		exit(SKIP);
	}
}

/* Both as of one moment: the second may keep this one off its CPU between two readings. */
static void take_end(void)
{
	uint64_t before;

	do {
		before = delay_ns();
		end_ns = now_ns();
		end_delay_ns = delay_ns();
	} while (end_delay_ns != before);
}

static void *hold(void *arg)
{
	struct iovec parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){data, PART};
	pin(*(int *)arg);
	be_first(LOW);
	holder_tid = this_tid();
	for (int i = 1; i <= TRIES; i++) {
		while (turn < i)
			usleep(500);
		writes = true;
		if (pwritev(file, parts, PARTS, 0) < 0)
			fail("the first write");
		take_end();
		done = true;
	}
	return NULL;
}

static void *wait_for_it(void *arg)
{
	(void)arg;
	be_first(HIGH);
	waiter_tid = this_tid();
	for (int i = 1; i <= TRIES; i++) {
		while (waits_for < i)
			usleep(500);
		if (pwrite(file, "x", 1, 0) != 1)
			fail("the second write");
	}
	return NULL;
}

/*
 * From when on all of the first one's waiting for its CPU counts. It waits since a moment ago, as
 * this one has the CPU, and what it waits is counted when it runs again: the clock is read first,
 * since this one may be kept off as well, by the share that ordinary tasks are granted.
 */
static void hog(uint64_t *ret_ns, uint64_t *ret_delay_ns)
{
	*ret_ns = now_ns();
	*ret_delay_ns = delay_ns();
	while (!done) {
		uint64_t until = now_ns() + BUSY_NS;
		while (now_ns() < until)
			;
		usleep(REST_US);
	}
}

/* This thread is the hog. False: the write was over before any thread waited for it. */
static bool play(int round)
{
	uint64_t from_ns, from_delay_ns, ran_ns;

	writes = done = false;
	turn = round;
	while (!writes)
		usleep(100);
	usleep(1000); /* by then it has the lock */
	waits_for = round;
	do {
		ran_ns = now_ns(); /* the first one runs again after that */
		usleep(200);
	} while (!done && !slow_page_thread_sleeps(getpid(), waiter_tid));
	if (done)
		return false;
	hog(&from_ns, &from_delay_ns);
	printf("%d %d %llu %llu %llu %llu\n", holder_tid, hog_tid, (unsigned long long)from_ns,
	       (unsigned long long)end_ns, (unsigned long long)(end_delay_ns - from_delay_ns),
	       (unsigned long long)(from_ns - ran_ns));
	if (ftruncate(file, 0))
		fail("the file");
	return true;
}

int main(void)
{
	pthread_t holder, waiter;
	cpu_set_t set;
	int cpu = 0;

	alarm(120);
	if (sched_getaffinity(0, sizeof(set), &set))
		fail("the CPUs");
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	file = memfd_create("preempted", MFD_CLOEXEC);
	data = malloc(PART);
	if (file < 0 || !data)
		fail("the file");
	memset(data, 1, PART);
	if (pthread_create(&holder, NULL, hold, &cpu) ||
	    pthread_create(&waiter, NULL, wait_for_it, NULL))
		fail("thread");
	while (!holder_tid || !waiter_tid)
		usleep(500);
	hog_tid = this_tid();
	pin(cpu);
	be_first(HIGH);
	int rounds = 0;
	for (int i = 1; i <= TRIES && rounds < ROUNDS; i++)
		rounds += play(i);
	if (rounds < ROUNDS)
		fprintf(stderr, "no thread waited in most of the writes\n");
	return rounds < ROUNDS;
}
