// SPDX-License-Identifier: GPL-2.0-only
#include "internal.h"
#include "kontend/ending.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NICE = -10 };

/*
 * With the same slack, threads that sleep equally long wake together: an idle CPU wakes up once for
 * all.
 */
static const unsigned long SLACK_NS = 5000000;

int bpf_thread_init(struct bpf_thread *b, struct error *err)
{
	b->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return b->wake_fd < 0 ? error_errno(err, -errno, "Cannot make an eventfd") : 0;
}

int bpf_thread_start(struct bpf_thread *b, void *(*run)(void *arg), void *arg, const char *what,
		     struct error *err)
{
	if (b->started)
		return 0;
	int code = ending_thread(&b->thread, run, arg);
	b->started = code == 0;
	return code < 0 ? error_errno(err, code, "Cannot start %s", what) : 0;
}

void bpf_thread_begin(void)
{
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
}

void bpf_thread_sleep(struct bpf_thread *b, int ms)
{
	struct pollfd p = {.fd = b->wake_fd, .events = POLLIN};

	poll(&p, 1, ms);
}

bool bpf_thread_goes_on(struct bpf_thread *b)
{
	return !atomic_load(&b->stopping);
}

void bpf_thread_stop(struct bpf_thread *b)
{
	const uint64_t one = 1;

	atomic_store(&b->stopping, true);
	/* It fails only if it is readable already. */
	if (write(b->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void bpf_thread_deinit(struct bpf_thread *b)
{
	bpf_thread_stop(b);
	if (b->started)
		pthread_join(b->thread, NULL);
	if (b->wake_fd >= 0)
		close(b->wake_fd);
}
