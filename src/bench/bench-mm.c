// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that contend for one mmap_lock. All wait at a gate until the last one is there, and the
 * measurement begins when it opens. Huge pages are declined: each page must fault.
 */
#include "bench-mm-int.h"
#include "bind.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

/* Waits at the gate; true: it was opened. */
static bool gate_pass(struct bench_mm_gate *g)
{
	pthread_mutex_lock(&g->mutex);
	g->waiting++;
	pthread_cond_broadcast(&g->changed);
	while (g->state == GATE_CLOSED)
		pthread_cond_wait(&g->changed, &g->mutex);
	bool opened = g->state == GATE_OPEN;
	pthread_mutex_unlock(&g->mutex);
	return opened;
}

static void gate_set(struct bench_mm_gate *g, enum bench_mm_gate_state state)
{
	pthread_mutex_lock(&g->mutex);
	g->state = state;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->mutex);
}

static void gate_await(struct bench_mm_gate *g, uint32_t threads)
{
	pthread_mutex_lock(&g->mutex);
	while (g->waiting < threads)
		pthread_cond_wait(&g->changed, &g->mutex);
	pthread_mutex_unlock(&g->mutex);
}

static int map_and_unmap(struct bench_mm_worker *w)
{
	const struct bench_mm_job *j = w->job;

	for (uint64_t i = 0; i < j->rounds; i++) {
		char *p = mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		bench_mm_touch(p, j->bytes, j->page);
		if (munmap(p, j->bytes) < 0)
			return -errno;
	}
	return 0;
}

static void *run(void *arg)
{
	struct bench_mm_worker *w = arg;

	bind_to_cpu((uint32_t)w->cpu);
	if (gate_pass(&w->job->gate))
		w->code = w->job->work(w);
	return NULL;
}

/* Subtracts the resources used until now (@begin), or adds them. */
static void account(struct bench_mm_result *r, bool begin)
{
	const uint64_t sign = begin ? UINT64_MAX : 1; /* -1 */
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	r->usr_ns += sign * ns_of(&u.ru_utime);
	r->sys_ns += sign * ns_of(&u.ru_stime);
	r->real_ns += sign * clock_now_ns();
}

/* Starts all threads, releases them together and waits for them. */
static int run_together(struct bench_mm_job *j, struct bench_mm_result *r)
{
	uint32_t n = 0;
	int code = 0;

	j->gate.state = GATE_CLOSED;
	j->gate.waiting = 0;
	for (; n < j->threads && code == 0; n += code == 0)
		code = -pthread_create(&j->workers[n].thread, NULL, run, &j->workers[n]);
	if (code == 0)
		gate_await(&j->gate, n);
	if (j->counter)
		bench_mm_counter_switch(j->counter, true);
	account(r, true);
	gate_set(&j->gate, code ? GATE_GIVE_UP : GATE_OPEN);
	for (uint32_t i = 0; i < n; i++) {
		pthread_join(j->workers[i].thread, NULL);
		code = code ? code : j->workers[i].code;
	}
	account(r, false);
	if (j->counter)
		bench_mm_counter_switch(j->counter, false);
	return code;
}

/* Threads are bound to the permitted CPUs, in turn. */
static int job_init(struct bench_mm_job *j, const struct bench_mm_options *o, struct error *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_COUNT(&set))
		return error_errno(err, errno ? -errno : -EINVAL,
				   "Cannot find out which CPUs may be used");
	j->threads = o->threads ? o->threads : (uint32_t)CPU_COUNT(&set);
	j->page = (size_t)sysconf(_SC_PAGESIZE);
	j->rounds = o->rounds;
	j->workers = mem_calloc(j->threads, sizeof(*j->workers));
	if (!j->workers)
		return error_enomem(err, "%u threads", j->threads);
	pthread_mutex_init(&j->gate.mutex, NULL);
	pthread_cond_init(&j->gate.changed, NULL);
	for (uint32_t i = 0, cpu = 0; i < j->threads; i++, cpu++) {
		while (!CPU_ISSET(cpu % CPU_SETSIZE, &set))
			cpu++;
		j->workers[i] = (struct bench_mm_worker){.job = j, .cpu = (int)(cpu % CPU_SETSIZE)};
	}
	return 0;
}

static void job_deinit(struct bench_mm_job *j)
{
	pthread_cond_destroy(&j->gate.changed);
	pthread_mutex_destroy(&j->gate.mutex);
	mem_free(j->workers);
}

/* Divides @bytes into whole pages for each thread. */
static int set_part(struct bench_mm_job *j, uint64_t bytes, struct error *err)
{
	j->bytes = bytes / j->page * j->page;
	return j->bytes ? 0
			: error_set(err, -EINVAL,
				    "Cannot give each thread a page of %zu bytes: give a greater "
				    "--size",
				    j->page);
}

static int touch_one_mapping(struct bench_mm_job *j, const struct bench_mm_way *way,
			     struct bench_mm_result *r)
{
	int code = way->map(j);

	if (code == 0)
		code = run_together(j, r);
	if (j->all)
		munmap(j->all, j->all_bytes);
	j->all = NULL;
	return code;
}

static int say_failure(enum bench_mm_mode mode, int code, struct error *err)
{
	if (mode == BENCH_MM_FRESH && code == -ENOMEM)
		return error_set(
			err, code,
			"Cannot make each page a mapping of its own: /proc/sys/vm/max_map_count "
			"limits their number; give a smaller --size and more --rounds");
	if (mode == BENCH_MM_GROWSDOWN && code == -EPERM)
		return error_set(err, code,
				 "Cannot let a mapping grow so far: the hard limit of stacks "
				 "(ulimit -Hs) is less; give a smaller --size and more --rounds");
	return error_errno(err, code, "Cannot map memory, or start threads to touch it");
}

int bench_mm_run(const struct bench_mm_options *o, const struct bench_mm_counter *counter,
		 struct bench_mm_result *ret, struct error *err)
{
	const struct bench_mm_way *way = &bench_mm_ways[o->mode];
	struct bench_mm_job j = {.work = way->touch, .counter = counter};
	int code = job_init(&j, o, err);

	if (code < 0)
		return code;
	*ret = (struct bench_mm_result){.threads = j.threads};
	code = set_part(&j, o->bytes / j.threads, err);
	for (uint64_t i = 0; code == 0 && i < j.rounds; i++) {
		code = touch_one_mapping(&j, way, ret);
		if (code < 0)
			say_failure(o->mode, code, err);
	}
	ret->pages = j.bytes / j.page * j.threads * j.rounds;
	job_deinit(&j);
	return code;
}

int bench_mm_fault(const struct bench_mm_options *o, struct bench_mm_result *ret, struct error *err)
{
	return bench_mm_run(o, NULL, ret, err);
}

int bench_mm_map(const struct bench_mm_options *o, struct bench_mm_result *ret, struct error *err)
{
	struct bench_mm_job j = {.work = map_and_unmap};
	int code = job_init(&j, o, err);

	if (code < 0)
		return code;
	*ret = (struct bench_mm_result){.threads = j.threads};
	code = set_part(&j, o->bytes, err);
	if (code == 0 && (code = run_together(&j, ret)) < 0)
		error_errno(err, code, "Cannot start threads, or map and unmap memory in them");
	ret->pages = j.bytes / j.page * j.threads * j.rounds;
	job_deinit(&j);
	return code;
}
