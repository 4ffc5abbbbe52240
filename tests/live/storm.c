// SPDX-License-Identifier: GPL-2.0-only
/*
 * The storm: threads that map, populate and unmap 1 MiB, so that populating (readers) and mapping
 * (writers) meet at one mmap_lock. How often they meet depends on the scheduler. Only the gates
 * (workloads/gate.h), which they pass every few rounds, are certain. Half of the threads stay on
 * CPU 0, so that it has its share.
 *
 * The counters follow the child and its threads by inherit; the kernel adds up the living threads,
 * so they are read before any of them exits, and when all are asleep.
 */
#include "storm.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/tracefs.h"
#include "workloads/gate.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GATE_ROUNDS = 8, PAGE = 4096, LOOK_US = 100 };

static void must(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		abort();
	}
}

struct job {
	int rounds;
	struct gate gate;
};

struct churner {
	struct job *job;
	int index;
	_Atomic bool done;
};

static void *churn(void *arg)
{
	struct churner *c = arg;
	struct gate *gate = &c->job->gate;
	const size_t len = 1 << 20;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (c->index % 2 == 0)
		sched_setaffinity(0, sizeof(first), &first);
	gate_join(gate, c->index);
	for (int i = 0; i < c->job->rounds; i++) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p != MAP_FAILED)
			munmap(p, len);
		sched_yield();
		if (i % GATE_ROUNDS == 0)
			must(gate_pass(gate, c->index, i / GATE_ROUNDS) == 0, "gate");
	}
	c->done = true;
	pause();
	return NULL;
}

void storm_run(int threads, int rounds)
{
	struct job *job = mem_calloc(1, sizeof(*job));
	struct churner *churners = mem_calloc((size_t)threads, sizeof(*churners));
	pthread_t t;

	must(job && churners && gate_init(&job->gate, threads, -1) == 0, "storm");
	job->rounds = rounds;
	for (int i = 0; i < threads; i++) {
		churners[i].job = job;
		churners[i].index = i;
		must(pthread_create(&t, NULL, churn, &churners[i]) == 0, "pthread_create");
	}
	for (int nth = 0; nth * GATE_ROUNDS < rounds; nth++)
		must(gate_open(&job->gate, nth) == 0, "gate_open");
	for (int i = 0; i < threads; i++) {
		while (!churners[i].done)
			usleep(LOOK_US);
		gate_until(job->gate.threads[i].tid, 'S');
	}
	gate_until(job->gate.holder, 'S');
}

static _Noreturn void child(int go_fd, _Atomic bool *done, int threads, int rounds)
{
	char byte;

	if (read(go_fd, &byte, 1) == 1 && byte == 'g') {
		storm_run(threads, rounds);
		*done = true;
		must(read(go_fd, &byte, 1) >= 0, "end");
	}
	_exit(7);
}

static int open_counter(uint32_t id, pid_t pid, int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(a),
		.config = id,
		.inherit = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	must(fd >= 0, "counter");
	return fd;
}

static void open_counters(struct storm *s)
{
	static const char *const events[] = {"contention_begin", "contention_end"};
	char path[TRACEFS_PATH];
	struct error err = {0};
	uint32_t *cpus;
	size_t n;

	must(tracefs_find(path, &err) == 0, err.text);
	must(cpulist_read("online", &cpus, &n) == 0, "online CPUs");
	s->n_fds = (int)n * 2;
	s->fds = mem_calloc(n * 2, sizeof(*s->fds));
	must(s->fds, "memory");
	for (size_t i = 0; i < n * 2; i++) {
		struct tracepoint tp = {0};
		must(tracepoint_read(&tp, path, "lock", events[i % 2], &err) == 0, err.text);
		s->fds[i] = open_counter(tp.id, s->pid, (int)cpus[i / 2]);
		tracepoint_deinit(&tp);
	}
	mem_free(cpus);
}

void storm_fork(struct storm *s, int threads, int rounds)
{
	int go[2];

	*s = (struct storm){0};
	s->done = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(s->done != MAP_FAILED, "mmap");
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) == 0, "socketpair");
	fflush(NULL);
	s->pid = fork();
	must(s->pid >= 0, "fork");
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait at its gates for ever */
		close(go[1]);
		child(go[0], s->done, threads, rounds);
	}
	close(go[0]);
	s->go_fd = go[1];
	open_counters(s);
}

void storm_go(struct storm *s)
{
	must(send(s->go_fd, "g", 1, MSG_NOSIGNAL) == 1, "go");
}

static void read_counters(struct storm *s)
{
	for (int i = 0; i < s->n_fds; i++) {
		uint64_t v = 0;
		must(read(s->fds[i], &v, sizeof(v)) == sizeof(v), "read of a counter");
		*(i % 2 ? &s->ends : &s->begins) += v;
		close(s->fds[i]);
	}
	mem_free(s->fds);
	s->fds = NULL;
	s->n_fds = 0;
}

bool storm_finished(struct storm *s)
{
	if (s->fds && *s->done)
		read_counters(s);
	return !s->fds;
}

int storm_end(struct storm *s)
{
	int status;

	/* A later storm holds this socket open too, so closing it would say nothing. */
	send(s->go_fd, "e", 1, MSG_NOSIGNAL);
	close(s->go_fd);
	if (s->fds)
		read_counters(s);
	must(waitpid(s->pid, &status, 0) == s->pid, "waitpid");
	munmap(s->done, PAGE);
	return status;
}
