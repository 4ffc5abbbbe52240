// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts how often the measured tasks get mmap_locks, whether or not their events are on: by events
 * that only count, which costs about 50 ns each time, opened on the same tasks and CPUs (or the
 * cgroup on each CPU) as those that are recorded. The measured tasks are slower while events are
 * recorded, so a tenth of the time has less than a tenth of the acquisitions: the counts show the
 * true part.
 */
#include "kontend/cgroup.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/procfs.h"
#include "live-internal.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 };

/* All pairs of a task (or cgroup, by the flags) and a CPU; -1 is any. */
struct places {
	const int32_t *ids;
	const uint32_t *cpus;
	size_t n_ids, n_cpus;
	unsigned long flags;
	bool inherit;
};

static const int32_t any_id = -1;
static const uint32_t any_cpu = (uint32_t)-1;

static int open_one(uint32_t id, const struct places *p, int32_t task, uint32_t cpu)
{
	struct perf_event_attr attr = {.size = ATTR_SIZE,
				       .type = PERF_TYPE_TRACEPOINT,
				       .config = id,
				       .inherit = p->inherit};

	return perf_event_open(&attr, task, (int)cpu, p->flags);
}

static void open_all(struct live_mmap_count *c, uint32_t id, const struct places *p)
{
	c->fds = mem_calloc(p->n_ids * p->n_cpus + 1, sizeof(*c->fds));
	for (size_t i = 0; c->fds && i < p->n_ids * p->n_cpus; i++) {
		int fd = open_one(id, p, p->ids[i / p->n_cpus], p->cpus[i % p->n_cpus]);
		if (fd == -ESRCH && p->n_ids > 1)
			continue; /* it has ended: nothing to count */
		if (fd < 0) {
			/* Counts of only some CPUs or tasks would be no sum. */
			live_mmap_count_close(c);
			return;
		}
		c->fds[c->n++] = fd;
	}
}

/* The CPUs of -C, or all. */
static void open_cpus(struct live_mmap_count *c, uint32_t id, const struct target *t,
		      struct places *p)
{
	uint32_t *online = NULL;

	p->cpus = t->cpus;
	p->n_cpus = t->n_cpus;
	if (!t->n_cpus && cpulist_read("online", &online, &p->n_cpus) == 0)
		p->cpus = online;
	open_all(c, id, p);
	mem_free(online);
}

static void open_cgroup(struct live_mmap_count *c, uint32_t id, const struct target *t)
{
	int32_t fd = cgroup_open(t->cgroup, NULL);
	struct places p = {.ids = &fd, .n_ids = 1, .flags = PERF_FLAG_PID_CGROUP};

	if (fd < 0)
		return;
	open_cpus(c, id, t, &p);
	close(fd);
}

static void open_tasks(struct live_mmap_count *c, uint32_t id, const struct target *t,
		       struct places *p)
{
	p->cpus = t->n_cpus ? t->cpus : &any_cpu;
	p->n_cpus = t->n_cpus ? t->n_cpus : 1;
	open_all(c, id, p);
}

/* All existing threads, and those that they will start. */
static void open_processes(struct live_mmap_count *c, uint32_t id, const struct target *t)
{
	size_t n = 0, cap = 0;
	pid_t *tids = NULL;

	for (size_t i = 0; i < t->n_ids; i++)
		(void)procfs_tids("/proc", t->ids[i], &tids, &n, &cap);
	open_tasks(c, id, t, &(struct places){.ids = tids, .n_ids = n, .inherit = true});
	mem_free(tids);
}

void live_mmap_count_open(struct live_mmap_count *c, uint32_t id, const struct target *t,
			  pid_t command)
{
	switch (t->kind) {
	case TARGET_SYSTEM:
		open_cpus(c, id, t, &(struct places){.ids = &any_id, .n_ids = 1});
		break;
	case TARGET_CGROUP:
		open_cgroup(c, id, t);
		break;
	case TARGET_COMMAND:
		open_tasks(c, id, t,
			   &(struct places){.ids = &command, .n_ids = 1, .inherit = true});
		break;
	case TARGET_PIDS:
		open_processes(c, id, t);
		break;
	case TARGET_TIDS:
		open_tasks(c, id, t, &(struct places){.ids = t->ids, .n_ids = t->n_ids});
		break;
	}
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
