// SPDX-License-Identifier: GPL-2.0-only
/* Starts an observer, and switches what it observes through the descriptors of its events. */
#include "observed.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char an_event[] = "[perf_event]", a_map[] = "bpf-map";

enum { LOOKS = 200, REST_MS = 1500, LEARN_MS = 5 };

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Calls @f for each descriptor whose target contains @what; returns their number. */
static size_t each_fd(pid_t pid, const char *what, void (*f)(void *ctx, int fd), void *ctx)
{
	char path[64], target[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));) {
		ssize_t len = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		if (!strstr(target, what))
			continue;
		n++;
		if (f)
			f(ctx, atoi(e->d_name));
	}
	if (d)
		closedir(d);
	return n;
}

static bool has_ended(struct observed *o)
{
	if (waitpid(o->pid, NULL, WNOHANG) != o->pid)
		return false;
	o->pid = 0;
	return true;
}

bool observed_start(struct observed *o, const char *command)
{
	*o = (struct observed){.pid = fork()};
	if (o->pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; o->pid > 0 && i < LOOKS; i++) {
		sleep_ms(50);
		if (has_ended(o))
			return false;
		if (each_fd(o->pid, an_event, NULL, NULL)) {
			sleep_ms(REST_MS);
			return !has_ended(o);
		}
	}
	return false;
}

struct grab {
	struct observed *o;
	int pidfd;
	bool failed;
};

static int copy_of(const struct grab *g, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, g->pidfd, fd, 0);
}

static void grab_event(void *ctx, int fd)
{
	struct grab *g = ctx;
	int copy = copy_of(g, fd);

	if (copy >= 0 && g->o->n < OBSERVED_FDS)
		g->o->fds[g->o->n++] = copy;
}

static void grab_map(void *ctx, int fd)
{
	struct grab *g = ctx;
	int copy = copy_of(g, fd);

	if (copy < 0 || !observed_grab_rings(g->o, copy))
		g->failed = true;
	if (copy >= 0)
		close(copy);
}

bool observed_grab(struct observed *o)
{
	struct grab g = {.o = o, .pidfd = (int)syscall(SYS_pidfd_open, o->pid, 0)};

	if (g.pidfd < 0)
		return false;
	each_fd(o->pid, an_event, grab_event, &g);
	each_fd(o->pid, a_map, grab_map, &g);
	close(g.pidfd);
	return o->n != 0 && !g.failed;
}

static uint64_t count_of(int fd)
{
	uint64_t value[8] = {0};

	return read(fd, value, sizeof(value)) > 0 ? value[0] : 0;
}

static void *learn(void *arg)
{
	struct observed *o = arg;
	uint64_t before[OBSERVED_FDS], now;

	for (size_t i = 0; i < o->n; i++)
		before[i] = count_of(o->fds[i]);
	while (!atomic_load(&o->learnt)) {
		sleep_ms(LEARN_MS);
		for (size_t i = 0; i < o->n; i++) {
			now = count_of(o->fds[i]);
			o->moved[i] += now != before[i];
			before[i] = now;
		}
		o->looks++;
	}
	return NULL;
}

void observed_learn(struct observed *o)
{
	atomic_store(&o->learnt, false);
	if (pthread_create(&o->thread, NULL, learn, o))
		abort();
}

/* A burst is a tenth of the time; what counts otherwise does so in most moments of a storm. */
size_t observed_learnt(struct observed *o)
{
	size_t n = 0;

	atomic_store(&o->learnt, true);
	pthread_join(o->thread, NULL);
	for (size_t i = 0; i < o->n; i++) {
		o->own[i] = o->moved[i] && o->moved[i] < o->looks / 3;
		n += o->own[i];
	}
	return n;
}

static void stop(const struct observed *o)
{
	kill(o->pid, SIGSTOP);
	/* Not before it is, or it might switch one on that was just switched off. */
	waitpid(o->pid, NULL, WUNTRACED);
	for (size_t i = 0; i < o->n; i++)
		ioctl(o->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	observed_switch_rings(o, false);
}

void observed_switch(const struct observed *o, bool on)
{
	if (!on) {
		stop(o);
		return;
	}
	for (size_t i = 0; i < o->n; i++)
		if (!o->own[i])
			ioctl(o->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	observed_switch_rings(o, true);
	kill(o->pid, SIGCONT);
}

uint64_t observed_cpu_ns(const struct observed *o)
{
	struct timespec t = {0};
	clockid_t clock;

	if (clock_getcpuclockid(o->pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t observed_events(const struct observed *o)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < o->n; i++)
		sum += count_of(o->fds[i]);
	return sum;
}

void observed_stop(struct observed *o)
{
	for (size_t i = 0; i < o->n; i++)
		close(o->fds[i]);
	o->n = 0;
	observed_drop_rings(o);
	if (o->pid <= 0)
		return;
	kill(o->pid, SIGCONT);
	kill(o->pid, SIGINT);
	waitpid(o->pid, NULL, 0);
	o->pid = 0;
}
