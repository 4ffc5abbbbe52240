// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads' new pages are small ones of a mapping of their own. A fault there leaves the lock of
 * its mapping for mmap_lock as soon as fork() has marked that one, which it does from low addresses
 * to high ones: this one is mapped after the large one, so that it lies below it. Their stacks are
 * mapped before, so that these lie above it, and writing there needs no fault while fork() is busy
 * with the large one: all that stalls is where the threads' clock readings are.
 */
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/story-fork.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, PAGE = 4096, AREA = 64 << 20, STALLS = 16, ROUNDS = 12 };

static const uint64_t STALL_NS = 1000000, REST_NS = 500000;
static const size_t SPARE = 512u << 20;

struct toucher {
	struct forker *of;
	pthread_t thread;
	bool started;
	char *area;
	struct story_fork_stall *stalls;
	size_t n, cap;
};

struct forker {
	const struct story_fork_options *o;
	atomic_bool is_begun, is_over;
	char *large;
	struct toucher touchers[MOST];
};

static void *touch(void *arg)
{
	struct toucher *t = arg;

	while (!t->of->is_begun && !t->of->is_over)
		clock_sleep_ns(REST_NS);
	for (size_t i = 0; !t->of->is_over; i = (i + 1) % (AREA / PAGE)) {
		uint64_t from = clock_now_ns();
		*(volatile char *)(t->area + i * PAGE) = 1;
		uint64_t to = clock_now_ns();
		if (to - from > STALL_NS && t->n < t->cap)
			t->stalls[t->n++] = (struct story_fork_stall){gettid(), from, to};
		clock_sleep_ns(REST_NS);
	}
	return NULL;
}

static char *map(size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, len, MADV_NOHUGEPAGE); /* a kernel without them has none */
	return p;
}

static size_t available(void)
{
	char line[128];
	size_t kb = 0;
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %zu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

/* How long the calling thread ran, and was kept off its CPU, until now. */
static int read_sched(uint64_t *ret_ran_ns, uint64_t *ret_runnable_ns)
{
	char buf[128];
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -EOPNOTSUPP;
	buf[n] = '\0';
	/* How long it ran schedstat counts to the last tick, and not up to now. */
	*ret_ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return sscanf(buf, "%*u %" SCNu64, ret_runnable_ns) == 1 ? 0 : -EOPNOTSUPP;
}

static int fork_once(struct story_fork_call *ret)
{
	uint64_t ran = 0, runnable = 0, ran_after = 0, runnable_after = 0;
	int code = read_sched(&ran, &runnable);

	ret->from_ns = clock_now_ns();
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	int failed = pid < 0 ? -errno : 0;
	ret->to_ns = clock_now_ns();
	code = code ? code : read_sched(&ran_after, &runnable_after);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	ret->ran_ns = ran_after - ran;
	ret->runnable_ns = runnable_after - runnable;
	return failed ? failed : code;
}

static int start(struct forker *f)
{
	for (uint32_t i = 0; i < f->o->threads; i++) {
		struct toucher *t = &f->touchers[i];
		t->of = f;
		t->cap = (size_t)f->o->rounds * STALLS;
		t->stalls = mem_calloc(t->cap, sizeof(*t->stalls));
		int code = t->stalls ? pthread_create(&t->thread, NULL, touch, t) : ENOMEM;
		if (code)
			return -code;
		t->started = true;
	}
	f->large = map(f->o->bytes);
	for (size_t i = 0; f->large && i < f->o->bytes; i += PAGE)
		f->large[i] = 1;
	for (uint32_t i = 0; f->large && i < f->o->threads; i++)
		if (!(f->touchers[i].area = map(AREA)))
			return -errno;
	return f->large ? 0 : -errno;
}

static int run(struct forker *f, struct story_fork *ret)
{
	int code = start(f);

	f->is_begun = code == 0;
	for (; code == 0 && ret->n_calls < f->o->rounds; ret->n_calls++) {
		clock_sleep_ns(f->o->apart_ns);
		code = fork_once(&ret->calls[ret->n_calls]);
	}
	if (code == 0)
		clock_sleep_ns(f->o->apart_ns);
	f->is_over = true;
	for (uint32_t i = 0; i < f->o->threads; i++)
		if (f->touchers[i].started)
			pthread_join(f->touchers[i].thread, NULL);
	return code;
}

/* Those that were on while fork() was. */
static void take_stalls(const struct forker *f, struct story_fork *ret)
{
	for (uint32_t i = 0; i < f->o->threads; i++) {
		const struct toucher *t = &f->touchers[i];
		for (size_t k = 0; k < t->n; k++)
			for (size_t c = 0; c < ret->n_calls; c++)
				if (t->stalls[k].from_ns < ret->calls[c].to_ns &&
				    t->stalls[k].to_ns > ret->calls[c].from_ns) {
					ret->stalls[ret->n_stalls++] = t->stalls[k];
					break;
				}
	}
}

static void forker_deinit(struct forker *f)
{
	for (uint32_t i = 0; i < f->o->threads; i++) {
		mem_free(f->touchers[i].stalls);
		if (f->touchers[i].area)
			munmap(f->touchers[i].area, AREA);
	}
	if (f->large)
		munmap(f->large, f->o->bytes);
}

int story_fork_run(const struct story_fork_options *o, struct story_fork *ret, struct error *err)
{
	struct forker f = {.o = o};

	*ret = (struct story_fork){0};
	if (o->threads < 1 || o->threads > MOST || o->rounds < 1)
		return error_set(err, -EINVAL, "Give 1 to %d threads, and rounds", MOST);
	if (available() < o->bytes + SPARE)
		return error_set(err, -ENOMEM,
				 "The story needs %zu MB of free memory, and %zu MB beside it: "
				 "end other programs",
				 o->bytes >> 20, SPARE >> 20);
	ret->calls = mem_calloc(o->rounds, sizeof(*ret->calls));
	ret->stalls = mem_calloc((size_t)o->rounds * o->threads * STALLS, sizeof(*ret->stalls));
	int code = ret->calls && ret->stalls ? run(&f, ret) : -ENOMEM;
	take_stalls(&f, ret);
	forker_deinit(&f);
	if (code == 0)
		return 0;
	story_fork_deinit(ret);
	if (code == -EOPNOTSUPP)
		return error_set(err, code,
				 "The kernel does not say how long a thread was kept off its CPU "
				 "(CONFIG_SCHED_INFO)");
	return error_errno(err, code, "Cannot run the threads of the story");
}

void story_fork_deinit(struct story_fork *f)
{
	mem_free(f->calls);
	mem_free(f->stalls);
	*f = (struct story_fork){0};
}

int story_work_fork(struct bench_figures *ret, struct error *err)
{
	static const struct story_fork_options o = {
		.bytes = 768u << 20, .threads = 6, .rounds = ROUNDS, .apart_ns = 150000000};
	static const struct bench_metric longest = {"longest", "ns", BENCH_LOWER},
					 total = {"total", "ns", BENCH_LOWER},
					 number = {"number", "1", BENCH_FACT};
	uint64_t most[2] = {0}, sum[2] = {0};
	struct story_fork f;
	int code = story_fork_run(&o, &f, err);

	if (code < 0)
		return code;
	for (size_t i = 0; i < f.n_calls; i++)
		story_work_add(&most[0], &sum[0], f.calls[i].to_ns - f.calls[i].from_ns);
	for (size_t i = 0; i < f.n_stalls; i++)
		story_work_add(&most[1], &sum[1], f.stalls[i].to_ns - f.stalls[i].from_ns);
	for (int i = 0; i < 2; i++) {
		const char *of = i ? "page faults meanwhile" : "fork";
		bench_figures_put(ret, &number, (double)(i ? f.n_stalls : f.n_calls), "%s", of);
		bench_figures_put(ret, &longest, (double)most[i], "%s", of);
		bench_figures_put(ret, &total, (double)sum[i], "%s", of);
	}
	story_fork_deinit(&f);
	return 0;
}
