// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads bound to CPUs call a function of this program that has a probe. Each counts its calls in
 * a cell of its own; the measuring thread reads all cells at the ends of some parts of the time, so
 * that the loop has nothing but the calls. The probe is an event of perf's PMU "uprobe" for this
 * process, and is removed with its descriptor. A thread that got no CPU has measured nothing: that
 * is NaN, not a rate of 0 or a cost of 0 ns, which would look like the best one.
 */
#include "kontend/bench-uprobe.h"
#include "bind.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/units.h"
#include "kontend/uprobe-target.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void bench_parts_add(struct bench_parts *p, uint64_t n, uint64_t ns)
{
	double rate = ns ? (double)n * 1e9 / (double)ns : 0;

	p->sum += rate;
	p->squares += rate * rate;
	p->events += n;
	p->n++;
}

struct bench_parts_result bench_parts_sum(const struct bench_parts *p, uint64_t cpu_ns)
{
	if (!p->n || !p->events)
		return (struct bench_parts_result){(double)NAN, (double)NAN, (double)NAN};
	double mean = p->sum / p->n, variance = p->squares / p->n - mean * mean;
	return (struct bench_parts_result){
		.per_s = mean,
		.deviation = variance > 0 ? sqrt(variance) : 0,
		.cost_ns = (double)(cpu_ns / p->events),
	};
}

const char *bench_parts_cost(char *buf, double cost_ns)
{
	if (isfinite(cost_ns))
		return units_ns(buf, (uint64_t)cost_ns);
	snprintf(buf, UNITS_BUF, "-");
	return buf;
}

enum { CELL = 128, CODE = 16 };

#if defined(__x86_64__)
static const enum uprobe_machine machine = UPROBE_X86_64;
#elif defined(__aarch64__)
static const enum uprobe_machine machine = UPROBE_ARM64;
#else
static const enum uprobe_machine machine = UPROBE_OTHER;
#endif

struct caller {
	_Atomic uint64_t calls;
	pthread_t thread;
	void (*call)(void);
	const atomic_bool *stop;
	uint32_t cpu;
	char apart[CELL]; /* keeps cells in separate cache lines */
};

static void *call_on(void *arg)
{
	struct caller *c = arg;

	bind_to_cpu(c->cpu);
	for (uint64_t n = 1; !atomic_load_explicit(c->stop, memory_order_relaxed); n++) {
		c->call();
		atomic_store_explicit(&c->calls, n, memory_order_relaxed);
	}
	return NULL;
}

static uint64_t sum_calls(const struct caller *c, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += atomic_load_explicit(&c[i].calls, memory_order_relaxed);
	return sum;
}

/* CPU time of all threads so far */
static uint64_t sum_cpu_ns(const struct caller *c, uint32_t n)
{
	uint64_t sum = 0;
	struct timespec t;
	clockid_t clock;

	for (uint32_t i = 0; i < n; i++)
		if (!pthread_getcpuclockid(c[i].thread, &clock) && !clock_gettime(clock, &t))
			sum += (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return sum;
}

/* Rates of the parts, by the clock, as a sleep may last longer than requested. */
static void measure(const struct caller *c, uint32_t cpus, uint32_t parts, uint64_t part_ns,
		    struct bench_top *top, struct bench_uprobe_row *r)
{
	struct bench_parts p = {0};

	clock_sleep_ns(part_ns /
		       4); /* until all run, and the kernel has done what happens only once */
	uint64_t cpu = sum_cpu_ns(c, cpus);
	for (uint32_t i = 0; i < parts; i++) {
		uint64_t t0 = clock_now_ns(), n0 = sum_calls(c, cpus);
		clock_sleep_ns(part_ns);
		uint64_t ns = clock_now_ns() - t0, n = sum_calls(c, cpus) - n0;
		bench_top_take(top);
		bench_parts_add(&p, n, ns);
	}
	r->took = bench_parts_sum(&p, sum_cpu_ns(c, cpus) - cpu);
}

static uint32_t class_of(void (*call)(void), uint64_t offset)
{
	struct uprobe_verdict v;
	struct utsname u = {0};
	uint8_t bytes[CODE];

	uname(&u);
	memcpy(bytes, (const void *)(uintptr_t)call, sizeof(bytes));
	uprobe_judge(machine, uprobe_kernel_of(u.release), bytes, sizeof(bytes), offset, &v);
	return v.class_;
}

static int run(struct caller *c, const uint32_t *online, uint32_t cpus, uint32_t parts,
	       uint64_t part_ns, struct bench_top *top, struct bench_uprobe_row *r)
{
	atomic_bool stop = false;
	uint32_t n = 0;
	int code = 0;

	for (; n < cpus && code == 0; n++) {
		c[n].call = uprobe_target_function(r->kind);
		c[n].stop = &stop;
		c[n].cpu = online[n];
		code = -pthread_create(&c[n].thread, NULL, call_on, &c[n]);
	}
	if (code)
		n--;
	else
		measure(c, cpus, parts, part_ns, top, r);
	stop = true;
	for (uint32_t i = 0; i < n; i++)
		pthread_join(c[i].thread, NULL);
	return code;
}

/* On the first @r->cpus of the online CPUs. */
static int run_on(uint32_t parts, uint64_t part_ns, const struct sym *sym,
		  struct bench_uprobe_row *r, struct error *err)
{
	uint32_t *online = NULL;
	size_t n = 0;
	int code = cpulist_read("online", &online, &n);
	struct caller *c = mem_calloc(r->cpus + 1, sizeof(*c));

	if (code < 0 || n < r->cpus || !c) {
		code = error_set(err, c ? -EINVAL : -ENOMEM, "There are no %u CPUs online",
				 r->cpus);
	} else {
		struct bench_top *top = bench_top_new(online, r->cpus, sym);
		code = run(c, online, r->cpus, parts, part_ns, top, r);
		if (code < 0)
			error_errno(err, code, "Cannot start a thread");
		r->n_top = bench_top_most(top, r->top);
		r->skid = bench_top_skid(top);
		bench_top_free(top);
	}
	mem_free(c);
	mem_free(online);
	return code;
}

int bench_uprobe_row(enum uprobe_target kind, bool is_return, uint32_t cpus, uint32_t parts,
		     uint64_t part_ns, const struct sym *sym, struct bench_uprobe_row *ret,
		     struct error *err)
{
	struct bench_uprobe_row r = {.kind = kind, .is_return = is_return, .cpus = cpus};
	uint64_t offset;

	/* Before placing the probe, which replaces the instruction. */
	int code = uprobe_target_offset(uprobe_target_function(kind), &offset);
	r.class_ = code < 0 ? UPSNAP_CLASS_UNKNOWN : class_of(uprobe_target_function(kind), offset);
	int fd = uprobe_target_place(kind, is_return, err);
	if (fd < 0)
		return fd;
	code = run_on(parts, part_ns, sym, &r, err);
	close(fd);
	if (code == 0)
		*ret = r;
	return code;
}
