// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners are reported for the threads and CPUs that were named, and for no others: the test has its
 * own rings and reads how much was written, while threads wait at gates (see gate.h).
 */
#include "kontend/waitfeed.h"
#include "live.h"
#include "workloads/gate.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, GATES = 2 /* a pipe and a directory */, PHASES = 4, CPUS = 1024, PAGES = 17 };

struct output_ring {
	int fd; /* -1: none, as there is no such CPU */
	struct perf_event_mmap_page *page;
};

static int failures, next_gate;
static struct gate gate;
static struct output_ring rings[CPUS];

static void *thread_main(void *arg)
{
	int index = (int)(intptr_t)arg;

	gate_join(&gate, index);
	for (int nth = 0; nth < PHASES * GATES; nth++)
		gate_pass(&gate, index, nth);
	return NULL;
}

static size_t ring_len(void)
{
	return PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static void ring_open(struct output_ring *r, int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_BPF_OUTPUT,
				       .sample_type = PERF_SAMPLE_RAW,
				       .sample_period = 1};

	r->page = NULL;
	r->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return;
	void *p = mmap(NULL, ring_len(), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (live_check(&failures, p != MAP_FAILED, "no ring of CPU %d", cpu))
		r->page = p;
}

static void ring_close(struct output_ring *r)
{
	if (r->page)
		munmap(r->page, ring_len());
	if (r->fd >= 0)
		close(r->fd);
}

static uint64_t written(int cpu)
{
	return rings[cpu].page ? __atomic_load_n(&rings[cpu].page->data_head, __ATOMIC_ACQUIRE) : 0;
}

/* Bytes in the rings of all CPUs, or but one. */
static uint64_t written_without(int but)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < CPUS; cpu++)
		sum += cpu == but ? 0 : written(cpu);
	return sum;
}

static void open_gates(void)
{
	for (int i = 0; i < GATES; i++, next_gate++)
		live_check(&failures, gate_open(&gate, next_gate) == 0, "gate %d does not open",
			   next_gate);
}

/* Bytes that are written for @target while all threads wait, except on CPU @but. */
static uint64_t reported(const struct target *target, int but)
{
	const struct waitfeed_options o = {.target = target, .owners = true};
	struct waitfeed *f = NULL;
	struct error err = {0};

	int code = waitfeed_new(&f, &o, NULL, &err);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		ring_open(&rings[cpu], cpu);
		if (code == 0 && rings[cpu].page)
			code = waitfeed_feed(f)->set(waitfeed_feed(f), (uint32_t)cpu,
						     rings[cpu].fd);
	}
	if (code == 0)
		code = waitfeed_start(f, 0, &err);
	live_check(&failures, code == 0, "owners are not reported: %s", err.text);
	open_gates();
	waitfeed_free(f);
	uint64_t n = written_without(but);
	for (int cpu = 0; cpu < CPUS; cpu++)
		ring_close(&rings[cpu]);
	return n;
}

static void check_tids(pid_t idle)
{
	pid_t waits = gate.threads[0].tid;
	const struct target none = {.kind = TARGET_TIDS, .ids = &idle, .n_ids = 1};
	const struct target one = {.kind = TARGET_TIDS, .ids = &waits, .n_ids = 1};

	live_check(&failures, reported(NULL, -1) > 0, "no wait is reported for all tasks");
	live_check(&failures, reported(&none, -1) == 0, "waits of other threads are reported");
	live_check(&failures, reported(&one, -1) > 0, "waits of the thread are not reported");
}

static void check_cpus(void)
{
	uint32_t cpu = 0;
	const struct target first = {.cpus = &cpu, .n_cpus = 1};

	live_check(&failures, reported(&first, 0) == 0, "waits on other CPUs are reported");
}

static void check_all(int dir)
{
	pthread_t t[THREADS];
	pid_t idle = fork();

	if (idle == 0) {
		pause();
		_exit(0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread_main, (void *)(intptr_t)i);
	while (!gate.threads[0].tid)
		usleep(1000);
	check_tids(idle);
	check_cpus();
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	kill(idle, SIGKILL);
	waitpid(idle, NULL, 0);
	unlinkat(dir, "gate", AT_REMOVEDIR);
}

/* Can this kernel and user do it at all, and do we see threads by the numbers that BPF does? */
static bool works(void)
{
	const struct waitfeed_options o = {.owners = true};
	struct waitfeed *f = NULL;
	struct error err = {0};
	char ns[64] = "";

	bool good = waitfeed_new(&f, &o, NULL, &err) == 0;
	if (!good)
		printf("%s\n", err.text);
	waitfeed_free(f);
	return good && readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1) > 0 &&
	       !strcmp(ns, "pid:[4026531836]");
}

int main(void)
{
	char folder[] = "/tmp/kontend-owner-XXXXXX";

	live_need_root();
	if (!works())
		return LIVE_SKIP;
	if (!mkdtemp(folder))
		return 1;
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = gate_init(&gate, THREADS, dir);
	if (live_check(&failures, r == 0, "no holder that sleeps: %s", strerror(-r)))
		check_all(dir);
	close(dir);
	rmdir(folder);
	return failures != 0;
}
