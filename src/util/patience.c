// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread for each piece of work. The caller looks at it in intervals: one that is in state D
 * and has not been switched out since the last look sleeps where it slept then. On a loaded machine
 * threads wait long for a CPU, but not in that state: so the load does not cut the work short.
 *
 * Both share a struct patience. It belongs to the caller, until he gives up; from then on to the
 * thread, as `arg` does.
 */
#include "kontend/patience.h"
#include "kontend/ending.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 50000000, SECOND_NS = 1000000000, STATUS_SIZE = 4096 };

struct patience {
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	void (*work)(void *arg), (*drop)(void *arg);
	void *arg;
	int status; /* of the thread, in /proc; negative: not known (yet) */
	bool is_done, is_left;
};

static void release(struct patience *p)
{
	if (p->status >= 0)
		close(p->status);
	pthread_cond_destroy(&p->ended);
	pthread_mutex_destroy(&p->mutex);
	mem_free(p);
}

static void *run(void *arg)
{
	struct patience *p = arg;
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);

	pthread_mutex_lock(&p->mutex);
	p->status = fd;
	pthread_mutex_unlock(&p->mutex);
	p->work(p->arg);
	pthread_mutex_lock(&p->mutex);
	p->is_done = true;
	bool is_left = p->is_left;
	pthread_cond_signal(&p->ended);
	pthread_mutex_unlock(&p->mutex);
	if (is_left) {
		p->drop(p->arg);
		release(p);
	}
	return NULL;
}

/* How often the thread has slept, if it sleeps in state D now. */
static bool is_in_d(const struct patience *p, unsigned long *ret_sleeps)
{
	static const char state[] = "\nState:\tD", sleeps[] = "\nvoluntary_ctxt_switches:";
	char text[STATUS_SIZE];
	ssize_t n = p->status < 0 ? -1 : pread(p->status, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *at = strstr(text, sleeps);
	if (!at || !strstr(text, state))
		return false;
	*ret_sleeps = strtoul(at + sizeof(sleeps) - 1, NULL, 10);
	return true;
}

static void await(struct patience *p)
{
	unsigned long sleeps = 0, before = 0;
	bool was_in_d = false;
	struct timespec until;

	while (!p->is_done && !p->is_left) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / SECOND_NS;
		until.tv_nsec %= SECOND_NS;
		if (pthread_cond_timedwait(&p->ended, &p->mutex, &until) != ETIMEDOUT)
			continue;
		bool in_d = is_in_d(p, &sleeps);
		p->is_left = !p->is_done && in_d && was_in_d && sleeps == before;
		was_in_d = in_d;
		before = sleeps;
	}
}

static int start(struct patience *p, pthread_t *ret)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&p->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->ended, &attr);
	pthread_condattr_destroy(&attr);
	return ending_thread(ret, run, p);
}

int patience_run(void (*work)(void *arg), void (*drop)(void *arg), void *arg)
{
	struct patience *p = mem_calloc(1, sizeof(*p));
	pthread_t thread;

	if (!p)
		return -ENOMEM;
	p->work = work;
	p->drop = drop;
	p->arg = arg;
	p->status = -1;
	int code = start(p, &thread);
	if (code < 0) {
		release(p);
		return code;
	}
	pthread_mutex_lock(&p->mutex);
	await(p);
	bool is_done = p->is_done;
	pthread_mutex_unlock(&p->mutex);
	if (!is_done) {
		pthread_detach(thread);
		return -ETIMEDOUT;
	}
	pthread_join(thread, NULL);
	release(p);
	return 0;
}
