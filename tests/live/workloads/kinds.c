// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks with a sleeping holder. Each kind names what holds and what waits:
 *   mm    mmap_lock: held R by a read of /proc/self/mem of a slow file page; R by mincore(), W by
 *         mprotect(). Readers wait since writers queue before them.
 *   dir   i_rwsem of a directory: held R by getdents64() into a slow page; R by getdents64(), W by
 *         creating names. It is the root of a detached tmpfs of our own.
 *   pipe  the mutex of a pipe: held by a write() from a slow page; waited for by write().
 */
#include "truth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *slow_addr(struct truth *t, int round)
{
	return t->page.addr + (size_t)round * PAGE;
}

static int mm_prepare(struct truth *t)
{
	int r = slow_page_fuse_mount(&t->page, (size_t)t->n_rounds);

	if (r)
		return r;
	t->fds[0] = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return t->fds[0] < 0 ? -errno : 0;
}

static int mm_start(struct truth *t)
{
	return slow_page_fuse_map(&t->page);
}

static int mm_hold(struct truth *t, int round)
{
	char c;

	return pread(t->fds[0], &c, 1, (off_t)(uintptr_t)slow_addr(t, round)) == 1 ? 0 : -errno;
}

static int mm_read(struct truth *t, int round, int waiter)
{
	unsigned char vec[1];

	(void)round;
	(void)waiter;
	return mincore(t->page.addr, PAGE, vec) ? -errno : 0;
}

static int mm_write(struct truth *t, int round, int waiter)
{
	(void)waiter;
	return mprotect(t->page.addr, PAGE, round % 2 ? PROT_READ : PROT_READ | PROT_EXEC) ? -errno
											   : 0;
}

static int dir_prepare(struct truth *t)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	t->fds[0] = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (t->fds[0] < 0)
		return -errno;
	close(fs);
	return slow_page_uffd(&t->page, (size_t)t->n_rounds);
}

static int dir_list(struct truth *t, void *buf, size_t len)
{
	int fd = openat(t->fds[0], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (getdents64(fd, buf, len) < 0)
		r = -errno;
	close(fd);
	return r;
}

static int dir_hold(struct truth *t, int round)
{
	return dir_list(t, slow_addr(t, round), PAGE);
}

static int dir_read(struct truth *t, int round, int waiter)
{
	char buf[PAGE];

	(void)round;
	(void)waiter;
	return dir_list(t, buf, sizeof(buf));
}

static int dir_write(struct truth *t, int round, int waiter)
{
	char name[32];

	snprintf(name, sizeof(name), "%d-%d", round, waiter);
	return mkdirat(t->fds[0], name, 0700) ? -errno : 0;
}

static int pipe_prepare(struct truth *t)
{
	if (pipe2(t->fds, O_CLOEXEC))
		return -errno;
	return slow_page_uffd(&t->page, (size_t)t->n_rounds);
}

static int pipe_hold(struct truth *t, int round)
{
	return write(t->fds[1], slow_addr(t, round), 8) == 8 ? 0 : -errno;
}

static int pipe_write(struct truth *t, int round, int waiter)
{
	(void)round;
	(void)waiter;
	return write(t->fds[1], "x", 1) == 1 ? 0 : -errno;
}

const struct truth_kind truth_mm = {"mm",     "rwsem", 1,	mm_prepare,
				    mm_start, mm_hold, mm_read, mm_write};
const struct truth_kind truth_dir = {"dir", "rwsem",  1,	dir_prepare,
				     NULL,  dir_hold, dir_read, dir_write};
const struct truth_kind truth_pipe = {"pipe", "mutex",	 0,	     pipe_prepare,
				      NULL,   pipe_hold, pipe_write, pipe_write};
