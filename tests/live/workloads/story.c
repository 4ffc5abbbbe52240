// SPDX-License-Identifier: GPL-2.0-only
/*
 * story breakpoint|uprobe: four threads, each for some tenths of a second of its CPU time, that
 * open and close breakpoints of their own, or hit a probe on a return instruction, which the kernel
 * executes out of line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 64, SKIPPED = 77 };

static const int64_t EACH_NS = 300000000;

static char path[512];
static uint64_t watched[THREADS];

void story_ret(void);
__asm__(".text\n.globl story_ret\n.type story_ret, %function\nstory_ret:\n\tret\n"
	".size story_ret, . - story_ret\n");

static bool is_time_left(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec < EACH_NS;
}

static int open_event(struct perf_event_attr *a)
{
	a->size = sizeof(*a);
	a->exclude_kernel = a->exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_breakpoint(const uint64_t *at)
{
	struct perf_event_attr a = {.type = PERF_TYPE_BREAKPOINT,
				    .bp_type = HW_BREAKPOINT_W,
				    .bp_addr = (uintptr_t)at,
				    .bp_len = HW_BREAKPOINT_LEN_8};

	return open_event(&a);
}

static void *churn(void *arg)
{
	while (is_time_left()) {
		int fd = open_breakpoint(arg);
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

static void *hit(void *arg)
{
	while (is_time_left())
		for (int i = 0; i < CALLS; i++)
			story_ret();
	return arg;
}

/* Offset of the probed instruction in our file, whose path is noted; 0: not found. */
static uint64_t find_place(void)
{
	uint64_t at = (uintptr_t)story_ret, start, end, offset, found = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[1024];

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %511s", &start,
			   &end, &offset, path) == 4 &&
		    start <= at && at < end)
			found = at - start + offset;
	if (f)
		fclose(f);
	return found;
}

/* In this program alone, and gone with it. */
static int place_probe(void)
{
	uint64_t offset = find_place();
	struct perf_event_attr a = {.inherit = 1, .config1 = (uintptr_t)path, .config2 = offset};
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int fd = -1;

	if (f && offset && fscanf(f, "%" SCNu32, &a.type) == 1)
		fd = open_event(&a);
	if (f)
		fclose(f);
	return fd;
}

/* Can it be done here at all? */
static bool prepare(bool uprobe)
{
	int fd = uprobe ? place_probe() : open_breakpoint(watched);

	if (fd < 0)
		fprintf(stderr, "story: cannot open the event: %s\n", strerror(errno));
	else if (!uprobe)
		close(fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	bool uprobe = argc == 2 && !strcmp(argv[1], "uprobe");
	pthread_t threads[THREADS];
	int n = 0;

	if (!uprobe && (argc != 2 || strcmp(argv[1], "breakpoint") != 0))
		return 2;
	if (!prepare(uprobe))
		return SKIPPED;
	while (n < THREADS && !pthread_create(&threads[n], NULL, uprobe ? hit : churn, &watched[n]))
		n++;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return n == THREADS ? 0 : 1;
}
