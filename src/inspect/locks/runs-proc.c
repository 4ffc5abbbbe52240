// SPDX-License-Identifier: GPL-2.0-only
/*
 * How holders that could run are scheduled, without BPF: policy, priorities, affinity and CPU from
 * /proc, and how much their cgroup was throttled since the look before, from its cpu.stat. Whether
 * such a task has a CPU is not in /proc: it has not had one if its running time is that of the look
 * before. Which task keeps it off is nowhere.
 *
 * The kernel counts the time that a hypervisor takes from a CPU, but not from which task. So it is
 * of the CPU of a holder, since the look before.
 */
#include "kontend/mem.h"
#include "kontend/snapshot-runs.h"
#include "kontend/sysinfo.h"
#include "runs-limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, TEXT = 8192, PRIO_NORMAL = 100, NICE_0 = 120, CPUS_MOST = 4096 };

/* Of two readings that are compared. */
static const uint64_t APART_NS = 500000000, MOST_NS = 10000000000;
static const uint64_t SECOND_NS = 1000000000;

struct known {
	int32_t tid;
	bool has_limit;
	uint64_t run_ns;
	struct runs_limit limit;
};

/* As a look has found it. */
struct reading {
	uint64_t ns;
	size_t n, n_steal;
	struct known of[MOST];
	uint64_t *steal; /* ticks, by CPU */
};

/*
 * A look may follow another one at once: so two readings are kept that are so far apart that it can
 * be compared with one of them.
 */
struct snapshot_runs {
	const char *proc;
	struct reading now, kept[2]; /* the older one first; 0 ns: none */
	char *text;
};

/* The reading with which that of @now_ns is compared; NULL: none. */
static const struct reading *before(const struct snapshot_runs *r, uint64_t now_ns)
{
	const struct reading *k = &r->kept[now_ns - r->kept[1].ns >= APART_NS];

	return k->ns && k->ns < now_ns && now_ns - k->ns <= MOST_NS ? k : NULL;
}

static void keep(struct snapshot_runs *r)
{
	if (r->now.ns - r->kept[1].ns >= APART_NS) {
		mem_free(r->kept[0].steal);
		r->kept[0] = r->kept[1];
		r->kept[1] = r->now;
	} else {
		mem_free(r->now.steal);
	}
	r->now = (struct reading){0};
}

static char *read_text(struct snapshot_runs *r, const char *path)
{
	return sysinfo_read(path, r->text, TEXT) > 0 ? r->text : NULL;
}

/* Ticks that a hypervisor took from each CPU; their number, 0: not known. */
static size_t read_steal(struct snapshot_runs *r, uint64_t *ret, size_t most)
{
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/stat", r->proc);
	FILE *f = fopen(path, "re");
	while (f && fgets(r->text, TEXT, f) && strncmp(r->text, "cpu", 3) == 0) {
		unsigned cpu;
		uint64_t steal;
		/* The first line is of all of them. */
		if (r->text[3] == ' ' ||
		    sscanf(r->text, "cpu%u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &cpu, &steal) !=
			    2)
			continue;
		for (; n < cpu && n < most; n++)
			ret[n] = 0;
		if (n < most)
			ret[n++] = steal;
	}
	if (f)
		fclose(f);
	return n;
}

static bool is_awake(const struct locksnap_queue *q)
{
	return q->certainty != LOCKSNAP_NOBODY && q->holder_tid > 0 &&
	       (q->holder_state == LOCKSNAP_RUNNING || q->holder_state == LOCKSNAP_RUNNABLE);
}

static bool any_awake(const struct locksnap *s)
{
	for (size_t i = 0; i < s->n_queues; i++)
		if (is_awake(&s->queues[i]))
			return true;
	return false;
}

/* A machine where no CPU has ever lost time does not count it, or there is no hypervisor. */
static bool is_counted(const uint64_t *steal, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steal[i])
			return true;
	return false;
}

static int add_steal(struct snapshot_runs *r, struct locksnap *s)
{
	const struct reading *was = before(r, s->head.time_ns);
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);

	r->now.steal = mem_calloc(CPUS_MOST, sizeof(*r->now.steal));
	if (!r->now.steal)
		return -ENOMEM;
	r->now.n_steal = read_steal(r, r->now.steal, CPUS_MOST);
	if (!was || !is_counted(r->now.steal, r->now.n_steal))
		return 0;
	for (size_t i = 0; i < s->n_queues; i++) {
		struct locksnap_queue *q = &s->queues[i];
		size_t cpu = (size_t)q->holder_cpu;
		if (!is_awake(q) || q->holder_cpu < 0 || cpu >= r->now.n_steal ||
		    cpu >= was->n_steal)
			continue;
		q->steal_of_ns = s->head.time_ns - was->ns;
		if (r->now.steal[cpu] > was->steal[cpu])
			q->steal_ns = (r->now.steal[cpu] - was->steal[cpu]) * tick_ns;
	}
	return 0;
}

/* How many CPUs a mask allows: "3", "ff,ffffffff". */
static uint32_t count_cpus(const char *mask)
{
	uint32_t n = 0;

	for (; *mask && *mask != '\n'; mask++) {
		const char digit[] = {*mask, 0};
		if (*mask != ',')
			n += (uint32_t)__builtin_popcountl(strtoul(digit, NULL, 16));
	}
	return n;
}

static bool read_sched(struct snapshot_runs *r, int32_t pid, struct locksnap_run *ret)
{
	static const char allowed[] = "\nCpus_allowed:\t";
	int priority, nice, cpu;
	char path[96];

	snprintf(path, sizeof(path), "%s/%" PRId32 "/task/%" PRId32 "/stat", r->proc, pid,
		 ret->tid);
	const char *at = read_text(r, path);
	at = at ? strrchr(at, ')') : NULL;
	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d %d %*d "
			  "%*d %*u %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d "
			  "%d %" SCNu32 " %" SCNu32,
			  &priority, &nice, &cpu, &ret->rt_priority, &ret->policy) != 5)
		return false;
	ret->prio = priority + PRIO_NORMAL;
	ret->normal_prio = ret->rt_priority ? PRIO_NORMAL - 1 - (int32_t)ret->rt_priority
			   : ret->prio < 0  ? ret->prio
					    : NICE_0 + nice;
	ret->nice = nice;
	ret->cpu = cpu;
	snprintf(path, sizeof(path), "%s/%" PRId32 "/task/%" PRId32 "/status", r->proc, pid,
		 ret->tid);
	const char *status = read_text(r, path);
	at = status ? strstr(status, allowed) : NULL;
	ret->cpus = at ? count_cpus(at + sizeof(allowed) - 1) : 0;
	return true;
}

static uint64_t read_run_ns(struct snapshot_runs *r, int32_t pid, int32_t tid)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%" PRId32 "/task/%" PRId32 "/schedstat", r->proc, pid,
		 tid);
	const char *text = read_text(r, path);
	return text ? strtoull(text, NULL, 10) : 0;
}

static const struct known *known_in(const struct reading *was, int32_t tid)
{
	for (size_t i = 0; was && i < was->n; i++)
		if (was->of[i].tid == tid)
			return &was->of[i];
	return NULL;
}

/* Changes since that reading. */
static void compare(const struct reading *was, const struct known *k, uint64_t now_ns,
		    struct locksnap_run *run)
{
	const struct known *of = known_in(was, k->tid);

	if (!of)
		return;
	if (k->run_ns && k->run_ns == of->run_ns)
		run->state = LOCKSNAP_RUNNABLE;
	if (!k->has_limit || !of->has_limit || strcmp(k->limit.group, of->limit.group) != 0 ||
	    k->limit.throttled_ns <= of->limit.throttled_ns)
		return;
	run->is_throttled = 1;
	run->throttled_ns = k->limit.throttled_ns - of->limit.throttled_ns;
	run->throttled_of_ns = now_ns - was->ns;
}

static bool is_there(const struct locksnap *s, int32_t tid)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].tid == tid)
			return true;
	return false;
}

static int add_holder(struct snapshot_runs *r, const struct locksnap_queue *q, struct locksnap *s)
{
	struct locksnap_run run = {.tid = q->holder_tid, .state = LOCKSNAP_RUNNING};

	if (r->now.n >= MOST || is_there(s, run.tid) || !read_sched(r, q->holder_pid, &run))
		return 0;
	struct known *k = &r->now.of[r->now.n++];
	*k = (struct known){.tid = run.tid, .run_ns = read_run_ns(r, q->holder_pid, run.tid)};
	k->has_limit = runs_limit_read(r->proc, run.tid, &k->limit);
	compare(before(r, s->head.time_ns), k, s->head.time_ns, &run);
	if (run.is_throttled) {
		run.limit = locksnap_add_text(s, k->limit.group);
		run.quota_ns = k->limit.quota_ns;
		run.period_ns = k->limit.period_ns;
	}
	return locksnap_add_run(s, &run);
}

static int add_waiter(struct snapshot_runs *r, const struct locksnap_waiter *w, struct locksnap *s)
{
	struct locksnap_run run = {.tid = w->tid, .state = LOCKSNAP_ASLEEP};

	if (s->n_runs >= (size_t)2 * MOST || is_there(s, w->tid) || !read_sched(r, w->pid, &run))
		return 0;
	return locksnap_add_run(s, &run);
}

static int add_runs(struct snapshot_runs *r, struct locksnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_queues; i++)
		if (is_awake(&s->queues[i]))
			code = add_holder(r, &s->queues[i], s);
	for (size_t i = 0; code == 0 && r->now.n && i < s->n_waiters; i++)
		if (is_awake(&s->queues[s->waiters[i].queue]))
			code = add_waiter(r, &s->waiters[i], s);
	for (size_t i = 0; code == 0 && i < s->n_queues; i++)
		for (size_t k = 0; k < s->n_runs; k++)
			if (s->runs[k].tid == s->queues[i].holder_tid && is_awake(&s->queues[i]))
				s->queues[i].holder_state = s->runs[k].state;
	return code;
}

int snapshot_runs_add(struct snapshot_runs *r, struct locksnap *s, bool steal_only)
{
	/* The first look is the one that others are compared with. */
	if (r->kept[1].ns && !any_awake(s))
		return 0;
	r->now = (struct reading){.ns = s->head.time_ns};
	int code = add_steal(r, s);
	if (code == 0 && !steal_only)
		code = add_runs(r, s);
	keep(r);
	return code;
}

struct snapshot_runs *snapshot_runs_new(const char *proc)
{
	struct snapshot_runs *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->proc = proc;
	r->text = mem_calloc(1, TEXT);
	if (r->text)
		return r;
	snapshot_runs_free(r);
	return NULL;
}

void snapshot_runs_free(struct snapshot_runs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < 2; i++)
		mem_free(r->kept[i].steal);
	mem_free(r->text);
	mem_free(r);
}
