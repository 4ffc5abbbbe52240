// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a memfd and then a directory, again and again; in tmpfs the inode of each comes from the
 * memory that the one before gave back. A thread holds the inode's lock asleep while another one,
 * named mN for memfd N and dN for directory N, waits for it, once. Prints a line for each inode:
 * "m N" or "d N".
 *
 *     other-objects FOLDER ROUNDS
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, HOLD_US = 2000, FREED_US = 20000, TRIES = 5000 };

struct object {
	struct slow_page *page;
	const char *path; /* of a directory; NULL: it is a memfd */
	int number, fd;
	char *addr; /* the page that is slow for its holder */
	_Atomic pid_t waiter;
	_Atomic int failed;
};

/* Both sleep in a fault with the inode's lock: one reads from the page, one writes to it. */
static void *hold(void *arg)
{
	struct object *o = arg;
	long n = o->path ? syscall(SYS_getdents64, o->fd, o->addr, PAGE) : write(o->fd, o->addr, 8);

	if (n <= 0)
		o->failed = errno ? errno : EIO;
	return NULL;
}

static void *wait_once(void *arg)
{
	struct object *o = arg;
	char text[300];

	snprintf(text, sizeof(text), "%c%d", o->path ? 'd' : 'm', o->number);
	prctl(PR_SET_NAME, text);
	o->waiter = gettid();
	if (!o->path) {
		if (pwrite(o->fd, "x", 1, 0) != 1)
			o->failed = errno;
		return NULL;
	}
	snprintf(text, sizeof(text), "%s/x", o->path);
	if (mkdir(text, 0700) < 0 || rmdir(text) < 0)
		o->failed = errno;
	return NULL;
}

static int contend(struct object *o)
{
	pthread_t holder, waiter;
	int code;

	if (pthread_create(&holder, NULL, hold, o))
		return -EAGAIN;
	code = slow_page_wait(o->page);
	if (code < 0)
		return code;
	if (pthread_create(&waiter, NULL, wait_once, o))
		return -EAGAIN;
	for (int i = 0; i < TRIES && !(o->waiter && slow_page_thread_sleeps(getpid(), o->waiter));
	     i++)
		usleep(200);
	usleep(HOLD_US);
	code = slow_page_release(o->page);
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
	printf("%c %d\n", o->path ? 'd' : 'm', o->number);
	return code < 0 ? code : -o->failed;
}

/* The kernel frees an inode after a grace period. */
static void wait_until_freed(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(FREED_US);
}

static int one_memfd(struct slow_page *page, int round)
{
	struct object o = {.page = page, .number = round};
	char name[16];

	snprintf(name, sizeof(name), "m%d", round);
	o.addr = page->addr + (size_t)round * 2 * PAGE;
	o.fd = memfd_create(name, MFD_CLOEXEC);
	if (o.fd < 0)
		return -errno;
	int code = contend(&o);
	close(o.fd);
	wait_until_freed();
	return code;
}

static int one_folder(struct slow_page *page, const char *base, int round)
{
	struct object o = {.page = page, .number = round};
	char path[200];

	snprintf(path, sizeof(path), "%s/d%d", base, round);
	o.path = path;
	o.addr = page->addr + ((size_t)round * 2 + 1) * PAGE;
	if (mkdir(path, 0700) < 0)
		return -errno;
	o.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o.fd < 0)
		return -errno;
	int code = contend(&o);
	close(o.fd);
	if (rmdir(path) < 0 && code >= 0)
		code = -errno;
	wait_until_freed();
	return code;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0, code;
	struct slow_page page;
	cpu_set_t one;

	if (rounds < 1) {
		fprintf(stderr, "usage: other-objects FOLDER ROUNDS\n");
		return 2;
	}
	/* Freed memory is used again on the CPU that freed it. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	code = slow_page_uffd(&page, (size_t)rounds * 2);
	for (int i = 0; code >= 0 && i < rounds; i++) {
		code = one_memfd(&page, i);
		if (code >= 0)
			code = one_folder(&page, argv[1], i);
	}
	if (code < 0)
		fprintf(stderr, "other-objects: %s\n", strerror(-code));
	return code < 0;
}
