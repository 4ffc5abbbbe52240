// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes and deletes files one after the other. For each one a thread named hN holds its inode's
 * lock asleep, and a thread named fN waits for it, once. Prints "N INODE GENERATION HOLD-NS" a
 * file.
 *
 *     short-files FOLDER FILES
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, HOLD_US = 2000, TRIES = 5000 };

struct file {
	struct slow_page *page;
	int number, fd;
	_Atomic pid_t waiter;
};

static void set_name(char kind, int number)
{
	char name[16];

	snprintf(name, sizeof(name), "%c%d", kind, number);
	prctl(PR_SET_NAME, name);
}

static void *hold(void *arg)
{
	struct file *f = arg;

	set_name('h', f->number);
	if (write(f->fd, f->page->addr + (size_t)f->number * PAGE, 8) != 8)
		perror("write of a slow page");
	return NULL;
}

static void *wait_in_turn(void *arg)
{
	struct file *f = arg;

	set_name('f', f->number);
	f->waiter = gettid();
	if (pwrite(f->fd, "x", 1, 0) != 1)
		perror("pwrite");
	return NULL;
}

static int wait_once(struct file *f)
{
	pthread_t holder, waiter;
	int code;

	if (pthread_create(&holder, NULL, hold, f))
		return -EAGAIN;
	code = slow_page_wait(f->page);
	if (code < 0)
		return code;
	if (pthread_create(&waiter, NULL, wait_in_turn, f))
		return -EAGAIN;
	for (int i = 0; i < TRIES && !(f->waiter && slow_page_thread_sleeps(getpid(), f->waiter));
	     i++)
		usleep(200);
	usleep(HOLD_US);
	code = slow_page_release(f->page);
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
	return code;
}

static int one_file(struct slow_page *page, const char *folder, int number)
{
	struct file f = {.page = page, .number = number};
	long generation = 0;
	struct stat st;
	char path[300];

	snprintf(path, sizeof(path), "%s/f%d", folder, number);
	f.fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (f.fd < 0 || fstat(f.fd, &st) < 0)
		return -errno;
	ioctl(f.fd, FS_IOC_GETVERSION, &generation); /* stays 0 where the file system has none */
	int code = wait_once(&f);
	unlink(path);
	close(f.fd);
	printf("%d %" PRIu64 " %ld\n", number, (uint64_t)st.st_ino, generation);
	return code;
}

int main(int argc, char **argv)
{
	int files = argc == 3 ? atoi(argv[2]) : 0, code;
	struct slow_page page;

	if (files < 1) {
		fprintf(stderr, "usage: short-files FOLDER FILES\n");
		return 2;
	}
	code = slow_page_uffd(&page, (size_t)files);
	for (int i = 0; code >= 0 && i < files; i++)
		code = one_file(&page, argv[1], i);
	if (code < 0)
		fprintf(stderr, "short-files: %s\n", strerror(-code));
	return code < 0;
}
