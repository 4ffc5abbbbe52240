// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that count how often this process acquires mmap_locks, for reading and for writing. The
 * kernel filters them by mode and adds the counts of threads that have ended. They do not show
 * whether a thread waited for the lock or only tried to get it.
 */
#include "bench-mm-int.h"
#include "kontend/perf-event.h"
#include "kontend/tracefs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MODES = 2, ATTR_SIZE = 128, PAGES = 2048 };

struct bench_mm_counter {
	int fds[MODES];
};

static const char event[] = "mmap_lock_acquire_returned";
static const char *const filters[MODES] = {"write == 0 && success == 1",
					   "write == 1 && success == 1"};

void bench_mm_counter_switch(const struct bench_mm_counter *c, bool on)
{
	for (int i = 0; i < MODES; i++)
		ioctl(c->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static int open_one(uint32_t id, const char *filter)
{
	struct perf_event_attr attr = {.size = ATTR_SIZE,
				       .type = PERF_TYPE_TRACEPOINT,
				       .config = id,
				       .inherit = 1,
				       .disabled = 1};
	int fd = perf_event_open(&attr, 0, -1, 0);

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0)
		return fd;
	int code = -errno;
	close(fd);
	return code;
}

static int open_all(struct bench_mm_counter *c, struct error *err)
{
	struct tracepoint tp = {0};
	char tracefs[TRACEFS_PATH];
	int code = tracefs_find(tracefs, err);

	memset(c->fds, -1, sizeof(c->fds));
	if (code == 0)
		code = tracepoint_read(&tp, tracefs, "mmap_lock", event, err);
	if (code < 0)
		return code;
	for (int w = 0; code >= 0 && w < MODES; w++)
		c->fds[w] = code = open_one(tp.id, filters[w]);
	tracepoint_deinit(&tp);
	return code < 0 ? error_errno(err, code, "Cannot count mmap_lock:%s", event) : 0;
}

static int read_all(const struct bench_mm_counter *c, uint64_t ret[MODES], struct error *err)
{
	for (int w = 0; w < MODES; w++)
		if (read(c->fds[w], &ret[w], sizeof(ret[w])) != (ssize_t)sizeof(ret[w]))
			return error_errno(err, errno ? -errno : -EIO,
					   "Cannot read the counts of mmap_locks");
	return 0;
}

int bench_mm_locks(enum bench_mm_mode mode, struct bench_mm_locks *ret, struct error *err)
{
	const struct bench_mm_options o = {
		.threads = 1,
		.bytes = (uint64_t)sysconf(_SC_PAGESIZE) * PAGES,
		.rounds = 1,
		.mode = mode,
	};
	struct bench_mm_counter c;
	struct bench_mm_result r;

	*ret = (struct bench_mm_locks){0};
	int code = open_all(&c, err);
	if (code == 0)
		code = bench_mm_run(&o, &c, &r, err);
	if (code == 0)
		code = read_all(&c, ret->got, err);
	if (code == 0)
		ret->pages = r.pages;
	for (int i = 0; i < MODES; i++)
		if (c.fds[i] >= 0)
			close(c.fds[i]);
	return code;
}
