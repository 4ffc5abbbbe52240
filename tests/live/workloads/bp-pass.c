// SPDX-License-Identifier: GPL-2.0-only
/* Descriptors of perf events that go from process to process. */
#include "bp-kinds.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket, int fd)
{
	union control c = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec io = {(char[]){0}, 1};
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};

	memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	if (sendmsg(socket, &msg, 0) != 1)
		bp_die("sendmsg");
}

static int receive_fd(int socket)
{
	union control c;
	char byte;
	struct iovec io = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	int fd;

	if (recvmsg(socket, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		bp_die("recvmsg");
	memcpy(&fd, CMSG_DATA(&c.head), sizeof(fd));
	return fd;
}

struct parcel {
	int sockets[2];
	bool keep;
};

/* The sender: opens for itself, hands over, and keeps its descriptor or not. */
static void send_parcel(void *arg)
{
	const struct parcel *p = arg;
	struct perf_event_attr attr = bp_attr();
	int fd = bp_open(&attr, 0, -1, -1, 0);

	send_fd(p->sockets[1], fd);
	if (!p->keep)
		close(fd);
	else if (write(p->sockets[1], &fd, sizeof(fd)) != sizeof(fd))
		bp_die("write");
}

static void pass(const char *name, bool keep)
{
	struct parcel p = {.keep = keep};
	struct perf_event_attr attr = bp_attr();
	int theirs = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p.sockets) < 0)
		bp_die("socketpair");
	pid_t pid = bp_child(send_parcel, &p);
	int fd = receive_fd(p.sockets[0]);
	if (keep && read(p.sockets[0], &theirs, sizeof(theirs)) != sizeof(theirs))
		bp_die("read");
	struct bp_made m = bp_made_of(name, "one", &attr, fd);
	m.owner = m.owner_pid = m.target = pid;
	m.holder[1] = keep ? pid : -1;
	m.fd[1] = theirs;
	bp_print(&m);
}

void bp_make_passed(const char *name, int cpu)
{
	(void)cpu;
	pass(name, false);
}

void bp_make_shared(const char *name, int cpu)
{
	(void)cpu;
	pass(name, true);
}
