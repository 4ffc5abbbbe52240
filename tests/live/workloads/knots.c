// SPDX-License-Identifier: GPL-2.0-only
/*
 * knots FOLDER HOLD_US: where time is waited is known, and how much of it goes away when a lock is
 * held shorter. Four threads called "alpha" write to FOLDER/alpha from pages of a userfaultfd, so
 * that each has the lock of the file's inode for HOLD_US, and as often as it wants it; then four
 * called "beta" do the same with FOLDER/beta, for 20 ms always. Prints for either, in ns by its own
 * clock, all threads together: from the begin of each write to its end, and how long locks were
 * held; and writes a second. The rest of the first is what was waited.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 4,
	WRITES = 12,
	PAGES = THREADS * WRITES,
	SIZE = 64,
	PAGE = 4096,
	BETA_US = 20000
};

struct part {
	const char *name;
	struct slow_page page;
	int file;
	pthread_barrier_t start;
	atomic_ullong written_ns;
	unsigned long long held_ns;
};

struct writer {
	struct part *part;
	int nth;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000u + (unsigned long long)ts.tv_nsec;
}

static void *write_all(void *arg)
{
	struct writer *w = arg;
	struct part *p = w->part;

	prctl(PR_SET_NAME, p->name);
	pthread_barrier_wait(&p->start);
	for (int i = 0; i < WRITES; i++) {
		unsigned long long begin = now_ns();
		const char *from = p->page.addr + (size_t)(w->nth * WRITES + i) * PAGE;
		if (pwrite(p->file, from, SIZE, 0) != SIZE)
			fail("write from the missing page");
		atomic_fetch_add(&p->written_ns, now_ns() - begin);
	}
	return NULL;
}

static void open_part(struct part *p, const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, p->name);
	p->file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (p->file < 0)
		fail(path);
	if (slow_page_uffd(&p->page, PAGES) < 0)
		fail("userfaultfd");
	pthread_barrier_init(&p->start, NULL, THREADS);
}

static void run(struct part *p, useconds_t hold_us)
{
	pthread_t threads[THREADS];
	struct writer writers[THREADS];
	unsigned long long begin = now_ns();

	for (int i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){p, i};
		if (pthread_create(&threads[i], NULL, write_all, &writers[i]))
			fail("thread");
	}
	for (int i = 0; i < PAGES; i++) {
		if (slow_page_wait(&p->page) < 0)
			fail("no thread touches the page");
		unsigned long long touched = now_ns();
		usleep(hold_us);
		if (slow_page_release(&p->page) < 0)
			fail("the page");
		p->held_ns += now_ns() - touched;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s %llu %llu %.1f\n", p->name, (unsigned long long)atomic_load(&p->written_ns),
	       p->held_ns, PAGES * 1e9 / (double)(now_ns() - begin));
}

int main(int argc, char **argv)
{
	struct part alpha = {.name = "alpha"}, beta = {.name = "beta"};

	if (argc != 3)
		return 2;
	alarm(120); /* what cannot be measured is not waited for */
	open_part(&alpha, argv[1]);
	open_part(&beta, argv[1]);
	run(&alpha, (useconds_t)atoi(argv[2]));
	run(&beta, BETA_US);
	return 0;
}
