// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process whose threads sleep for a mutex of its own, in a futex with a timeout, and for locks of
 * a file: a snapshot counts each kind, of all, of measured processes, and of CPUs.
 */
#include "kontend/snapshot-locks.h"
#include "kontend/target.h"
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MUTEX = 6, TIMED = 3, FLOCK = 2, LOOKS = 500, LOOK_US = 20000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static const char *file;
static int failures;

static void *wait_mutex(void *arg)
{
	pthread_mutex_lock(&mutex);
	return arg;
}

static void *wait_timed(void *arg)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 600;
	while (sem_timedwait(&never, &until) < 0 && errno == EINTR)
		;
	return arg;
}

static void *wait_flock(void *arg)
{
	flock(open(file, O_RDWR | O_CLOEXEC), LOCK_EX);
	return arg;
}

static void *wait_fcntl(void *arg)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	fcntl(open(file, O_RDWR | O_CLOEXEC), F_OFD_SETLKW, &all);
	return arg;
}

static void begin(void *(*run)(void *), int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		if (pthread_create(&t, NULL, run, NULL))
			_exit(1);
}

static _Noreturn void be_asleep(void)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	cpu_set_t first;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sleepers-test");
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || fcntl(fd, F_OFD_SETLKW, &all) < 0)
		_exit(1);
	pthread_mutex_lock(&mutex);
	sem_init(&never, 0, 0);
	begin(wait_mutex, MUTEX);
	begin(wait_timed, TIMED);
	begin(wait_flock, FLOCK);
	begin(wait_fcntl, 1);
	for (;;)
		pause();
}

struct counts {
	uint32_t futex, idle, file_locks, others;
};

static struct counts count(const struct locksnap *s, pid_t pid)
{
	struct counts c = {0};

	for (size_t i = 0; i < s->n_sleepers; i++) {
		const struct locksnap_sleepers *r = &s->sleepers[i];
		if (r->pid != pid) {
			c.others += r->tasks;
			continue;
		}
		live_check(&failures, !strcmp(locksnap_text(s, r->comm), "sleepers-test"),
			   "its name is '%s'", locksnap_text(s, r->comm));
		if (r->kind == LOCKSNAP_FUTEX) {
			c.futex += r->tasks - r->idle;
			c.idle += r->idle;
		}
		c.file_locks += r->kind == LOCKSNAP_FILE_LOCK ? r->tasks : 0;
	}
	return c;
}

static bool is_all(const struct counts *c)
{
	return c->futex == MUTEX && c->idle == TIMED && c->file_locks == FLOCK + 1;
}

/* Until all are asleep, or @looks times. */
static struct counts look_by(struct snapshot_locks *w, pid_t pid, int looks)
{
	struct locksnap s = {0};
	struct error err = {0};
	struct counts c = {0};

	for (int i = 0; i < looks && !is_all(&c); i++) {
		if (i)
			usleep(LOOK_US);
		if (!live_check(&failures, snapshot_locks_take(w, NULL, 0, &s, &err) == 0,
				"no look: %s", err.text))
			break;
		live_check(&failures, s.head.counts_sleepers, "not counted: %s",
			   locksnap_text(&s, s.head.no_sleepers));
		c = count(&s, pid);
	}
	locksnap_deinit(&s);
	return c;
}

static struct counts count_sleepers(const struct target *t, pid_t pid, int looks)
{
	struct snapshot_locks *w;
	struct error err = {0};
	struct counts c = {0};

	if (!live_check(&failures, snapshot_locks_new(&w, false, NULL, &err) == 0, "%s", err.text))
		return c;
	snapshot_locks_of(w, t);
	c = look_by(w, pid, looks);
	snapshot_locks_free(w);
	return c;
}

static void check_targets(pid_t pid)
{
	uint32_t cpu = 0;
	struct target all = {0}, one = {.kind = TARGET_PIDS, .ids = &pid, .n_ids = 1},
		      on_cpu = {.cpus = &cpu, .n_cpus = 1};
	struct counts c = count_sleepers(&all, pid, LOOKS);

	live_check(&failures, is_all(&c), "of all: futex %u, idle %u, file locks %u", c.futex,
		   c.idle, c.file_locks);
	c = count_sleepers(&one, pid, 1);
	live_check(&failures, is_all(&c) && !c.others, "of one: futex %u, idle %u, others %u",
		   c.futex, c.idle, c.others);
	pid_t own = getpid();
	one.ids = &own; /* a child that was there before is not measured */
	c = count_sleepers(&one, pid, 1);
	live_check(&failures, !c.futex && !c.idle, "of the parent: futex %u", c.futex);
	pid_t nobody = 1 << 22; /* above any that a kernel gives */
	one.ids = &nobody;
	c = count_sleepers(&one, pid, 1);
	live_check(&failures, !c.futex && !c.others, "without sleepers: futex %u, others %u",
		   c.futex, c.others);
	c = count_sleepers(&on_cpu, pid, 1);
	live_check(&failures, is_all(&c), "on CPU 0: futex %u", c.futex);
	cpu = 1;
	c = count_sleepers(&on_cpu, pid, 1);
	live_check(&failures, !c.futex && !c.file_locks, "on CPU 1: futex %u", c.futex);
}

/* Children that begin while their parent is measured are measured, too. */
static void check_child(struct snapshot_locks *w, pid_t pid)
{
	struct counts c = look_by(w, pid, LOOKS);

	live_check(&failures, is_all(&c), "of a new child: futex %u, idle %u", c.futex, c.idle);
}

int main(void)
{
	struct snapshot_locks *w;
	struct error err = {0};
	char path[] = "/tmp/kontend-sleepers-XXXXXX";
	pid_t own = getpid();
	const struct target t = {.kind = TARGET_PIDS, .ids = &own, .n_ids = 1};

	live_need_root();
	if (snapshot_locks_new(&w, true, NULL, &err) < 0) {
		printf("%s\n", err.text);
		return LIVE_SKIP;
	}
	int fd = mkstemp(path);
	if (fd < 0)
		return LIVE_SKIP;
	close(fd);
	file = path;
	snapshot_locks_of(w, &t);
	look_by(w, own, 1);
	pid_t pid = fork();
	if (pid == 0)
		be_asleep();
	check_child(w, pid);
	check_targets(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	snapshot_locks_free(w);
	return failures != 0;
}
