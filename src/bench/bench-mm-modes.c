// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways to fault a page. Memory is mapped before the threads are released, so that they do nothing
 * but fault. The exception is the room below a growing mapping, which each thread unmaps first: if
 * it was free earlier, a thread's stack might be placed there.
 */
#include "bench-mm-int.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel keeps 256 pages free below a growing mapping; with pages of 64 KiB this is as much. */
static const uint64_t GAP_PAGES = 512;

void bench_mm_touch(char *from, uint64_t bytes, size_t page)
{
	for (uint64_t i = 0; i < bytes; i += page)
		*(volatile char *)(from + i) = 1;
}

static int map_pages(struct bench_mm_job *j)
{
	j->all_bytes = j->bytes * j->threads;
	char *p = mmap(NULL, j->all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (p == MAP_FAILED)
		return -errno;
	/* A kernel without huge pages refuses this, which is fine. */
	(void)madvise(p, j->all_bytes, MADV_NOHUGEPAGE);
	j->all = p;
	for (uint32_t i = 0; i < j->threads; i++)
		j->workers[i].part = p + i * j->bytes;
	return 0;
}

static int touch_pages(struct bench_mm_worker *w)
{
	bench_mm_touch(w->part, w->job->bytes, w->job->page);
	return 0;
}

/* The call is short, needs no file and writes one number; a libc may answer it without the
 * kernel. */
static int have_kernel_touch(struct bench_mm_worker *w)
{
	for (uint64_t i = 0; i < w->job->bytes; i += w->job->page)
		if (syscall(SYS_getcpu, w->part + i, NULL, NULL) < 0)
			return -errno;
	return 0;
}

/* Every second page is marked as not inherited by children, so each is a mapping of its own. */
static int map_apart(struct bench_mm_job *j)
{
	int code = map_pages(j);

	for (uint64_t i = 0; code == 0 && i < j->all_bytes; i += 2 * j->page)
		code = madvise(j->all + i, j->page, MADV_DONTFORK) < 0 ? -errno : 0;
	/* This call returns EAGAIN if there are too many mappings. */
	return code == -EAGAIN ? -ENOMEM : code;
}

/* A mapping that grows downwards is limited like a stack. */
static int allow_growth(uint64_t bytes)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l) < 0)
		return -errno;
	if (l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= bytes)
		return 0;
	l.rlim_cur = bytes;
	return setrlimit(RLIMIT_STACK, &l) < 0 ? -errno : 0;
}

/* Room for each thread's part, of which only the last page is mapped. */
static int map_ends(struct bench_mm_job *j)
{
	uint64_t each = j->bytes + GAP_PAGES * j->page;
	int code = allow_growth(j->bytes);

	if (code < 0)
		return code;
	j->all_bytes = each * j->threads;
	char *p = mmap(NULL, j->all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	j->all = p;
	for (uint32_t i = 0; i < j->threads; i++) {
		char *last = p + (i + 1) * each - j->page;
		if (mmap(last, j->page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			return -errno;
		j->workers[i].part = last;
	}
	return 0;
}

static int touch_below(struct bench_mm_worker *w)
{
	const struct bench_mm_job *j = w->job;
	uint64_t room = j->bytes - j->page + GAP_PAGES * j->page;

	if (munmap(w->part - room, room) < 0)
		return -errno;
	for (uint64_t i = 0; i < j->bytes; i += j->page)
		*(volatile char *)(w->part - i) = 1;
	return 0;
}

const struct bench_mm_way bench_mm_ways[BENCH_MM_MODES] = {
	[BENCH_MM_ANON] = {"anon", map_pages, touch_pages},
	[BENCH_MM_KERNEL] = {"kernel", map_pages, have_kernel_touch},
	[BENCH_MM_FRESH] = {"fresh", map_apart, touch_pages},
	[BENCH_MM_GROWSDOWN] = {"growsdown", map_ends, touch_below},
};

const char *bench_mm_mode_name(enum bench_mm_mode mode)
{
	return mode < BENCH_MM_MODES ? bench_mm_ways[mode].name : "?";
}

int bench_mm_mode_parse(const char *name, enum bench_mm_mode *ret)
{
	for (int i = 0; i < BENCH_MM_MODES; i++) {
		if (strcmp(name, bench_mm_ways[i].name) == 0) {
			*ret = (enum bench_mm_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}
