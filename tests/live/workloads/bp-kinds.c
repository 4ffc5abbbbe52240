// SPDX-License-Identifier: GPL-2.0-only
/* The ways to have perf events: see the table at the end. */
#include "bp-kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile long bp_watched[8];
static int last_fd = -1;

void bp_die(const char *what)
{
	fprintf(stderr, "bp-holder: %s: %s\n", what, strerror(errno));
	exit(1);
}

int bp_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	attr->size = sizeof(*attr);
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
	if (fd < 0)
		bp_die("perf_event_open");
	last_fd = fd;
	return fd;
}

uint64_t bp_count(void)
{
	uint64_t n;

	if (read(last_fd, &n, sizeof(n)) != sizeof(n))
		bp_die("read");
	return n;
}

struct perf_event_attr bp_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&bp_watched[0],
		.bp_len = sizeof(bp_watched[0]),
		.exclude_kernel = 1,
	};
}

struct bp_made bp_made_of(const char *kind, const char *role, const struct perf_event_attr *attr,
			  int fd)
{
	struct bp_made m = {
		.addr = attr->type == PERF_TYPE_BREAKPOINT ? attr->bp_addr : 0,
		.len = attr->type == PERF_TYPE_BREAKPOINT ? attr->bp_len : 0,
		.type = (int)attr->type,
		.bp_type = attr->type == PERF_TYPE_BREAKPOINT ? (int)attr->bp_type : 0,
		.state = attr->disabled ? -1 : 0,
		.cpu = -1,
		.owner = gettid(),
		.owner_pid = getpid(),
		.target = gettid(),
		.tracer = -1,
		.holder = {fd < 0 ? -1 : getpid(), -1},
		.fd = {fd, -1},
	};

	snprintf(m.kind, sizeof(m.kind), "%s", kind);
	snprintf(m.role, sizeof(m.role), "%s", role);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &m.id) < 0)
		bp_die("PERF_EVENT_IOC_ID");
	return m;
}

void bp_print(const struct bp_made *m)
{
	printf(BP_MADE_PRINT, m->kind, m->role, m->id, m->addr, m->len, m->type, m->bp_type,
	       m->state, m->cpu, m->owner, m->target, m->owner_pid, m->tracer, m->holder[0],
	       m->holder[1], m->fd[0], m->fd[1]);
}

pid_t bp_child(void (*first)(void *arg), void *arg)
{
	int done[2];
	char byte;

	fflush(stdout);
	if (pipe(done) < 0)
		bp_die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		bp_die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (first)
			first(arg);
		fflush(stdout);
		if (write(done[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(done[1]);
	if (read(done[0], &byte, 1) != 1)
		bp_die("a child ended");
	close(done[0]);
	return pid;
}

/* An event of the calling task; what it is differs by kind. */
static void make_of_task(const char *name, struct perf_event_attr attr, int cpu)
{
	int fd = bp_open(&attr, 0, cpu, -1, 0);
	struct bp_made m = bp_made_of(name, "one", &attr, fd);

	m.cpu = cpu;
	bp_print(&m);
}

static void make_task(const char *name, int cpu)
{
	(void)cpu;
	make_of_task(name, bp_attr(), -1);
}

/* All that a thread can have. */
static void make_four(const char *name, int cpu)
{
	(void)cpu;
	for (int i = 0; i < 4; i++)
		make_of_task(name, bp_attr(), -1);
}

static void make_task_cpu(const char *name, int cpu)
{
	make_of_task(name, bp_attr(), cpu);
}

static void make_off(const char *name, int cpu)
{
	struct perf_event_attr attr = bp_attr();

	(void)cpu;
	attr.disabled = 1;
	make_of_task(name, attr, -1);
}

static struct perf_event_attr exec_attr(void)
{
	struct perf_event_attr attr = bp_attr();

	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = (uintptr_t)&bp_kind_find;
	attr.bp_len = sizeof(long);
	return attr;
}

static void make_exec(const char *name, int cpu)
{
	(void)cpu;
	make_of_task(name, exec_attr(), -1);
}

static void make_read_write(const char *name, int cpu)
{
	struct perf_event_attr attr = bp_attr();

	(void)cpu;
	attr.bp_type = HW_BREAKPOINT_RW;
	attr.bp_len = 4;
	make_of_task(name, attr, -1);
}

static void make_of_cpu(const char *name, struct perf_event_attr attr, int cpu)
{
	int fd = bp_open(&attr, -1, cpu, -1, 0);
	struct bp_made m = bp_made_of(name, "one", &attr, fd);

	m.cpu = cpu;
	m.target = 0;
	m.state = 1;
	bp_print(&m);
}

static void make_cpu(const char *name, int cpu)
{
	make_of_cpu(name, bp_attr(), cpu);
}

static void make_cpu_exec(const char *name, int cpu)
{
	make_of_cpu(name, exec_attr(), cpu);
}

/* That of the child or thread @tid, inherited from @parent. */
static void print_inherited(struct bp_made parent, int tid)
{
	snprintf(parent.role, sizeof(parent.role), "child");
	parent.id = 0;
	parent.owner = parent.owner_pid = 0;
	parent.target = tid;
	parent.holder[0] = parent.fd[0] = -1;
	bp_print(&parent);
}

static void make_fork_of(const char *name, struct perf_event_attr attr)
{
	attr.inherit = 1;
	int fd = bp_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct bp_made m = bp_made_of(name, "parent", &attr, fd);
	pid_t pid = bp_child(NULL, NULL);

	/* The child has the descriptor too. */
	m.holder[1] = pid;
	m.fd[1] = fd;
	bp_print(&m);
	print_inherited(m, pid);
}

static void make_fork(const char *name, int cpu)
{
	(void)cpu;
	make_fork_of(name, bp_attr());
}

/* As perf stat counts: a software event, inherited. */
static void make_stat(const char *name, int cpu)
{
	(void)cpu;
	make_fork_of(name, (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
						    .config = PERF_COUNT_SW_PAGE_FAULTS,
						    .exclude_kernel = 1});
}

struct job {
	pthread_barrier_t done;
	struct perf_event_attr attr;
	int tid, fd;
	struct bp_made made;
};

static void *sleeper(void *arg)
{
	struct job *j = arg;

	j->tid = gettid();
	pthread_barrier_wait(&j->done);
	for (;;)
		pause();
	return NULL;
}

static void make_thread(const char *name, int cpu)
{
	static struct job j;
	pthread_t thread;

	(void)cpu;
	j.attr = bp_attr();
	j.attr.inherit = 1;
	j.fd = bp_open(&j.attr, 0, -1, -1, 0);
	struct bp_made m = bp_made_of(name, "parent", &j.attr, j.fd);
	pthread_barrier_init(&j.done, NULL, 2);
	if (pthread_create(&thread, NULL, sleeper, &j))
		bp_die("pthread_create");
	pthread_barrier_wait(&j.done);
	bp_print(&m);
	print_inherited(m, j.tid);
}

static void *opener(void *arg)
{
	struct job *j = arg;

	j->attr = bp_attr();
	j->fd = bp_open(&j->attr, getpid(), -1, -1, 0);
	return NULL;
}

/* By a thread that has exited, for one that lives: it has no owner, the process holds it. */
static void make_orphan(const char *name, int cpu)
{
	struct job j = {0};
	pthread_t thread;

	(void)cpu;
	if (pthread_create(&thread, NULL, opener, &j) || pthread_join(thread, NULL))
		bp_die("pthread_create");
	struct bp_made m = bp_made_of(name, "one", &j.attr, j.fd);
	m.owner = m.owner_pid = 0;
	bp_print(&m);
}

static void *no_time(void *arg)
{
	struct job *j = arg;

	j->tid = gettid();
	pthread_barrier_wait(&j->done);
	pthread_barrier_wait(&j->done);
	return NULL;
}

/* For a thread that has exited: it stays as long as its descriptor does, and keeps its slot. */
static void make_exited(const char *name, int cpu)
{
	struct job j = {.attr = bp_attr()};
	pthread_t thread;

	(void)cpu;
	pthread_barrier_init(&j.done, NULL, 2);
	if (pthread_create(&thread, NULL, no_time, &j))
		bp_die("pthread_create");
	pthread_barrier_wait(&j.done);
	j.fd = bp_open(&j.attr, j.tid, -1, -1, 0);
	pthread_barrier_wait(&j.done);
	pthread_join(thread, NULL);
	struct bp_made m = bp_made_of(name, "one", &j.attr, j.fd);
	m.target = j.tid;
	m.state = -3;
	bp_print(&m);
}

static uint64_t tracepoint_id(const char *path)
{
	FILE *f = fopen(path, "re");
	uint64_t id = 0;

	if (!f || fscanf(f, "%" SCNu64, &id) != 1)
		bp_die(path);
	fclose(f);
	return id;
}

static void make_tracepoint(const char *name, int cpu)
{
	(void)cpu;
	make_of_task(
		name,
		(struct perf_event_attr){
			.type = PERF_TYPE_TRACEPOINT,
			.config = tracepoint_id("/sys/kernel/tracing/events/sched/sched_switch/id"),
		},
		-1);
}

static void make_group(const char *name, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.pinned = 1,
	};
	int leader = bp_open(&attr, 0, -1, -1, 0);
	struct bp_made m = bp_made_of(name, "leader", &attr, leader);

	(void)cpu;
	bp_print(&m);
	attr.pinned = 0;
	attr.config = PERF_COUNT_SW_CPU_MIGRATIONS;
	m = bp_made_of(name, "member", &attr, bp_open(&attr, 0, -1, leader, 0));
	bp_print(&m);
}

static void make_cgroup(const char *name, int cpu)
{
	static const char *const paths[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified",
					    "/sys/fs/cgroup"};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};

	for (int i = 0; i < 3; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/cgroup.procs", paths[i]);
		int dir = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || access(path, F_OK) < 0)
			continue;
		int fd = bp_open(&attr, dir, cpu, -1, PERF_FLAG_PID_CGROUP);
		struct bp_made m = bp_made_of(name, "one", &attr, fd);
		m.target = 0;
		m.cpu = cpu;
		m.state = 1;
		bp_print(&m);
		close(dir);
		return;
	}
	bp_die("no cgroups");
}

/* Opens and closes the same breakpoint of its own as fast as it can. */
static void make_churn(const char *name, int cpu)
{
	struct perf_event_attr attr = bp_attr();

	(void)cpu;
	attr.disabled = 1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			close(bp_open(&attr, 0, -1, -1, 0));
	}
	struct bp_made m = bp_made_of(name, "one", &attr, -1);
	m.owner = m.owner_pid = m.target = pid;
	bp_print(&m);
}

static void *nothing(void *arg)
{
	return arg;
}

/* Starts and joins threads as fast as it can, each of which inherits its two breakpoints. */
static void make_spawn(const char *name, int cpu)
{
	struct perf_event_attr attr = bp_attr();
	int ready[2];
	char byte;

	(void)cpu;
	attr.inherit = 1;
	fflush(stdout);
	if (pipe(ready) < 0)
		bp_die("pipe");
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 2; i++)
			bp_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		while (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
		_exit(1);
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		bp_die("a child ended");
	close(ready[0]);
	struct bp_made m = bp_made_of(name, "one", &attr, -1);
	m.owner = m.owner_pid = m.target = pid;
	bp_print(&m);
}

static const struct bp_kind kinds[] = {
	{"cpu", make_cpu},	     {"cpu-exec", make_cpu_exec},
	{"task", make_task},	     {"four", make_four},
	{"task-cpu", make_task_cpu}, {"off", make_off},
	{"exec", make_exec},	     {"read-write", make_read_write},
	{"fork", make_fork},	     {"thread", make_thread},
	{"orphan", make_orphan},     {"exited", make_exited},
	{"passed", bp_make_passed},  {"shared", bp_make_shared},
	{"ptrace", bp_make_ptrace},  {"ptrace-off", bp_make_ptrace_off},
	{"stat", make_stat},	     {"tracepoint", make_tracepoint},
	{"group", make_group},	     {"cgroup", make_cgroup},
	{"churn", make_churn},	     {"spawn", make_spawn},
};

const struct bp_kind *bp_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}
