// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contending workload. Time is cut into periods of 100 ms, and a table gives each kind's burst
 * at the start of a period, phase by phase: a pure function of the clock, so that all threads of a
 * kind work at the same time without having to agree. Between bursts they sleep. The main thread
 * only waits for signals and compares the CPU time used with the budget: planned bursts are cut to
 * `scale` percent when the machine is slower than the one the table was made on.
 */
#include "demo-internal.h"
#include "kontend/clock.h"
#include "kontend/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PHASES = 8,
	PHASE_PERIODS = 15, /* 1.5 s */
	HOLD_PERIODS = 7,
	BUDGET_PCT = 50,
	WORKERS_MAX = DEMO_KINDS * (DEMO_MAX_THREADS + 1) + 1,
};

/* Burst in ms of a 100 ms period, by phase and kind (mmap, inode, pipe, dir, futex, chain). */
static const unsigned char demo_plan[PHASES][DEMO_KINDS] = {
	{14, 3, 3, 2, 1, 1}, {28, 2, 2, 1, 1, 1}, {6, 10, 2, 2, 2, 1}, {4, 2, 12, 2, 1, 1},
	{18, 3, 3, 6, 3, 1}, {2, 1, 1, 1, 0, 1},  {36, 2, 1, 1, 1, 1}, {8, 6, 6, 4, 2, 1},
};

struct demo_worker {
	struct demo *demo;
	unsigned kind, thread;
};

/* Threads and what they are given, while the demo runs. */
struct demo_crew {
	pthread_t threads[WORKERS_MAX];
	struct demo_worker workers[WORKERS_MAX];
	unsigned n;
};

uint64_t demo_now(void)
{
	return clock_now_ns();
}

unsigned demo_burst_us(const struct demo *d, unsigned kind, uint64_t period)
{
	return demo_plan[period / PHASE_PERIODS % PHASES][kind] * 10u * d->scale;
}

static uint64_t period_start(const struct demo *d, uint64_t period)
{
	return d->start_ns + period * DEMO_PERIOD_MS * 1000000u;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static uint64_t next_period(const struct demo *d)
{
	return (demo_now() - d->start_ns) / (DEMO_PERIOD_MS * 1000000u) + 1;
}

static void name_thread(const struct demo_worker *w, const char *role)
{
	char name[16];

	snprintf(name, sizeof(name), "demo-%s%s", demo_kinds[w->kind].name, role);
	prctl(PR_SET_NAME, name);
}

static void *worker_main(void *arg)
{
	struct demo_worker *w = arg;
	struct demo *d = w->demo;

	name_thread(w, "");
	while (!d->stop) {
		uint64_t period = next_period(d);
		uint64_t end = period_start(d, period);
		uint64_t round = 0;

		sleep_until(end);
		end += demo_burst_us(d, w->kind, period) * 1000u;
		while (!d->stop && demo_now() < end)
			demo_kinds[w->kind].step(d, w->thread, round++);
	}
	return NULL;
}

static void *holder_main(void *arg)
{
	struct demo_worker *w = arg;
	struct demo *d = w->demo;

	name_thread(w, "-h");
	while (!d->stop) {
		uint64_t period = next_period(d);

		/* A little after the start, when the workers are at it. */
		sleep_until(period_start(d, period) + 500000u);
		if (d->stop || (period + w->kind * 3) % HOLD_PERIODS)
			continue;
		demo_kinds[w->kind].hold(d, d->slow[w->kind].page);
		madvise(d->slow[w->kind].page, DEMO_PAGE, MADV_DONTNEED);
	}
	return NULL;
}

static int crew_add(struct demo_crew *c, void *(*main)(void *), struct demo *d, unsigned kind,
		    unsigned thread)
{
	struct demo_worker *w = &c->workers[c->n];
	int r;

	*w = (struct demo_worker){d, kind, thread};
	r = pthread_create(&c->threads[c->n], NULL, main, main == demo_slow_main ? (void *)d : w);
	if (r)
		return -r;
	c->n++;
	return 0;
}

static int crew_start(struct demo_crew *c, struct demo *d)
{
	int r = crew_add(c, demo_slow_main, d, 0, 0);

	for (unsigned k = 0; k < DEMO_KINDS && !r; k++) {
		if (!(d->kinds & 1u << k))
			continue;
		if (d->slow[k].fd >= 0)
			r = crew_add(c, holder_main, d, k, 0);
		for (unsigned t = 0; t < d->threads && !r; t++)
			r = crew_add(c, worker_main, d, k, t);
	}
	return r;
}

/* Cuts the bursts when the last second was over budget, and lets them grow back slowly. */
static void govern(struct demo *d, uint64_t *last_ns, uint64_t *last_cpu)
{
	uint64_t now = demo_now(), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t pct = (cpu - *last_cpu) * 100 / (now - *last_ns + 1);
	unsigned scale = d->scale;

	if (pct > BUDGET_PCT)
		scale = (unsigned)(scale * BUDGET_PCT / pct);
	else if (scale < 100)
		scale += 8;
	d->scale = scale < 5 ? 5 : scale;
	*last_ns = now;
	*last_cpu = cpu;
}

static void wait_for_end(struct demo *d, const sigset_t *set, uint64_t duration_ns)
{
	static const struct timespec turn = {0, 100000000};
	uint64_t last_ns = d->start_ns, last_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t now;

	do {
		if (sigtimedwait(set, NULL, &turn) > 0)
			return;
		demo_probes_hit(d);
		now = demo_now();
		if (now - last_ns >= 1000000000u)
			govern(d, &last_ns, &last_cpu);
	} while (!duration_ns || now - d->start_ns < duration_ns);
}

/*
 * A directory in a tmpfs that is mounted nowhere, if permitted: it vanishes with the process,
 * however that ends. Its name appears in the names of its locks, so that users recognize them as
 * the demo's.
 */
static int detached_dir(void)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
				  MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID);
	if (fs >= 0)
		close(fs);
	if (fd < 0)
		return -1;
	int dir = mkdirat(fd, "demo:", 0700)
			  ? -1
			  : openat(fd, "demo:", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	return dir;
}

static int named_dir(struct demo *d, struct error *err)
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base)
		base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	if ((size_t)snprintf(d->dir, sizeof(d->dir), "%s/kontend-demo-XXXXXX", base) >=
	    sizeof(d->dir)) {
		d->dir[0] = '\0';
		return error_set(err, -ENAMETOOLONG, "demo: the path in TMPDIR is too long");
	}
	if (!mkdtemp(d->dir)) {
		int code = -errno;

		d->dir[0] = '\0';
		return error_errno(err, code, "demo: cannot make a directory below %s", base);
	}
	d->dir_fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir_fd < 0)
		return error_errno(err, -errno, "demo: cannot open the directory %s", d->dir);
	return 0;
}

static int files_open(struct demo *d, struct error *err)
{
	int r;

	d->dir_fd = detached_dir();
	if (d->dir_fd < 0) {
		r = named_dir(d, err);
		if (r)
			return r;
	}
	d->file_fd = openat(d->dir_fd, "data", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	d->log_fd = openat(d->dir_fd, "log", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (d->file_fd < 0 || d->log_fd < 0 || pipe2(d->pipe_fd, O_CLOEXEC | O_NONBLOCK) ||
	    pipe2(d->feed_fd, O_CLOEXEC | O_NONBLOCK))
		return error_errno(err, -errno, "demo: cannot open a file or a pipe");
	return 0;
}

static void files_close(struct demo *d)
{
	const int fds[] = {d->file_fd, d->pipe_fd[0], d->pipe_fd[1],
			   d->log_fd,  d->feed_fd[0], d->feed_fd[1]};
	char name[24];

	for (size_t k = 0; k < sizeof(fds) / sizeof(*fds); k++) {
		if (fds[k] >= 0)
			close(fds[k]);
	}
	if (d->dir_fd >= 0) {
		for (unsigned t = 0; t < d->threads; t++) {
			snprintf(name, sizeof(name), "n%u", t);
			unlinkat(d->dir_fd, name, 0);
		}
		unlinkat(d->dir_fd, "data", 0);
		unlinkat(d->dir_fd, "log", 0);
		close(d->dir_fd);
	}
	if (d->dir[0])
		rmdir(d->dir);
}

static int demo_crew_run(struct demo *d, const sigset_t *set, uint64_t duration_ns,
			 struct error *err)
{
	struct demo_crew crew;
	int r;

	crew.n = 0;
	d->start_ns = demo_now();
	r = crew_start(&crew, d);
	if (!r)
		wait_for_end(d, set, duration_ns);
	d->stop = true;
	/* The first one gives pages to the others until they have ended. */
	for (unsigned k = crew.n; k-- > 1;)
		pthread_join(crew.threads[k], NULL);
	d->joined = true;
	if (crew.n)
		pthread_join(crew.threads[0], NULL);
	return r ? error_errno(err, r, "demo: cannot start thread %u", crew.n + 1) : 0;
}

int demo_run(const struct demo_options *o, struct error *err)
{
	struct demo d = {.kinds = o->kinds ? o->kinds : DEMO_ALL,
			 .threads = o->threads ? o->threads : 4,
			 .scale = 100,
			 .dir_fd = -1,
			 .file_fd = -1,
			 .pipe_fd = {-1, -1},
			 .log_fd = -1,
			 .breakpoint_fd = -1,
			 .uprobe_fd = -1,
			 .feed_fd = {-1, -1}};
	sigset_t set, old;
	int r;

	if (d.threads > DEMO_MAX_THREADS)
		return error_set(err, -EINVAL, "demo: %u threads a kind is too many: at most %d",
				 d.threads, DEMO_MAX_THREADS);
	ending_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The locks of this process are named after it: they are not kontend's. */
	prctl(PR_SET_NAME, "kontend-demo");
	for (unsigned k = 0; k < DEMO_KINDS; k++) {
		d.slow[k].fd = -1;
		if (d.kinds & 1u << k && demo_kinds[k].hold)
			demo_slow_init(&d.slow[k]);
	}
	/* It takes rights that are dropped next. */
	if (d.kinds == DEMO_ALL)
		demo_probes_place(&d, o->missing);
	r = files_open(&d, err);
	if (!r && o->ready && (r = o->ready()) < 0)
		error_errno(err, r, "demo: cannot give up capabilities");
	if (!r)
		r = demo_crew_run(&d, &set, o->duration_ns, err);
	demo_probes_remove(&d);
	files_close(&d);
	for (unsigned k = 0; k < DEMO_KINDS; k++)
		demo_slow_deinit(&d.slow[k]);
	prctl(PR_SET_PDEATHSIG, 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

int demo_kinds_parse(const char *list, unsigned *ret, struct error *err)
{
	unsigned kinds = 0;

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		unsigned found = len == 3 && !strncmp(p, "all", 3) ? DEMO_ALL : 0;

		for (unsigned k = 0; k < DEMO_KINDS; k++) {
			const char *name = demo_kinds[k].name;

			if (strlen(name) == len && !strncmp(p, name, len))
				found = 1u << k;
		}
		if (!found)
			return error_set(err, -EINVAL,
					 "demo: '%.*s' is no kind of contention: give all, or some "
					 "of mmap, inode, pipe, dir, futex, chain",
					 (int)(len > 40 ? 40 : len), p);
		kinds |= found;
		p += len;
		if (!*p)
			break;
	}
	*ret = kinds;
	return 0;
}
