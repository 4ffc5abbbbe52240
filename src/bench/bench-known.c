// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of perf that are opened and left open: the kernel closes them with the process. A
 * breakpoint watches a byte of its own that is never written. The probe only counts.
 */
#include "kontend/bench-known.h"
#include "kontend/perf-event.h"
#include "kontend/tracefs.h"
#include "kontend/uprobe-target.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

static volatile char watched[64];
static volatile uint64_t called;

/* Neither inlined nor optimized away: it has a side effect. */
__attribute__((noinline)) static void be_called(void)
{
	called++;
}

static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	return perf_event_open(attr, 0, -1, 0);
}

int bench_known_breakpoints(uint32_t n, struct error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (uintptr_t)&watched[i % sizeof(watched)],
			.bp_len = HW_BREAKPOINT_LEN_1,
			.exclude_kernel = 1,
		};
		int fd = open_event(&attr);
		if (fd < 0)
			return error_errno(err, fd == -ENOENT ? -EOPNOTSUPP : fd,
					   "Cannot place breakpoint %u of %u", i + 1, n);
	}
	return 0;
}

int bench_known_hits(uint64_t calls, struct error *err)
{
	int fd = uprobe_target_place_at(be_called, false, err);

	for (uint64_t i = 0; fd >= 0 && i < calls; i++)
		be_called();
	return fd < 0 ? fd : 0;
}

int bench_known_count_spins(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .inherit = 1};
	/* LCB_F_SPIN alone: excludes mutexes that spin first, and rwlocks. */
	char path[TRACEFS_PATH], filter[] = "flags == 1";
	struct tracepoint tp = {0};
	int code = tracefs_find(path, NULL);

	if (code == 0)
		code = tracepoint_read(&tp, path, "lock", "contention_begin", NULL);
	attr.config = tp.id;
	tracepoint_deinit(&tp);
	int fd = code < 0 ? code : open_event(&attr);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

uint64_t bench_known_reported(int fd)
{
	uint64_t n;

	if (fd < 0)
		return UINT64_MAX;
	if (read(fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		n = UINT64_MAX;
	close(fd);
	return n;
}
