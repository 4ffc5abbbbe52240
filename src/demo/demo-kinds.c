// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of the demo, one entry each. A step is a few system calls on the shared object; errors
 * of a step are ignored, as the next step tries again. Everything is bounded: 4 MiB of file, one
 * pipe, as many names as threads, 32 MiB of memory for the time of one step.
 */
#include "demo-internal.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAP_LEN = 64 << 10, BIG_LEN = 32 << 20, FILE_MAX = 4 << 20, CHUNK = 32 << 10 };

static void mmap_step(struct demo *d, unsigned thread, uint64_t round)
{
	/* One long hold of mmap_lock in each burst, by the first thread. */
	size_t len = thread == 0 && round == 0 ? BIG_LEN : MAP_LEN;
	int populate = len == BIG_LEN ? MAP_POPULATE : 0;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate,
		       -1, 0);

	(void)d;
	if (p == MAP_FAILED)
		return;
	for (size_t k = 0; !populate && k < len; k += DEMO_PAGE)
		*(volatile char *)(p + k) = 1;
	munmap(p, len);
}

static void inode_step(struct demo *d, unsigned thread, uint64_t round)
{
	static const char chunk[CHUNK];
	off_t at = (off_t)((round + thread * 7) % (FILE_MAX / CHUNK)) * CHUNK;

	if (pwrite(d->file_fd, chunk, sizeof(chunk), at) < 0)
		return;
}

static void inode_hold(struct demo *d, char *slow)
{
	if (pwrite(d->file_fd, slow, 64, 0) < 0)
		return;
}

static void pipe_step(struct demo *d, unsigned thread, uint64_t round)
{
	static const char out[DEMO_PAGE];
	char in[DEMO_PAGE];
	ssize_t n;

	(void)round;
	if (thread % 2)
		n = read(d->pipe_fd[0], in, sizeof(in));
	else
		n = write(d->pipe_fd[1], out, sizeof(out));
	(void)n;
}

static void pipe_hold(struct demo *d, char *slow)
{
	char in[DEMO_PAGE];

	/* Writing to a full pipe would return at once: make room first. */
	if (read(d->pipe_fd[0], in, sizeof(in)) < 0 || write(d->pipe_fd[1], slow, 64) < 0)
		return;
}

static void dir_list(struct demo *d, void *buf)
{
	int fd = openat(d->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (syscall(SYS_getdents64, fd, buf, DEMO_PAGE) > 0)
		;
	close(fd);
}

static void dir_step(struct demo *d, unsigned thread, uint64_t round)
{
	char name[24];
	char buf[DEMO_PAGE];
	int fd;

	(void)round;
	if (thread % 2) {
		dir_list(d, buf);
		return;
	}
	snprintf(name, sizeof(name), "n%u", thread);
	fd = openat(d->dir_fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	unlinkat(d->dir_fd, name, 0);
}

static void dir_hold(struct demo *d, char *slow)
{
	dir_list(d, slow);
}

static void futex_step(struct demo *d, unsigned thread, uint64_t round)
{
	(void)thread;
	(void)round;
	/* The value never matches: the bucket is locked, compared and unlocked, and the thread does
	 * not sleep. */
	for (int k = 0; k < 16; k++)
		syscall(SYS_futex, &d->futex_word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

/*
 * A chain of waits: the holder sleeps with the i_rwsem of a file; the first worker moves data there
 * from a pipe and waits for it with the pipe's mutex; the others wait for that mutex.
 */
static void chain_step(struct demo *d, unsigned thread, uint64_t round)
{
	static const char out[64];
	off_t at = 0;

	(void)round;
	if (write(d->feed_fd[1], out, sizeof(out)) < 0 && thread)
		return;
	if (thread == 0 && splice(d->feed_fd[0], NULL, d->log_fd, &at, CHUNK, 0) < 0)
		return;
}

static void chain_hold(struct demo *d, char *slow)
{
	if (pwrite(d->log_fd, slow, 64, 0) < 0)
		return;
}

const struct demo_kind_ops demo_kinds[DEMO_KINDS] = {
	/* rwsem R and W: mmap_lock under mmap, page faults and munmap */
	{"mmap", mmap_step, NULL},
	/* rwsem W: i_rwsem of one file under writes */
	{"inode", inode_step, inode_hold},
	/* mutex of one pipe under reads and writes */
	{"pipe", pipe_step, pipe_hold},
	/* rwsem R and W: i_rwsem of one directory under readdir and create */
	{"dir", dir_step, dir_hold},
	/* spinlock of one futex bucket */
	{"futex", futex_step, NULL},
	/* mutex of a pipe, whose holder waits for the rwsem W of a file */
	{"chain", chain_step, chain_hold},
};
