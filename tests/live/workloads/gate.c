// SPDX-License-Identifier: GPL-2.0-only
/*
 * In step: the opener asks the holder for a hold, waits until that sleeps in its slow page, lets
 * the threads in, waits until each of them sleeps in turn, gives the page, and waits until all have
 * passed. So every thread waits once a gate, whatever the scheduler does.
 */
#include "gate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, LOOK_US = 300 };

static bool is_dir(const struct gate *g, int nth)
{
	return g->dir >= 0 && nth % 2;
}

static void hold_pipe(struct gate *g)
{
	char drain[PAGE];

	while (read(g->pipe[0], drain, sizeof(drain)) > 0)
		;
	if (write(g->pipe[1], g->page.addr, 8) < 0)
		perror("gate: write");
}

static void hold_dir(struct gate *g)
{
	int fd = openat(g->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_getdents64, fd, g->page.addr, PAGE) < 0)
		perror("gate: getdents");
	close(fd);
}

static void *holder_main(void *arg)
{
	struct gate *g = arg;

	g->holder = gettid();
	for (int nth = 0;; nth++) {
		while (g->wanted <= nth)
			usleep(LOOK_US);
		madvise(g->page.addr, PAGE, MADV_DONTNEED);
		if (is_dir(g, nth))
			hold_dir(g);
		else
			hold_pipe(g);
	}
	return NULL;
}

int gate_init(struct gate *g, int n, int dir)
{
	pthread_t t;
	int r;

	*g = (struct gate){.n = n, .dir = -1};
	if (n > GATE_MAX_THREADS)
		return -EINVAL;
	if (dir >= 0) {
		/* One that is not needed on the way to a gate. */
		if (mkdirat(dir, "gate", 0700) && errno != EEXIST)
			return -errno;
		g->dir = openat(dir, "gate", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (g->dir < 0)
			return -errno;
	}
	if (pipe2(g->pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	r = slow_page_uffd(&g->page, 1);
	if (r)
		return r;
	r = pthread_create(&t, NULL, holder_main, g);
	while (!r && !g->holder)
		usleep(LOOK_US);
	return -r;
}

void gate_join(struct gate *g, int index)
{
	g->threads[index].tid = gettid();
}

static int touch(struct gate *g, int index, int nth)
{
	char name[16];

	if (!is_dir(g, nth))
		return write(g->pipe[1], "x", 1) == 1 ? 0 : -errno;
	snprintf(name, sizeof(name), "%d", index);
	if (mkdirat(g->dir, name, 0700) || unlinkat(g->dir, name, AT_REMOVEDIR))
		return -errno;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int gate_pass(struct gate *g, int index, int nth)
{
	struct gate_thread *t = &g->threads[index];
	int r;

	while (g->held <= nth)
		usleep(LOOK_US);
	t->since_ns = now_ns();
	t->waits = true;
	r = touch(g, index, nth);
	t->waits = false;
	t->passed = nth + 1;
	return r;
}

void gate_until(pid_t tid, char state)
{
	while (slow_page_thread_state(getpid(), tid) != state)
		usleep(LOOK_US);
}

int gate_hold(struct gate *g, int nth)
{
	int r;

	g->wanted = nth + 1;
	r = slow_page_wait(&g->page);
	if (r)
		return r;
	g->held = nth + 1;
	for (int i = 0; i < g->n; i++) {
		while (!g->threads[i].waits)
			usleep(LOOK_US);
		gate_until(g->threads[i].tid, 'D');
	}
	return 0;
}

int gate_release(struct gate *g, int nth)
{
	int r = slow_page_release(&g->page);

	for (int i = 0; i < g->n && !r; i++) {
		while (g->threads[i].passed <= nth)
			usleep(LOOK_US);
	}
	return r;
}

int gate_open(struct gate *g, int nth)
{
	int r = gate_hold(g, nth);

	return r ? r : gate_release(g, nth);
}
