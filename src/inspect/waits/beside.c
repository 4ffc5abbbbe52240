// SPDX-License-Identifier: GPL-2.0-only
#include "beside.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NICE = -10 };

/* Threads that sleep as long as each other wake together: an idle CPU wakes up once for all. */
static const unsigned long SLACK_NS = 5000000;

int beside_init(struct beside *b, struct error *err)
{
	b->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return b->wake_fd < 0 ? error_errno(err, -errno, "Cannot make an eventfd") : 0;
}

int beside_start(struct beside *b, void *(*run)(void *arg), void *arg, const char *what,
		 struct error *err)
{
	sigset_t all, before;

	if (b->started)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = pthread_create(&b->thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	b->started = code == 0;
	return code ? error_errno(err, -code, "Cannot start %s", what) : 0;
}

void beside_begin(void)
{
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
}

void beside_sleep(struct beside *b, int ms)
{
	struct pollfd p = {.fd = b->wake_fd, .events = POLLIN};

	poll(&p, 1, ms);
}

bool beside_goes_on(struct beside *b)
{
	return !atomic_load(&b->stopping);
}

void beside_stop(struct beside *b)
{
	const uint64_t one = 1;

	atomic_store(&b->stopping, true);
	/* It can only fail when it is readable already. */
	if (write(b->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void beside_deinit(struct beside *b)
{
	beside_stop(b);
	if (b->started)
		pthread_join(b->thread, NULL);
	if (b->wake_fd >= 0)
		close(b->wake_fd);
}
