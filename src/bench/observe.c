// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two children: one that works, and one that measures it. The first begins when the second has its
 * events open, reports when it is done, and stays until the second has ended, so that its
 * breakpoints and probes still exist at the last look. A session gives up rights that another one
 * needs, hence the second process; and a process must not measure itself.
 */
#include "observe.h"
#include "kontend/clock.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 50 };

static const uint64_t TICK_NS = 100000000, LAST_NS = 150000000;

/* Results that both children write, for the parent. */
struct shared {
	struct bench_observed seen;
	struct error work, measure;
};

struct pair {
	const struct bench_observe_work *work;
	struct shared *shared;
	int go[2], done[2]; /* a byte each: begin; it is over */
	pid_t worker;
};

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

/* The one that works. */
static _Noreturn void work(struct pair *p)
{
	struct error *err = &p->shared->work;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, p->work->comm);
	close(p->go[1]);
	close(p->done[0]);
	if (read(p->go[0], &byte, 1) != 1)
		_exit(1);
	int code = p->work->run(p->work->ctx, err);
	if (code < 0 && !err->code)
		error_errno(err, code, "Cannot do the work to measure");
	if (write(p->done[1], "d", 1) != 1)
		_exit(1);
	while (read(p->go[0], &byte, 1) > 0)
		;
	_exit(0);
}

/* Pumps the engine until @deadline_ns (0: until the end), or until @done has input. */
static int pump(struct run *run, uint64_t deadline_ns, int done, struct error *err)
{
	int r = 0;

	while (r >= 0 && r != ENGINE_END && (!deadline_ns || clock_now_ns() < deadline_ns)) {
		struct pollfd p[] = {{.fd = source_fd(run->engine.source), .events = POLLIN},
				     {.fd = done, .events = POLLIN}};
		poll(p, done < 0 ? 1 : 2, r == ENGINE_IDLE ? WAIT_MS : 0);
		if (done >= 0 && p[1].revents)
			return 0;
		r = engine_pump(&run->engine, 0, err);
	}
	return r < 0 ? r : 0;
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
		uint64_t ns = table_value(&t, row, total)->u;
		for (int i = 0; name->known && i < LOCK_TYPES; i++) {
			if (strcmp(name->s, locktype_name((enum lock_type)i)) != 0)
				continue;
			seen->types[i].all += table_value(&t, row, n)->u;
			if (seen->types[i].total_ns >= ns)
				continue;
			seen->types[i].total_ns = ns;
			seen->types[i].waits = table_value(&t, row, n)->u;
		}
	}
	return 0;
}

static void take_breakpoints(struct query *q, pid_t pid, struct shared *s)
{
	const char *why = NULL;
	const struct perfsnap *snap = query_perf_snap(q, QUERY_PERF_SLOTS, &why);

	if (!snap || snap->head.missing & SNAP_NO_EVENTS)
		snprintf(s->seen.no_slots, BENCH_OBSERVE_WHY, "%s",
			 why ? why : "perf events cannot be read");
	for (size_t i = 0; snap && i < snap->n_events; i++)
		s->seen.breakpoints += snap->events[i].type == PERF_TYPE_BREAKPOINT &&
				       snap->events[i].owner_pid == pid;
}

static void take_hits(struct query *q, pid_t pid, struct shared *s)
{
	const char *why = NULL;
	const struct upsnap *snap = query_uprobe_snap(q, &why);
	bool found = false;

	for (size_t i = 0; snap && i < snap->n_probes; i++) {
		const struct upsnap_probe *p = &snap->probes[i];
		if (p->owner_pid != pid || !(p->flags & UPSNAP_HITS))
			continue;
		s->seen.hits += p->hits;
		found = true;
	}
	if (!found)
		snprintf(s->seen.no_probes, BENCH_OBSERVE_WHY, "%s",
			 why ? why : "hits of its probes are not counted");
}

static int take_all(struct run *run, pid_t pid, struct shared *s, struct error *err)
{
	struct query_overview o;
	struct query q = {0};
	int code = query_init(&q, &run->engine);

	if (code == 0) {
		query_begin(&q);
		code = take_waits(&q, &s->seen, err);
	}
	if (code == 0)
		code = query_overview(&q, &o);
	if (code == 0) {
		s->seen.lost = o.damage.lost + o.damage.dropped + o.damage.bad;
		take_breakpoints(&q, pid, s);
		take_hits(&q, pid, s);
	}
	query_deinit(&q);
	return code < 0 ? error_errno(err, code, "Cannot sum up the measurement") : 0;
}

static int measure(struct pair *p)
{
	struct error *err = &p->shared->measure;
	char pid[16], byte;
	const struct opts o = {
		.verb = VERB_REPORT, .no_stack = true, .delay_ns = TICK_NS, .pids = pid};
	struct run run = {0};

	snprintf(pid, sizeof(pid), "%d", p->worker);
	int code = run_open(&run, &o, err);
	if (code == 0)
		code = run_start(&run, err);
	if (code == 0 && write(p->go[1], "g", 1) != 1)
		code = error_errno(err, -errno, "Cannot let the work begin");
	if (code == 0)
		code = pump(&run, 0, p->done[0], err);
	if (code == 0 && read(p->done[0], &byte, 1) != 1)
		code = error_set(err, -ECHILD, "The work has ended before it was done");
	if (code == 0)
		code = pump(&run, clock_now_ns() + LAST_NS, -1, err);
	if (code == 0) {
		run_stop(&run);
		code = pump(&run, 0, -1, err);
	}
	if (code == 0)
		code = take_all(&run, p->worker, p->shared, err);
	run_close(&run, err);
	return code;
}

static pid_t start(struct pair *p, bool works)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (works)
		work(p);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(p->go[0]);
	close(p->done[1]);
	int code = measure(p);
	if (code < 0 && !p->shared->measure.code)
		error_errno(&p->shared->measure, code, "Cannot measure");
	_exit(0);
}

static void close_all(struct pair *p)
{
	const int fds[] = {p->go[0], p->go[1], p->done[0], p->done[1]};

	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int end(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int observe(struct pair *p, struct error *err)
{
	if (pipe2(p->go, O_CLOEXEC) < 0 || pipe2(p->done, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "Cannot make a pipe");
	p->worker = start(p, true);
	pid_t measurer = p->worker > 0 ? start(p, false) : -1;
	int code = measurer < 0 ? -errno : 0;
	close_all(p);
	p->go[0] = p->go[1] = p->done[0] = p->done[1] = -1;
	int status = end(measurer);
	end(p->worker);
	if (code < 0)
		return error_errno(err, code, "Cannot start a process");
	if (status)
		return error_set(err, -ECHILD, "The process that measures has ended with %d",
				 status);
	const struct error *e = p->shared->measure.code ? &p->shared->measure : &p->shared->work;
	return e->code ? error_set(err, e->code, "%s", e->text) : 0;
}

int bench_observe(const struct bench_observe_work *w, struct bench_observed *ret, struct error *err)
{
	struct shared *s = bench_observe_memory(sizeof(*s));
	struct pair p = {.work = w, .shared = s, .go = {-1, -1}, .done = {-1, -1}};

	*ret = (struct bench_observed){0};
	if (!s)
		return error_set(err, -ENOMEM, "No memory for the measurement");
	int code = observe(&p, err);
	close_all(&p);
	*ret = s->seen;
	ret->unseen = s->measure.code < 0;
	bench_observe_forget(s, sizeof(*s));
	return code;
}
