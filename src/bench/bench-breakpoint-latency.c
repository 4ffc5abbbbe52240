// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that open and close one breakpoint each, again and again, and read the clock before,
 * between and after. The first breakpoint of each thread is not counted: for it the kernel creates
 * data that stay, and a writer has to wait for all earlier readers.
 */
#include "bench-breakpoint-int.h"
#include "bind.h"
#include "kontend/bench-breakpoint.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 8192 };

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint32_t ready; /* number of threads at the gate */
	bool open;
};

struct opener {
	pthread_t thread;
	struct gate *gate;
	uint64_t for_ns;
	uint64_t *open_ns, *close_ns; /* SAMPLES each */
	size_t n;
	uint32_t nth, cpu;
	enum bench_breakpoint_target target;
	int code;
};

struct crowd {
	struct gate gate;
	struct opener *all;
	uint64_t *samples;
	uint32_t *cpus;
	size_t n_cpus;
	uint32_t n;
};

static void gate_pass(struct gate *g)
{
	pthread_mutex_lock(&g->mutex);
	g->ready++;
	pthread_cond_broadcast(&g->changed);
	while (!g->open)
		pthread_cond_wait(&g->changed, &g->mutex);
	pthread_mutex_unlock(&g->mutex);
}

/* Opens the gate as soon as @n threads are waiting at it. */
static void gate_open(struct gate *g, uint32_t n)
{
	pthread_mutex_lock(&g->mutex);
	while (g->ready < n)
		pthread_cond_wait(&g->changed, &g->mutex);
	g->open = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->mutex);
}

static int open_and_close(const struct opener *o, uint64_t *ret_open, uint64_t *ret_close)
{
	bool of_cpu = o->target == BENCH_BREAKPOINT_CPU;
	uint64_t from = clock_now_ns();
	int fd = bench_breakpoint_open(o->nth, of_cpu ? -1 : 0, of_cpu ? (int)o->cpu : -1, false);

	if (fd < 0)
		return fd;
	uint64_t opened = clock_now_ns();
	close(fd);
	*ret_close = clock_now_ns() - opened;
	*ret_open = opened - from;
	return 0;
}

static void *open_many(void *arg)
{
	struct opener *o = arg;
	uint64_t a, b;

	bind_to_cpu(o->cpu);
	o->code = open_and_close(o, &a, &b);
	gate_pass(o->gate);
	uint64_t end = clock_now_ns() + o->for_ns;
	while (o->code == 0 && o->n < SAMPLES && clock_now_ns() < end) {
		o->code = open_and_close(o, &o->open_ns[o->n], &o->close_ns[o->n]);
		o->n += o->code == 0;
	}
	return NULL;
}

static int run(struct crowd *c)
{
	uint32_t n = 0;
	int code = 0;

	while (n < c->n && code == 0) {
		code = pthread_create(&c->all[n].thread, NULL, open_many, &c->all[n]);
		n += code == 0;
	}
	gate_open(&c->gate, n);
	for (uint32_t i = 0; i < n; i++)
		pthread_join(c->all[i].thread, NULL);
	return -code;
}

/* The threads of CPUs first; each thread gets a CPU of its own while there are enough. */
static int make_crowd(struct crowd *c, const uint32_t threads[BENCH_BREAKPOINT_TARGETS],
		      uint64_t ns)
{
	uint32_t of_cpus = threads[BENCH_BREAKPOINT_CPU];
	int code = cpulist_read("online", &c->cpus, &c->n_cpus);

	if (code < 0)
		return code;
	c->n = of_cpus + threads[BENCH_BREAKPOINT_TASK];
	c->all = mem_calloc(c->n + 1, sizeof(*c->all));
	c->samples = mem_calloc((size_t)c->n * SAMPLES + 1, 2 * sizeof(*c->samples));
	if (!c->all || !c->samples || !c->n_cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		c->all[i] = (struct opener){
			.gate = &c->gate,
			.for_ns = ns,
			.open_ns = c->samples + (size_t)i * SAMPLES,
			.close_ns = c->samples + ((size_t)c->n + i) * SAMPLES,
			.nth = i,
			.cpu = c->cpus[i % c->n_cpus],
			.target = i < of_cpus ? BENCH_BREAKPOINT_CPU : BENCH_BREAKPOINT_TASK,
		};
	return 0;
}

/* Moves the samples of one target together, to the front of the array of its first thread. */
static size_t gather(const struct crowd *c, uint32_t first, uint32_t threads, uint64_t *to,
		     bool closing)
{
	size_t n = 0;

	for (uint32_t i = first; i < first + threads; i++) {
		const struct opener *o = &c->all[i];
		memmove(to + n, closing ? o->close_ns : o->open_ns, o->n * sizeof(*to));
		n += o->n;
	}
	return n;
}

static int sum_up(const struct crowd *c, uint32_t first, uint32_t threads,
		  struct bench_breakpoint_latency *ret)
{
	uint64_t *ns = threads ? c->all[first].open_ns : NULL;

	*ret = (struct bench_breakpoint_latency){0};
	if (!threads)
		return 0;
	ret->n = gather(c, first, threads, ns, false);
	if (bench_breakpoint_sort(ns, ret->n) < 0)
		return -ENOMEM;
	ret->open_p50_ns = bench_breakpoint_percentile(ns, ret->n, 50);
	ret->open_p99_ns = bench_breakpoint_percentile(ns, ret->n, 99);
	ns = c->all[first].close_ns;
	gather(c, first, threads, ns, true);
	if (bench_breakpoint_sort(ns, ret->n) < 0)
		return -ENOMEM;
	ret->close_p50_ns = bench_breakpoint_percentile(ns, ret->n, 50);
	ret->close_p99_ns = bench_breakpoint_percentile(ns, ret->n, 99);
	return 0;
}

static int judge(const struct crowd *c, struct error *err)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct opener *o = &c->all[i];
		if (o->code == -ENOSPC && o->target == BENCH_BREAKPOINT_CPU)
			return error_set(err, o->code,
					 "CPU %u has no free slot for a breakpoint (No space left "
					 "on device): 'kontend report --view slots,holders' shows "
					 "their holders",
					 o->cpu);
		if (o->code < 0)
			return bench_breakpoint_refused(o->code, 0, 1, err);
	}
	return 0;
}

int bench_breakpoint_latency(const uint32_t threads[BENCH_BREAKPOINT_TARGETS], uint64_t ns,
			     struct bench_breakpoint_latency ret[BENCH_BREAKPOINT_TARGETS],
			     struct error *err)
{
	struct crowd c = {
		.gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};
	uint32_t of_cpus = threads[BENCH_BREAKPOINT_CPU];
	int code = make_crowd(&c, threads, ns);

	code = code < 0 ? code : run(&c);
	if (code < 0)
		code = error_errno(err, code, "Cannot start %u threads", c.n);
	else
		code = judge(&c, err);
	if (code == 0 && (sum_up(&c, 0, of_cpus, &ret[BENCH_BREAKPOINT_CPU]) < 0 ||
			  sum_up(&c, of_cpus, c.n - of_cpus, &ret[BENCH_BREAKPOINT_TASK]) < 0))
		code = error_enomem(err, "the times of breakpoints");
	mem_free(c.all);
	mem_free(c.samples);
	mem_free(c.cpus);
	return code;
}
