// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of each kind, and the way to produce waits for them: one holder that keeps the lock
 * (bench-lock-held.c), or storms.
 *
 * In a storm, threads bound to CPUs repeat the same call as fast as they can; the call holds a
 * spinlock for some microseconds. Each thread notes the times of call and return. Only one call can
 * have the lock. So in the order of their returns, a call cannot have got it before the previous
 * one released it. If it had begun by then, it has waited at least from its begin until then, minus
 * the time that a call takes before and after the lock. It has waited at most by how much it took
 * longer than the shortest call without other threads. A thread that is preempted between the lock
 * and its note blurs both, so threads run under SCHED_FIFO if permitted, for a fraction of a
 * second.
 */
#include "bench-lock-int.h"
#include "bind.h"

#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/sort.h"
#include <errno.h>
#include <sched.h>
#include <string.h>

enum { CALLS = 4000, LEAST_CALLS = 50, MOST_CALLS = 1 << 20, ALONE = 200, LOOK_NS = 1000000 };

static const uint64_t MEET_NS = 1000000000;

struct storm_thread {
	struct bench_lock_storm *storm;
	unsigned index;
	int cpu;
	pthread_t thread;
};

static void note_call(struct bench_lock_storm *s, struct bench_lock_call *c)
{
	c->enter_ns = clock_now_ns();
	s->ops->call(s);
	c->leave_ns = clock_now_ns();
}

/*
 * All threads must begin together, or one might finish its calls before the next one starts: first
 * all of them are seen asleep here, then each spins for a while until the others run, too.
 */
static void meet(struct bench_lock_storm *s)
{
	s->n_ready++;
	pthread_mutex_lock(&s->start);
	pthread_mutex_unlock(&s->start);
	s->n_in++;
	for (uint64_t until_ns = clock_now_ns() + MEET_NS;
	     s->n_in < s->n && !s->give_up && clock_now_ns() < until_ns;)
		sched_yield();
}

static void *thread_main(void *arg)
{
	struct storm_thread *t = arg;
	struct bench_lock_storm *s = t->storm;
	struct bench_lock_call *calls = s->calls + t->index * s->each;
	struct sched_param first = {.sched_priority = 1};

	bind_to_cpu((uint32_t)t->cpu);
	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	meet(s);
	for (uint64_t i = 0; i < s->each && !s->give_up; i++)
		note_call(s, &calls[i]);
	return NULL;
}

static int takes_less(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* The duration of a call without other threads. */
static void measure_alone(struct bench_lock_storm *s)
{
	uint64_t took[2 * ALONE];

	s->empty_ns = UINT64_MAX;
	for (unsigned i = 0; i < ALONE; i++) {
		uint64_t from = clock_now_ns();
		s->ops->empty(s);
		uint64_t ns = clock_now_ns() - from;
		s->empty_ns = ns < s->empty_ns ? ns : s->empty_ns;
	}
	for (unsigned i = 0; i < ALONE; i++) {
		uint64_t from = clock_now_ns();
		s->ops->call(s);
		took[i] = clock_now_ns() - from;
	}
	sort_merge(took, took + ALONE, ALONE, sizeof(*took), takes_less);
	s->least_ns = took[0];
	s->alone_ns = took[ALONE / 2];
}

static int returns_before(const void *a, const void *b)
{
	return ((const struct bench_lock_call *)a)->leave_ns <
	       ((const struct bench_lock_call *)b)->leave_ns;
}

/* Time from the begin of a call until another one returned; 0: it began later. */
static uint64_t overlap(const struct bench_lock_call *c, const struct bench_lock_call *ahead,
			uint64_t less_ns)
{
	uint64_t from = c->enter_ns + less_ns;

	return ahead->leave_ns > from ? ahead->leave_ns - from : 0;
}

void bench_lock_storm_sum(const struct bench_lock_call *calls, size_t n, uint64_t empty_ns,
			  uint64_t least_ns, struct bench_lock_sum *ret)
{
	for (size_t i = 1; i < n; i++) {
		const struct bench_lock_call *c = &calls[i];
		uint64_t took = c->leave_ns - c->enter_ns;
		uint64_t most = took > least_ns ? took - least_ns : 0;
		uint64_t least = overlap(c, &calls[i - 1], empty_ns);
		least = least < most ? least : most;
		ret->least += least > 0;
		ret->least_ns += least;
		if (!overlap(c, &calls[i - 1], 0))
			continue;
		ret->most++;
		ret->most_ns += most;
		if (i > 1 && overlap(c, &calls[i - 2], empty_ns)) {
			ret->behind++;
			ret->behind_ns += least;
		}
	}
}

static void sum_up(struct bench_lock_storm *s, struct bench_lock_call *room,
		   struct bench_lock_result *ret)
{
	size_t n = s->n * s->each;
	struct bench_lock_sum *sum = &ret->sums[ret->n_sums++];

	sort_merge(s->calls, room, n, sizeof(*s->calls), returns_before);
	uint64_t took = 0, first = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		first = s->calls[i].enter_ns < first ? s->calls[i].enter_ns : first;
	took = s->calls[n - 1].leave_ns - first;
	sum->type = s->ops->type;
	bench_lock_storm_sum(s->calls, n, s->empty_ns, s->least_ns, sum);
	ret->called = s->ops->lock;
	ret->callers = s->n;
	ret->calls = n;
	ret->call_ns = s->alone_ns;
	ret->calls_per_s = took ? (double)n * 1e9 / (double)took : 0;
}

static int run_threads(struct bench_lock_storm *s, const cpu_set_t *allowed)
{
	struct storm_thread threads[BENCH_LOCK_THREADS];
	unsigned started = 0;
	int cpu = -1, r = 0;

	pthread_mutex_init(&s->start, NULL);
	pthread_mutex_lock(&s->start);
	for (; r == 0 && started < s->n; started += r == 0) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, allowed));
		threads[started] = (struct storm_thread){.storm = s, .index = started, .cpu = cpu};
		r = -pthread_create(&threads[started].thread, NULL, thread_main, &threads[started]);
	}
	s->give_up = r < 0;
	while (!s->give_up && s->n_ready < s->n)
		clock_sleep_ns(LOOK_NS);
	pthread_mutex_unlock(&s->start);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i].thread, NULL);
	pthread_mutex_destroy(&s->start);
	return r;
}

static int storm_run(struct bench_lock_storm *s, const cpu_set_t *allowed,
		     struct bench_lock_result *ret, struct error *err)
{
	size_t n = s->n * s->each;
	int r = s->ops->prepare(s, err);

	if (r < 0)
		return r;
	s->calls = mem_calloc(2 * n, sizeof(*s->calls));
	if (!s->calls)
		return error_enomem(err, "%zu calls", n);
	measure_alone(s);
	r = run_threads(s, allowed);
	if (r < 0)
		return error_errno(err, r, "Cannot start a thread");
	sum_up(s, s->calls + n, ret);
	return 0;
}

static int storm_check(const struct bench_lock_storm *s, int cpus, struct error *err)
{
	if (cpus < 2)
		return error_set(err, -EOPNOTSUPP,
				 "Cannot make threads wait for %s on one CPU: the holder of a "
				 "spinlock always runs",
				 s->ops->lock);
	if (s->n < 2 || s->n > BENCH_LOCK_THREADS)
		return error_set(err, -EINVAL, "Cannot use %u threads: give --threads of 2 to %d",
				 s->n, BENCH_LOCK_THREADS);
	if (s->each > MOST_CALLS / s->n)
		return error_set(err, -EINVAL, "Too many calls: give --rounds of %d at most",
				 MOST_CALLS);
	return 0;
}

/* Runs calls of all threads at once; adds the sums to @ret. */
static int bench_lock_storm(const struct bench_lock_storm_ops *ops,
			    const struct bench_lock_options *o, struct bench_lock_result *ret,
			    struct error *err)
{
	struct bench_lock_storm s = {.ops = ops, .fd = -1, .empty_fd = -1};
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return error_errno(err, -errno, "Cannot read which CPUs may be used");
	int cpus = CPU_COUNT(&allowed);
	s.n = o->threads ? o->threads
			 : (uint32_t)(cpus < BENCH_LOCK_THREADS ? cpus : BENCH_LOCK_THREADS);
	s.each = (o->rounds ? o->rounds : CALLS) / (s.n ? s.n : 1);
	s.each = s.each < LEAST_CALLS ? LEAST_CALLS : s.each;
	int r = storm_check(&s, cpus, err);
	if (r < 0)
		return r;
	r = storm_run(&s, &allowed, ret, err);
	ops->close(&s);
	mem_free(s.calls);
	return r;
}

static const struct {
	const char *name;
	const struct bench_lock_held_ops *held;
	const struct bench_lock_storm_ops *storm;
} lock_kinds[BENCH_LOCK_KINDS] = {
	[BENCH_LOCK_MUTEX] = {"mutex", &bench_lock_pipe, NULL},
	[BENCH_LOCK_RWSEM] = {"rwsem", &bench_lock_dir, NULL},
	[BENCH_LOCK_SPINLOCK] = {"spinlock", NULL, &bench_lock_records},
	[BENCH_LOCK_FUTEX] = {"futex", &bench_lock_word, &bench_lock_bucket},
};

const char *bench_lock_name(enum bench_lock_kind kind)
{
	return lock_kinds[kind].name;
}

int bench_lock(enum bench_lock_kind kind, const struct bench_lock_options *o,
	       struct bench_lock_result *ret, struct error *err)
{
	/* If there are both, rounds apply to the lock in memory. */
	struct bench_lock_options calls = {o->threads, lock_kinds[kind].held ? 0 : o->rounds};
	int r = 0;

	*ret = (struct bench_lock_result){0};
	if (lock_kinds[kind].held)
		r = bench_lock_hold(lock_kinds[kind].held, o, ret, err);
	if (r == 0 && lock_kinds[kind].storm)
		r = bench_lock_storm(lock_kinds[kind].storm, &calls, ret, err);
	return r;
}
