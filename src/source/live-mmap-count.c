// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often mmap_locks are got by those who are measured, whether or not their events are on: an
 * event a CPU or task that only counts, for some 50 ns each time. Who is measured is slower while
 * events are written, so that a part of the time has less than its part of the acquisitions: by
 * these counts it is known which part.
 */
#include "live-mmap-count.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 };

struct places {
	const int32_t *ids; /* of tasks, or of CPUs */
	size_t n;
	bool tasks, inherit;
};

static int open_one(uint32_t id, const struct places *p, size_t i)
{
	struct perf_event_attr attr = {.size = ATTR_SIZE,
				       .type = PERF_TYPE_TRACEPOINT,
				       .config = id,
				       .inherit = p->inherit};

	return (int)syscall(SYS_perf_event_open, &attr, p->tasks ? p->ids[i] : -1,
			    p->tasks ? -1 : p->ids[i], -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_all(struct live_mmap_count *c, uint32_t id, const struct places *p)
{
	c->fds = mem_calloc(p->n ? p->n : 1, sizeof(*c->fds));
	for (size_t i = 0; c->fds && i < p->n; i++) {
		int fd = open_one(id, p, i);
		if (fd < 0) {
			/* What is counted of some is no part of anything. */
			live_mmap_count_close(c);
			return;
		}
		c->fds[c->n++] = fd;
	}
}

static void open_cpus(struct live_mmap_count *c, uint32_t id, const uint32_t *cpus, size_t n)
{
	int32_t *ids = mem_calloc(n ? n : 1, sizeof(*ids));

	for (size_t i = 0; ids && i < n; i++)
		ids[i] = (int32_t)cpus[i];
	if (ids)
		open_all(c, id, &(struct places){.ids = ids, .n = n});
	mem_free(ids);
}

static void open_system(struct live_mmap_count *c, uint32_t id, const struct target *t)
{
	uint32_t *online;
	size_t n;

	if (t->n_cpus) {
		open_cpus(c, id, t->cpus, t->n_cpus);
	} else if (cpulist_read("online", &online, &n) == 0) {
		open_cpus(c, id, online, n);
		mem_free(online);
	}
}

/* All threads that there are now, and what they will start. */
static void open_processes(struct live_mmap_count *c, uint32_t id, const struct target *t)
{
	size_t n = 0, cap = 0;
	pid_t *tids = NULL;

	for (size_t i = 0; i < t->n_ids; i++)
		(void)procfs_tids("/proc", t->ids[i], &tids, &n, &cap);
	open_all(c, id, &(struct places){.ids = tids, .n = n, .tasks = true, .inherit = true});
	mem_free(tids);
}

void live_mmap_count_open(struct live_mmap_count *c, uint32_t id, const struct target *t,
			  pid_t command)
{
	struct places p = {.ids = &command, .n = 1, .tasks = true, .inherit = true};

	if (t->kind == TARGET_SYSTEM)
		open_system(c, id, t);
	else if (t->n_cpus || t->kind == TARGET_CGROUP)
		return;
	else if (t->kind == TARGET_COMMAND)
		open_all(c, id, &p);
	else if (t->kind == TARGET_PIDS)
		open_processes(c, id, t);
}

uint64_t live_mmap_count_now(const struct live_mmap_count *c)
{
	uint64_t sum = 0, n;

	for (size_t i = 0; i < c->n; i++)
		sum += read(c->fds[i], &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : 0;
	return sum;
}

void live_mmap_count_close(struct live_mmap_count *c)
{
	for (size_t i = 0; i < c->n; i++)
		close(c->fds[i]);
	mem_free(c->fds);
	*c = (struct live_mmap_count){0};
}
