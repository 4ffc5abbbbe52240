// SPDX-License-Identifier: GPL-2.0-only
/*
 * A terminal may take nothing for ever: Ctrl-S, a frozen connection, a window that nobody reads. A
 * write to it does not end then, curses repeats one that a signal has interrupted, and the loop
 * that looks at signals and keys does not run. So a thread looks at frames that last, and does
 * nothing but that. The display puts the terminal back and takes it away from the write before this
 * is interrupted, by SIGURG, which nobody else minds. Keys other than the one that quits are lost
 * while a frame is not taken.
 */
#include "frozen.h"
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { GRACE_MS = 200, CTRL_C = 3 };

static void interrupt(int sig)
{
	(void)sig;
}

static bool is_ready(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0;
}

static bool asks_to_quit(struct frozen *f)
{
	int fd = f->display->ops->fd(f->display);
	char keys[64];
	ssize_t n = fd >= 0 && is_ready(fd, 0) ? read(fd, keys, sizeof(keys)) : 0;

	if (n <= 0 || (!memchr(keys, 'q', (size_t)n) && !memchr(keys, CTRL_C, (size_t)n)))
		return false;
	atomic_store(&f->quit, true);
	return true;
}

/* As long as the frame lasts: until it is to end, then until it has. */
static void see_through(struct frozen *f, unsigned frame)
{
	bool abandoned = false;

	while (atomic_load(&f->frame) == frame && !is_ready(f->stop_fd, GRACE_MS)) {
		if (atomic_load(&f->frame) != frame)
			return;
		if (!abandoned && (signals_ending() || asks_to_quit(f))) {
			f->display->ops->abandon(f->display);
			abandoned = true;
		}
		if (abandoned)
			pthread_kill(f->drawer, SIGURG);
	}
}

static void *watch(void *arg)
{
	struct frozen *f = arg;
	struct pollfd p[2] = {{.fd = f->stop_fd, .events = POLLIN},
			      {.fd = f->frame_fd, .events = POLLIN}};
	uint64_t n;

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (p[0].revents)
			return NULL;
		if (p[1].revents && read(f->frame_fd, &n, sizeof(n)) < 0)
			return NULL;
		unsigned frame = atomic_load(&f->frame);
		if (frame & 1)
			see_through(f, frame);
	}
}

static void close_both(struct frozen *f)
{
	close(f->stop_fd);
	close(f->frame_fd);
}

int frozen_start(struct frozen *f, struct display *d, struct error *err)
{
	struct sigaction sa = {.sa_handler = interrupt};

	*f = (struct frozen){.display = d, .drawer = pthread_self()};
	if (!d->ops->abandon)
		return 0;
	f->stop_fd = eventfd(0, EFD_CLOEXEC);
	f->frame_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->stop_fd < 0 || f->frame_fd < 0) {
		int code = -errno;
		close_both(f);
		return error_errno(err, code, "Cannot make a descriptor to watch the terminal");
	}
	sigemptyset(&sa.sa_mask);
	sigaction(SIGURG, &sa, NULL);
	int r = pthread_create(&f->watcher, NULL, watch, f);
	if (r) {
		close_both(f);
		return error_errno(err, -r, "Cannot start a thread to watch the terminal");
	}
	f->runs = true;
	return 0;
}

void frozen_begin(struct frozen *f)
{
	uint64_t one = 1;

	atomic_fetch_add(&f->frame, 1);
	/* Full only if the watcher has to look anyway. */
	if (f->runs && write(f->frame_fd, &one, sizeof(one)) < 0)
		return;
}

void frozen_end(struct frozen *f)
{
	atomic_fetch_add(&f->frame, 1);
}

void frozen_stop(struct frozen *f)
{
	uint64_t one = 1;

	if (!f->runs)
		return;
	while (write(f->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(f->watcher, NULL);
	close_both(f);
	f->runs = false;
}
