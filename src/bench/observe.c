// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two children: one that works, and one that measures it. The first begins when the second has its
 * events open, reports when it is done, and stays until the second has ended, so that its
 * breakpoints and probes still exist at the last snapshot.
 */
#include "observe.h"
#include "kontend/clock.h"
#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/run.h"
#include "observer.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static const uint64_t TICK_NS = 100000000;
/* After the work, so that a tick comes which takes snapshots. */
static const uint64_t LAST_NS = 150000000;

void *bench_observe_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void bench_observe_forget(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

/* In the child that works. */
static int work(void *ctx, int fd)
{
	const struct bench_observe_work *w = ctx;
	struct error err = {0};
	char byte;

	prctl(PR_SET_NAME, w->comm);
	if (bench_child_receive(fd, &byte, 1, 0) < 0)
		return -ECHILD;
	int code = w->run(w->ctx, &err);
	if (code < 0 && !err.code)
		error_errno(&err, code, "Cannot do the work to measure");
	code = bench_child_send(fd, &err, sizeof(err));
	/* Until the parent closes its end. */
	(void)bench_child_receive(fd, &byte, 1, 0);
	return code;
}

/*
 * The one that the work has made contended: the work waits for it longest, if it sleeps. Of locks
 * that spin, waits for few others may last longer, as their holders lose the CPU.
 */
static void take_lock(struct bench_observed_type *t, enum lock_type type, uint64_t n, uint64_t ns)
{
	t->all += n;
	if (locktype_is_spin(type) ? n <= t->waits : ns <= t->total_ns)
		return;
	t->total_ns = ns;
	t->waits = n;
}

static int take_waits(struct query *q, struct bench_observed *seen, struct error *err)
{
	const struct query_spec spec = {.by = BY_LOCK, .average = true, .ended = true};
	struct table t;
	int code = query_locks(q, &spec, &t, err);

	if (code < 0)
		return code;
	size_t kind = table_column(&t, "kind"), n = table_column(&t, "contended"),
	       total = table_column(&t, "total_ns");
	if (kind == SIZE_MAX || n == SIZE_MAX || total == SIZE_MAX)
		return -EPROTO;
	for (size_t row = 0; row < t.n_rows; row++) {
		const struct value *name = table_value(&t, row, kind);
		for (int i = 0; name->known && i < LOCK_TYPES; i++)
			if (strcmp(name->s, locktype_name((enum lock_type)i)) == 0)
				take_lock(&seen->types[i], (enum lock_type)i,
					  table_value(&t, row, n)->u,
					  table_value(&t, row, total)->u);
	}
	return 0;
}

static void take_breakpoints(struct query *q, pid_t pid, struct bench_observed *s)
{
	const char *why = NULL;
	const struct perfsnap *snap = query_perf_snap(q, QUERY_PERF_SLOTS, &why);

	if (!snap || snap->head.missing & SNAP_NO_EVENTS)
		snprintf(s->no_slots, BENCH_OBSERVE_WHY, "%s",
			 why ? why : "perf events cannot be read");
	for (size_t i = 0; snap && i < snap->n_events; i++)
		s->breakpoints += snap->events[i].type == PERF_TYPE_BREAKPOINT &&
				  snap->events[i].owner_pid == pid;
}

static void take_hits(struct query *q, pid_t pid, struct bench_observed *s)
{
	const char *why = NULL;
	const struct upsnap *snap = query_uprobe_snap(q, &why);
	bool found = false;

	for (size_t i = 0; snap && i < snap->n_probes; i++) {
		const struct upsnap_probe *p = &snap->probes[i];
		if (p->owner_pid != pid || !(p->flags & UPSNAP_HITS))
			continue;
		s->hits += p->hits;
		found = true;
	}
	if (!found)
		snprintf(s->no_probes, BENCH_OBSERVE_WHY, "%s",
			 why ? why : "hits of its probes are not counted");
}

/* In the child that measures. */
static int take_all(void *ctx, struct run *run, void *answer, struct error *err)
{
	const struct bench_child *worker = ctx;
	struct bench_observed *seen = answer;
	struct query_overview o;
	struct query q = {0};
	int code = query_init(&q, &run->engine);

	if (code == 0) {
		query_begin(&q);
		code = take_waits(&q, seen, err);
	}
	if (code == 0)
		code = query_overview(&q, &o);
	if (code == 0) {
		seen->lost = o.damage.lost + o.damage.dropped + o.damage.bad;
		take_breakpoints(&q, worker->pid, seen);
		take_hits(&q, worker->pid, seen);
	}
	query_deinit(&q);
	return code < 0 ? error_errno(err, code, "Cannot sum up the measurement") : 0;
}

/* Lets the work begin, and waits until it is done; its error is in @ret. */
static int let_work(const struct bench_child *worker, struct error *ret, struct error *err)
{
	const char byte = 0;

	if (bench_child_send(worker->fd, &byte, 1) < 0 ||
	    bench_child_receive(worker->fd, ret, sizeof(*ret), 0) < 0)
		return error_set(err, -ECHILD, "The work has ended before it was done");
	ret->text[sizeof(ret->text) - 1] = '\0';
	clock_sleep_ns(LAST_NS);
	return 0;
}

static int observe(struct bench_child *worker, struct bench_observed *ret, struct error *err)
{
	char pid[16];
	const struct opts o = {
		.verb = VERB_REPORT, .no_stack = true, .delay_ns = TICK_NS, .pids = pid};
	const struct bench_observer_job job = {
		.opts = &o, .size = sizeof(*ret), .take = take_all, .ctx = worker};
	struct error failed = {0};
	struct bench_observer ob;

	snprintf(pid, sizeof(pid), "%d", worker->pid);
	int code = bench_observer_start(&ob, &job, err);
	if (code == 0) {
		code = let_work(worker, &failed, err);
		int stopped = bench_observer_stop(&ob, ret, err);
		code = code < 0 ? code : stopped;
	}
	ret->unseen = code < 0;
	if (code == 0 && failed.code)
		code = error_set(err, failed.code, "%s", failed.text);
	return code;
}

int bench_observe(const struct bench_observe_work *w, struct bench_observed *ret, struct error *err)
{
	struct bench_observe_work copy = *w;
	struct bench_child worker;

	*ret = (struct bench_observed){0};
	int code = bench_child_start(&worker, work, &copy, err);
	if (code == 0) {
		code = observe(&worker, ret, err);
		bench_child_end(&worker);
	}
	return code;
}
