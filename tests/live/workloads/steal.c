// SPDX-License-Identifier: GPL-2.0-only
/*
 * steal FILE KIND MODE: a lock that a task takes without waiting while another one waits for it, a
 * known number of times. KIND pipe is the mutex of a pipe, file the rwsem of FILE's inode.
 *
 * In each round A holds the lock while the page that it writes from, of a userfaultfd, is held
 * back, and two tasks W begin to wait. All run on one CPU, and W last, as A and T are real-time
 * tasks. With MODE steal A releases the lock, which wakes the first W, and wakes T, which takes the
 * lock before W has run, and sleeps with it likewise. One more task then begins to wait. With MODE
 * wait T takes the lock when both W have had it, and the task begins to wait for T.
 *
 * Prints how often T took the lock while W waited for it.
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The two that write from a page come first. */
enum { A, T, W, W2, LATER, TASKS };
enum { ROUNDS = 8, SIZE = 64, PAGE = 4096, HOLD_US = 5000, SKIP = 77 };

struct task {
	pthread_t thread;
	int priority;	  /* real-time; 0: an ordinary task */
	const char *from; /* the page that it writes; NULL: one that is there */
	sem_t go;
	struct task *next; /* it lets that one go */
	_Atomic pid_t tid;
	_Atomic bool done;
};

static struct slow_page page;
static const char *path;
static int ends[2] = {-1, -1};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void skip(const char *what)
{
	fprintf(stderr, "skipped: %s: %s\n", what, strerror(errno));
	exit(SKIP);
}

/* On the last CPU that there is for us. */
static void go_to_cpu(int priority)
{
	const struct sched_param p = {.sched_priority = priority};
	cpu_set_t all, one;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		fail("CPUs");
	while (!CPU_ISSET(cpu, &all))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		fail("CPU");
	if (priority && sched_setscheduler(0, SCHED_FIFO, &p) < 0)
		skip("no real-time tasks");
}

static void *run(void *arg)
{
	static const char bytes[SIZE];
	struct task *t = arg;
	const char *from = t->from ? t->from : bytes;

	/* A file of its own: another lock is that of the position in it. */
	int own = *ends < 0 ? open(path, O_RDWR | O_CLOEXEC) : ends[1];
	go_to_cpu(t->priority);
	t->tid = (pid_t)syscall(SYS_gettid);
	while (sem_wait(&t->go) < 0)
		;
	ssize_t n = *ends < 0 ? pwrite(own, from, SIZE, 0) : write(own, from, SIZE);
	t->done = true;
	if (t->next)
		sem_post(&t->next->go);
	if (n != SIZE)
		fail("write");
	return NULL;
}

static void start(struct task *t, int priority, const char *from)
{
	t->priority = priority;
	t->from = from;
	t->next = NULL;
	t->tid = 0;
	t->done = false;
	if (sem_init(&t->go, 0, 0) < 0 || pthread_create(&t->thread, NULL, run, t))
		fail("thread");
	while (!t->tid)
		usleep(1000);
}

static void wait_for_lock(struct task *t)
{
	sem_post(&t->go);
	while (!slow_page_thread_sleeps(getpid(), t->tid))
		usleep(1000);
	usleep(HOLD_US);
}

static void hold(struct task *t)
{
	sem_post(&t->go);
	if (slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	usleep(HOLD_US);
}

static void release(void)
{
	if (slow_page_release(&page) < 0)
		fail("the page");
}

/* Has T got the lock while W waited for it? */
static bool steal(struct task *t)
{
	t[A].next = &t[T];
	hold(&t[A]);
	wait_for_lock(&t[W]);
	wait_for_lock(&t[W2]);
	release();
	if (slow_page_wait(&page) < 0)
		fail("no thread touches the second page");
	bool stolen = !t[W].done && !t[W2].done;
	while (stolen && !slow_page_thread_sleeps(getpid(), t[W].tid))
		usleep(1000);
	wait_for_lock(&t[LATER]);
	release();
	return stolen;
}

static void take_free(struct task *t)
{
	hold(&t[A]);
	wait_for_lock(&t[W]);
	wait_for_lock(&t[W2]);
	release();
	while (!t[W].done || !t[W2].done)
		usleep(1000);
	hold(&t[T]);
	wait_for_lock(&t[LATER]);
	release();
}

static int rounds(bool steals)
{
	struct task tasks[TASKS];
	int n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < TASKS; j++)
			start(&tasks[j],
			      j == A   ? 20
			      : j == T ? 10
				       : 0,
			      j <= T ? page.addr + (2 * i + j) * PAGE : NULL);
		if (steals)
			n += steal(tasks);
		else
			take_free(tasks);
		for (int j = 0; j < TASKS; j++)
			if (pthread_join(tasks[j].thread, NULL))
				fail("thread");
	}
	return n;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	alarm(60);
	path = argv[1];
	int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 || (!strcmp(argv[2], "pipe") && pipe2(ends, O_CLOEXEC) < 0))
		fail(path);
	if (slow_page_uffd(&page, 2 * ROUNDS) < 0)
		skip("no userfaultfd for the kernel's faults");
	int n = rounds(!strcmp(argv[3], "steal"));
	printf("%d\n", n);
	return 0;
}
