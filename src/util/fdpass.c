// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors are passed with SCM_RIGHTS, see unix(7): they follow the header of a control message,
 * aligned for that header. The kernel installs them in the receiver for any sender, which
 * chooses their number.
 */
#include "kontend/fdpass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDPASS_MOST * sizeof(int))];
};

int fdpass_send(int to, const void *data, size_t len, const int *fds, size_t n, int flags)
{
	union control control = {0};
	struct iovec io = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
	ssize_t r;

	if (n > FDPASS_MOST)
		return -EINVAL;
	if (n) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	do {
		r = sendmsg(to, &h, flags | MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

static void take_fds(struct msghdr *h, int *fds)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (n < FDPASS_MOST)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
}

long fdpass_receive(int from, void *ret, size_t size, int fds[FDPASS_MOST], int flags)
{
	union control control;
	struct iovec io = {.iov_base = ret, .iov_len = size};
	struct msghdr h = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t n;

	for (size_t i = 0; i < FDPASS_MOST; i++)
		fds[i] = -1;
	do {
		n = recvmsg(from, &h, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	take_fds(&h, fds);
	return (long)n;
}
