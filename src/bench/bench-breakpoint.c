// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload is a process of its own, since threads inherit breakpoints from the thread that
 * creates them: so processes with and without breakpoints can alternate, run by run, and any
 * disturbance on the machine affects both. The creating threads start before the first run and
 * stay. A created thread sleeps until its creator has created all of its threads, so that all of
 * them exist at once. The sums are averages as perf bench prints them, the median, and percentiles.
 */
#include "kontend/bench-breakpoint.h"
#include "bench-breakpoint-int.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/sort.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BREAKPOINTS_MOST = 64 };

/* The process's report of its start and of each run. */
struct answer {
	uint64_t ns;
	uint32_t opened; /* number of breakpoints */
	int32_t code;	 /* 0 or a negative errno: */
	int32_t is_open; /* from opening a breakpoint */
};

struct crowd {
	const struct bench_breakpoint_options *o;
	pthread_barrier_t begin, end;
	atomic_int left; /* repetitions that are left in this run */
	atomic_int code;
};

struct creator {
	pthread_t thread;
	struct crowd *crowd;
	pthread_t *threads;
	_Atomic uint32_t go;
};

/* The watched addresses, one for each breakpoint; no thread touches them. */
static uint64_t watched[BREAKPOINTS_MOST];

int bench_breakpoint_open(uint32_t nth, pid_t pid, int cpu, bool inherit)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = (uintptr_t)&watched[nth % BREAKPOINTS_MOST],
		.bp_len = HW_BREAKPOINT_LEN_1,
		.inherit = inherit,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return perf_event_open(&attr, pid, cpu, 0);
}

int bench_breakpoint_refused(int code, uint32_t nth, uint32_t of, struct error *err)
{
	switch (code) {
	case -ENOSPC:
		return error_set(
			err, code,
			"Cannot open breakpoint %u of %u: there is no free slot (No space left on "
			"device): 'kontend report --view slots,holders' shows their holders",
			nth + 1, of);
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
		return error_set(err, -EOPNOTSUPP, "This machine has no hardware breakpoints");
	case -EACCES:
	case -EPERM:
		return error_errno(err, code,
				   "The kernel does not let this user open such a breakpoint (it "
				   "takes CAP_PERFMON, root, or a lower perf_event_paranoid)");
	default:
		return error_errno(err, code, "Cannot open breakpoint %u of %u", nth + 1, of);
	}
}

static void *await_go(void *arg)
{
	_Atomic uint32_t *go = arg;

	while (!atomic_load_explicit(go, memory_order_acquire))
		syscall(SYS_futex, go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

static void create_and_join(struct creator *c)
{
	uint32_t n = 0;
	int code = 0;

	atomic_store(&c->go, 0);
	while (n < c->crowd->o->threads && code == 0) {
		code = pthread_create(&c->threads[n], NULL, await_go, &c->go);
		n += code == 0;
	}
	if (code)
		atomic_store(&c->crowd->code, -code);
	atomic_store(&c->go, 1);
	syscall(SYS_futex, &c->go, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(c->threads[i], NULL);
}

/* Runs until the process is killed. */
static void *create_runs(void *arg)
{
	struct creator *c = arg;

	for (;;) {
		pthread_barrier_wait(&c->crowd->begin);
		while (atomic_fetch_sub(&c->crowd->left, 1) > 0)
			create_and_join(c);
		pthread_barrier_wait(&c->crowd->end);
	}
	return NULL;
}

static int start_creators(struct crowd *crowd)
{
	const struct bench_breakpoint_options *o = crowd->o;
	struct creator *all = mem_calloc(o->parallelism, sizeof(*all));
	pthread_t *threads = mem_calloc((size_t)o->parallelism * o->threads, sizeof(*threads));
	int code = all && threads ? 0 : ENOMEM;

	if (code == 0)
		code = pthread_barrier_init(&crowd->begin, NULL, o->parallelism + 1);
	if (code == 0)
		code = pthread_barrier_init(&crowd->end, NULL, o->parallelism + 1);
	for (uint32_t i = 0; code == 0 && i < o->parallelism; i++) {
		all[i].crowd = crowd;
		all[i].threads = threads + (size_t)i * o->threads;
		code = pthread_create(&all[i].thread, NULL, create_runs, &all[i]);
	}
	return -code;
}

static void open_all(const struct bench_breakpoint_options *o, struct answer *a)
{
	while (a->opened < o->breakpoints) {
		int fd = bench_breakpoint_open(a->opened, 0, -1, true);
		if (fd == -ENOSPC && o->fewer && a->opened)
			return;
		if (fd < 0) {
			a->code = fd;
			a->is_open = 1;
			return;
		}
		a->opened++;
	}
}

static void do_run(struct crowd *crowd, struct answer *a)
{
	atomic_store(&crowd->left, (int)crowd->o->repeat);
	uint64_t from = clock_now_ns();

	pthread_barrier_wait(&crowd->begin);
	pthread_barrier_wait(&crowd->end);
	a->ns = clock_now_ns() - from;
	a->code = atomic_load(&crowd->code);
}

static _Noreturn void serve(const struct bench_breakpoint_options *o, int fd)
{
	struct crowd crowd = {.o = o};
	struct answer a = {0};
	char byte;

	open_all(o, &a);
	if (a.code == 0)
		a.code = start_creators(&crowd);
	while (fdio_write_all(fd, (const char *)&a, sizeof(a)) == 0 && a.code == 0 &&
	       fdio_read(fd, &byte, 1) == 1)
		do_run(&crowd, &a);
	_exit(0);
}

static void begin_child(pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "bench-bp");
	if (getppid() != parent)
		_exit(1);
}

static int hear(struct bench_breakpoint *b, struct answer *ret, struct error *err)
{
	if (fdio_read(b->fd, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
		return error_set(err, -ECHILD, "The process of the benchmark has ended");
	return 0;
}

int bench_breakpoint_start(struct bench_breakpoint *b, const struct bench_breakpoint_options *o,
			   struct error *err)
{
	pid_t parent = getpid();
	struct answer a;
	int fds[2];

	*b = (struct bench_breakpoint){.fd = -1};
	if (o->breakpoints > BREAKPOINTS_MOST)
		return bench_breakpoint_refused(-ENOSPC, BREAKPOINTS_MOST, o->breakpoints, err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, -errno, "Cannot start the workload");
	b->pid = fork();
	if (b->pid == 0) {
		begin_child(parent);
		close(fds[0]);
		serve(o, fds[1]);
	}
	int code = b->pid < 0 ? error_errno(err, -errno, "Cannot start the workload") : 0;
	close(fds[1]);
	b->fd = fds[0];
	if (code == 0)
		code = hear(b, &a, err);
	if (code == 0 && a.code < 0)
		code = a.is_open ? bench_breakpoint_refused(a.code, a.opened, o->breakpoints, err)
				 : error_errno(err, a.code, "Cannot start %u threads",
					       o->parallelism);
	if (code == 0)
		b->breakpoints = a.opened;
	return code;
}

int bench_breakpoint_run(struct bench_breakpoint *b, uint64_t *ret_ns, struct error *err)
{
	const char byte = 0;
	struct answer a;
	int code = fdio_write_all(b->fd, &byte, 1);

	if (code < 0)
		return error_errno(err, code, "The process of the benchmark has ended");
	code = hear(b, &a, err);
	if (code == 0 && a.code < 0)
		code = error_errno(err, a.code, "Cannot create a thread%s",
				   b->breakpoints ? " with the breakpoints" : "");
	if (code == 0)
		*ret_ns = a.ns;
	return code;
}

void bench_breakpoint_stop(struct bench_breakpoint *b)
{
	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(b->fd);
	}
	*b = (struct bench_breakpoint){.fd = -1};
}

static int ns_is_before(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y;
}

int bench_breakpoint_sort(uint64_t *ns, size_t n)
{
	uint64_t *room = mem_calloc(n + 1, sizeof(*room));

	if (!room)
		return -ENOMEM;
	sort_merge(ns, room, n, sizeof(*ns), ns_is_before);
	mem_free(room);
	return 0;
}

uint64_t bench_breakpoint_percentile(const uint64_t *sorted, size_t n, double percent)
{
	size_t rank = (size_t)ceil((double)n * percent / 100);

	if (!n)
		return 0;
	rank = rank < n ? rank : n;
	return sorted[rank ? rank - 1 : 0];
}

int bench_breakpoint_sum(uint64_t *ns, size_t n, const struct bench_breakpoint_options *o,
			 struct bench_breakpoint_sum *ret)
{
	double per_op = 1e3 * o->threads * o->repeat, sum = 0, squares = 0;

	*ret = (struct bench_breakpoint_sum){0};
	if (bench_breakpoint_sort(ns, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum += (double)ns[i] / per_op;
	if (!n)
		return 0;
	ret->usecs_op = sum / (double)n;
	ret->usecs_op_cpu = ret->usecs_op * o->parallelism;
	ret->median = ((double)ns[n / 2] + (double)ns[(n - 1) / 2]) / 2 / per_op;
	for (size_t i = 0; i < n; i++) {
		double off = (double)ns[i] / per_op - ret->usecs_op;
		squares += off * off;
	}
	ret->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	return 0;
}
