// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long holds that cost no CPU. A page registered with userfaultfd is missing; when the kernel
 * copies from or to it with a lock held (pipe->mutex, i_rwsem), it sleeps with the lock until the
 * page is given. One thread polls the descriptors, notes when each sleeper is due and gives its
 * page then; the holder drops the page again afterwards. It needs CAP_SYS_PTRACE or
 * vm.unprivileged_userfaultfd; without, the demo has short waits only.
 */
#include "demo-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int demo_slow_init(struct demo_slow *s)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	s->release_ns = 0;
	s->page = NULL;
	s->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0)
		return -errno;
	s->page = mmap(NULL, DEMO_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->page == MAP_FAILED)
		s->page = NULL;
	reg.range.start = (uintptr_t)s->page;
	reg.range.len = DEMO_PAGE;
	if (!s->page || ioctl(s->fd, UFFDIO_API, &api) || ioctl(s->fd, UFFDIO_REGISTER, &reg)) {
		demo_slow_deinit(s);
		return -ENOTSUP;
	}
	return 0;
}

void demo_slow_deinit(struct demo_slow *s)
{
	if (s->page)
		munmap(s->page, DEMO_PAGE);
	if (s->fd >= 0)
		close(s->fd);
	s->page = NULL;
	s->fd = -1;
}

static void slow_give(struct demo_slow *s)
{
	struct uffdio_zeropage z = {.range = {(uintptr_t)s->page, DEMO_PAGE}};

	/* EAGAIN while the address space changes: the next turn tries again. */
	if (!ioctl(s->fd, UFFDIO_ZEROPAGE, &z) || errno != EAGAIN)
		s->release_ns = 0;
}

/* 40 ms to 1 s, from the low bits of the clock: short ones are more frequent. */
static uint64_t slow_length_ns(uint64_t now)
{
	uint64_t x = now / 1000 % 1000;

	return 40000000u + x * x * x / 1000 * 960;
}

static void slow_turn(struct demo *d, struct demo_slow *s, short revents)
{
	struct uffd_msg msg;
	uint64_t now = demo_now();

	if (revents & POLLIN && read(s->fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg))
		s->release_ns = now + slow_length_ns(now);
	if (s->release_ns && (now >= s->release_ns || d->stop))
		slow_give(s);
}

void *demo_slow_main(void *arg)
{
	struct demo *d = arg;
	struct pollfd fds[DEMO_KINDS];

	/* Continues after the stop while a thread can still sleep: a sleeping holder cannot be
	 * joined, and on a busy machine one may fall asleep long after it. */
	while (!d->joined) {
		for (unsigned k = 0; k < DEMO_KINDS; k++)
			fds[k] = (struct pollfd){.fd = d->slow[k].fd, .events = POLLIN};
		poll(fds, DEMO_KINDS, 10);
		for (unsigned k = 0; k < DEMO_KINDS; k++) {
			if (d->slow[k].fd >= 0)
				slow_turn(d, &d->slow[k], fds[k].revents);
		}
	}
	return NULL;
}
