// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload of `kontend bench rotation`. It is a process of its own, so that its task's events
 * belong to another process than the measuring one; it counts the streamed bytes in shared memory.
 * It ends with the process that started it, however that ends.
 */
#include "kontend/bench-rotation.h"
#include "bind.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096, ARRAYS = 3, WAKE_NS = 1000000, SPARE_FDS = 64, CGROUPS = 2 };

/* Of the workload, and of the thread that preempts it. */
static const char *const cgroups[CGROUPS] = {"stream", "wake"};

struct bench_rotation_shared {
	_Atomic uint64_t bytes;
	uint32_t opened, wanted;
	int code; /* from opening events */
};

const char *bench_rotation_name(enum bench_rotation_case which)
{
	static const char *const names[] = {"no events", "system-wide", "per process", "by cgroup"};

	return names[which];
}

/* a = b + 3c, as STREAM's triad. */
static _Noreturn void stream(struct bench_rotation_shared *s, double *memory, size_t n)
{
	double *a = memory, *b = memory + n, *c = memory + 2 * n;

	for (size_t at = 0;; at = at + CHUNK < n ? at + CHUNK : 0) {
		size_t end = at + CHUNK < n ? at + CHUNK : n;
		for (size_t i = at; i < end; i++)
			a[i] = b[i] + 3.0 * c[i];
		atomic_fetch_add_explicit(&s->bytes, (end - at) * ARRAYS * sizeof(*a),
					  memory_order_relaxed);
	}
}

/* @pid: with PERF_FLAG_PID_CGROUP in @flags the descriptor of a cgroup's directory. */
static int open_on(struct bench_rotation_shared *s, uint32_t events, pid_t pid, int cpu,
		   unsigned long flags)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	for (uint32_t i = 0; i < events; i++, s->opened++) {
		int fd = perf_event_open(&attr, pid, cpu, flags);
		if (fd < 0)
			return fd;
	}
	return 0;
}

static int cgroup_path(char *ret, size_t size, const char *above, const char *name)
{
	return snprintf(ret, size, "%s/%s", above, name) < (int)size ? 0 : -ENAMETOOLONG;
}

/* Events of both cgroups, on one CPU. */
static int open_cgroups(struct bench_rotation_shared *s, uint32_t events, const char *above,
			int cpu)
{
	char path[2 * BENCH_ROTATION_PATH];
	int code = 0;

	for (int i = 0; code == 0 && i < CGROUPS; i++) {
		code = cgroup_path(path, sizeof(path), above, cgroups[i]);
		int fd = code ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return code ? code : -errno;
		code = open_on(s, events, fd, cpu, PERF_FLAG_PID_CGROUP);
		close(fd);
	}
	return code;
}

static int open_events(struct bench_rotation_shared *s, enum bench_rotation_case which,
		       uint32_t events, const char *above)
{
	bool by_cgroup = which == BENCH_ROTATION_CGROUPS;
	struct rlimit many;
	uint32_t *cpus;
	size_t n;
	int code = which == BENCH_ROTATION_NONE ? 0 : cpulist_read("online", &cpus, &n);

	if (code < 0 || which == BENCH_ROTATION_NONE)
		return code;
	s->wanted = events * (uint32_t)n * (by_cgroup ? CGROUPS : 1);
	many = (struct rlimit){s->wanted + SPARE_FDS, s->wanted + SPARE_FDS};
	(void)setrlimit(RLIMIT_NOFILE, &many); /* if the limit is too low, opening events fails */
	for (size_t i = 0; code == 0 && i < n; i++)
		code = by_cgroup ? open_cgroups(s, events, above, (int)cpus[i])
				 : open_on(s, events, which == BENCH_ROTATION_SYSTEM ? -1 : 0,
					   (int)cpus[i], 0);
	mem_free(cpus);
	return code;
}

static double *make_arrays(size_t n)
{
	size_t len = ARRAYS * n * sizeof(double);
	double *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < ARRAYS * n; i++)
		p[i] = 1.0;
	return p;
}

/* Moves the calling process into the cgroup. */
static int enter(const char *above, const char *name)
{
	char path[2 * BENCH_ROTATION_PATH];

	if (!*above)
		return 0;
	int code = cgroup_path(path, sizeof(path), above, name);
	size_t len = strlen(path);
	if (code < 0 || len + sizeof("/cgroup.procs") > sizeof(path))
		return -ENAMETOOLONG;
	strcpy(path + len, "/cgroup.procs");
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	code = fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return code;
}

static void begin_child(pid_t parent, uint32_t cpu)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "bench-rotation");
	if (getppid() != parent)
		_exit(1);
	bind_to_cpu(cpu);
}

/* Runs until it is killed. */
static _Noreturn void work(struct bench_rotation *b, enum bench_rotation_case which,
			   const struct bench_rotation_options *o, int ready)
{
	size_t n = o->bytes / ARRAYS / sizeof(double);
	double *memory = make_arrays(n);
	char byte = 0;

	if (b->shared->code == 0)
		b->shared->code =
			memory ? open_events(b->shared, which, o->events, b->above) : -ENOMEM;
	if (write(ready, &byte, 1) != 1 || b->shared->code < 0)
		_exit(1);
	close(ready);
	stream(b->shared, memory, n);
}

/* Preempts the other thread for a moment each time it wakes up. */
static _Noreturn void wake(void)
{
	for (;;)
		clock_sleep_ns(WAKE_NS);
}

static int start_worker(struct bench_rotation *b, enum bench_rotation_case which,
			const struct bench_rotation_options *o)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return -errno;
	b->pid = fork();
	if (b->pid == 0) {
		begin_child(parent, o->cpu);
		b->shared->code = enter(b->above, cgroups[0]);
		close(ready[0]);
		work(b, which, o, ready[1]);
	}
	int code = b->pid < 0 ? -errno : 0;
	close(ready[1]);
	if (code == 0 && read(ready[0], &byte, 1) != 1)
		code = -ECHILD;
	close(ready[0]);
	return code ? code : b->shared->code;
}

static void remove_cgroups(struct bench_rotation *b)
{
	char path[2 * BENCH_ROTATION_PATH];

	for (int i = 0; *b->above && i < CGROUPS; i++)
		if (cgroup_path(path, sizeof(path), b->above, cgroups[i]) == 0)
			rmdir(path);
	if (*b->above)
		rmdir(b->above);
	b->above[0] = '\0';
}

/* In perf's hierarchy, below its root; they are removed when the workload ends. */
static int make_cgroups(struct bench_rotation *b, struct error *err)
{
	char mount[CGROUP_PATH], path[2 * BENCH_ROTATION_PATH];
	int code = cgroup_search("/proc/self/mounts", mount, sizeof(mount));

	if (code < 0)
		return error_set(err, -EOPNOTSUPP, "Cannot find a mounted cgroup file system");
	if (snprintf(b->above, sizeof(b->above), "%s/kontend-bench-%d", mount, (int)getpid()) >=
	    (int)sizeof(b->above)) {
		b->above[0] = '\0';
		return error_set(err, -EOPNOTSUPP, "The path of cgroups is too long: %s", mount);
	}
	code = mkdir(b->above, 0755) < 0 ? -errno : 0;
	for (int i = 0; code == 0 && i < CGROUPS; i++) {
		code = cgroup_path(path, sizeof(path), b->above, cgroups[i]);
		if (code == 0 && mkdir(path, 0755) < 0)
			code = -errno;
	}
	return code < 0 ? error_set(err, -EOPNOTSUPP, "Cannot make the cgroup %s: %s", b->above,
				    strerror(-code))
			: 0;
}

/* Without perf's controller a cgroup's events cannot be counted. */
static int explain(const struct bench_rotation *b, int code, struct error *err)
{
	if (*b->above && b->shared->wanted && !b->shared->opened)
		return error_set(err, -EOPNOTSUPP,
				 "The kernel opens no events of cgroups (%s): it needs "
				 "CONFIG_CGROUP_PERF, and on version 2 a controller in the root's "
				 "cgroup.subtree_control",
				 strerror(-code));
	if (*b->above && !b->shared->wanted && code != -ENOMEM)
		return error_set(err, -EOPNOTSUPP, "Cannot enter the cgroup %s: %s", b->above,
				 strerror(-code));
	if (b->shared->wanted)
		return error_errno(err, code, "Cannot open event %u of %u for cycles",
				   b->shared->opened + 1, b->shared->wanted);
	return error_errno(err, code, "Cannot start the workload");
}

int bench_rotation_start(struct bench_rotation *b, enum bench_rotation_case which,
			 const struct bench_rotation_options *o, struct error *err)
{
	pid_t parent = getpid();

	*b = (struct bench_rotation){0};
	b->shared = mmap(NULL, sizeof(*b->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b->shared == MAP_FAILED) {
		b->shared = NULL;
		return error_errno(err, -errno, "Cannot start the workload");
	}
	int code = which == BENCH_ROTATION_CGROUPS ? make_cgroups(b, err) : 0;
	if (code < 0)
		return code;
	code = start_worker(b, which, o);
	if (code < 0)
		return explain(b, code, err);
	b->partner = fork();
	if (b->partner == 0) {
		begin_child(parent, o->cpu);
		if (enter(b->above, cgroups[1]) < 0)
			_exit(1);
		wake();
	}
	return b->partner < 0 ? error_errno(err, -errno, "Cannot start the workload") : 0;
}

uint64_t bench_rotation_bytes(const struct bench_rotation *b)
{
	return atomic_load_explicit(&b->shared->bytes, memory_order_relaxed);
}

uint32_t bench_rotation_opened(const struct bench_rotation *b)
{
	return b->shared->opened;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void bench_rotation_stop(struct bench_rotation *b)
{
	end(b->partner);
	end(b->pid);
	remove_cgroups(b);
	if (b->shared)
		munmap(b->shared, sizeof(*b->shared));
	*b = (struct bench_rotation){0};
}
