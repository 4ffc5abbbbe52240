// SPDX-License-Identifier: GPL-2.0-only
/*
 * story-chain FILE ROUNDS HOLD_MS: the chain of `blocked`, again and again, each for a known time.
 * A sleeps in a write to FILE, whose data is a page of a userfaultfd, with the lock of its inode; B
 * moves data from a pipe to FILE, so it waits for that lock with the pipe's mutex; C and D write to
 * the pipe and wait for B. When all sleep, HOLD_MS later, the page is given.
 *
 * Prints for each round "hold": from when A had the lock at the latest until it had it at least;
 * and a "wait" for each of the others: it began after from_least and before from_most, when the
 * thread was seen asleep, and lasted until to_least at least, when A was released, and to_most at
 * most, when the call was back.
 */
#include "slow-page.h"
#include "tell.h"

#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, SIZE = 64, PAGE = 4096, LOOK_US = 200, APART_US = 5000 };

struct actor {
	int n; /* 0 is A */
	volatile pid_t tid;
	sem_t go, done;
	volatile uint64_t from; /* just before the call */
	uint64_t asleep, to;
};

struct round {
	uint64_t touched, released;
	uint64_t from[THREADS], asleep[THREADS], to[THREADS];
};

static struct slow_page page;
static struct actor actors[THREADS];
static int file, ends[2];

static ssize_t act(int n)
{
	if (n == 0)
		return pwrite(file, page.addr, SIZE, 0);
	if (n == 1)
		return splice(ends[0], NULL, file, NULL, SIZE, 0);
	return write(ends[1], "x", 1);
}

static void *actor_main(void *arg)
{
	struct actor *a = arg;

	a->tid = tell_tid();
	for (;;) {
		while (sem_wait(&a->go))
			;
		a->from = tell_now();
		if (act(a->n) < 0)
			tell_fail("a write, or a splice");
		a->to = tell_now();
		sem_post(&a->done);
	}
	return NULL;
}

static void start_actors(void)
{
	for (int i = 0; i < THREADS; i++) {
		actors[i].n = i;
		if (sem_init(&actors[i].go, 0, 0) || sem_init(&actors[i].done, 0, 0))
			tell_fail("sem_init");
		tell_thread(actor_main, &actors[i]);
		while (!actors[i].tid)
			usleep(LOOK_US);
	}
}

/* Until it is in its call and asleep there. */
static void let(struct actor *a)
{
	a->from = 0;
	sem_post(&a->go);
	if (a->n == 0 && slow_page_wait(&page) < 0)
		tell_fail("no thread touches the page");
	while (a->n && (!a->from || !slow_page_thread_sleeps(getpid(), a->tid)))
		usleep(LOOK_US);
	a->asleep = tell_now();
}

static void fill_pipe(void)
{
	char data[SIZE] = "";

	while (read(ends[0], data, sizeof(data)) > 0)
		;
	if (write(ends[1], data, sizeof(data)) != SIZE)
		tell_fail("the pipe");
}

static void play(struct round *r, useconds_t hold_us)
{
	madvise(page.addr, PAGE, MADV_DONTNEED);
	fill_pipe();
	for (int i = 0; i < THREADS; i++)
		let(&actors[i]);
	usleep(hold_us);
	r->touched = actors[0].asleep;
	r->released = tell_now();
	if (slow_page_release(&page) < 0)
		tell_fail("the page");
	for (int i = 0; i < THREADS; i++) {
		while (sem_wait(&actors[i].done))
			;
		r->from[i] = actors[i].from;
		r->asleep[i] = actors[i].asleep;
		r->to[i] = actors[i].to;
	}
}

static void print_round(const struct round *r)
{
	printf("hold tid=%d from=%" PRIu64 " to=%" PRIu64 "\n", (int)actors[0].tid, r->touched,
	       r->released);
	for (int i = 1; i < THREADS; i++)
		printf("wait name=%c tid=%d from_least=%" PRIu64 " from_most=%" PRIu64
		       " to_least=%" PRIu64 " to_most=%" PRIu64 "\n",
		       'A' + i, (int)actors[i].tid, r->from[i], r->asleep[i], r->released,
		       r->to[i]);
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0, ms = argc == 4 ? atoi(argv[3]) : 0;

	if (n < 1 || ms < 1)
		return 2;
	alarm((unsigned)(60 + n * ms / 500));
	file = open(argv[1], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 || pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		tell_fail(argv[1]);
	if (slow_page_uffd(&page, 1) < 0)
		tell_skip("no userfaultfd for the kernel's faults");
	struct round *rounds = calloc((size_t)n, sizeof(*rounds));
	if (!rounds)
		tell_fail("calloc");
	start_actors();
	for (int i = 0; i < n; i++) {
		usleep(APART_US);
		play(&rounds[i], (useconds_t)ms * 1000);
	}
	for (int i = 0; i < n; i++)
		print_round(&rounds[i]);
	free(rounds);
	return 0;
}
