// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams with lines "NAME=VALUE" to the address in NOTIFY_SOCKET: a path, or with a leading '@'
 * a name in the abstract namespace. The address is kept and the socket not connected, as the
 * manager may create its socket again while kontend runs. Messages about state changes may block
 * for a second at most; status messages never block, since another one follows.
 */
#include "kontend/notify.h"
#include "kontend/journal.h"
#include "kontend/number.h"
#include "kontend/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { MESSAGE = 512 };

static int set_address(struct notify *n, const char *name, struct error *err)
{
	size_t len = strlen(name);

	if (*name != '/' && *name != '@')
		return error_set(err, -EINVAL,
				 "NOTIFY_SOCKET is '%s': give the path of a socket, or '@' and its "
				 "abstract name",
				 name);
	if (len < 2 || len >= sizeof(n->to.sun_path))
		return error_set(err, -EINVAL, "NOTIFY_SOCKET is '%s': no socket has such a name",
				 name);
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, name, len + 1);
	if (*name == '@')
		n->to.sun_path[0] = '\0';
	/* A path includes its zero byte; an abstract name ends with its last character. */
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*name == '/'));
	return 0;
}

/* WATCHDOG_PID names the process to send keep-alive messages; without it, any process does. */
static int set_watchdog(struct notify *n, struct error *err)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t us, id;

	if (!usec)
		return 0;
	if (pid && number_parse(pid, 0, UINT64_MAX, &id) < 0)
		return error_set(err, -EINVAL, "WATCHDOG_PID is '%s': give a process number", pid);
	if (pid && id != (uint64_t)getpid())
		return 0;
	if (number_parse(usec, 1, UINT64_MAX / 1000, &us) < 0)
		return error_set(err, -EINVAL,
				 "WATCHDOG_USEC is '%s': give a number of microseconds", usec);
	n->watchdog_ns = us * 1000;
	return 0;
}

static int open_socket(struct notify *n, struct error *err)
{
	const struct timeval most = {.tv_sec = 1};

	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (n->fd < 0)
		return error_errno(err, -errno, "Cannot make a socket for the service manager");
	setsockopt(n->fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	return 0;
}

int notify_open(struct notify *n, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int r = 0;

	*n = (struct notify){.fd = -1};
	if (name && *name) {
		r = set_address(n, name, err);
		r = r ? r : set_watchdog(n, err);
		r = r ? r : open_socket(n, err);
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return r;
}

static int send_text(struct notify *n, const char *text, int flags)
{
	ssize_t r;

	if (n->fd < 0)
		return 0;
	do
		r = sendto(n->fd, text, strlen(text), flags | MSG_NOSIGNAL,
			   (const struct sockaddr *)&n->to, n->to_len);
	while (r < 0 && errno == EINTR);
	if (r >= 0)
		return 0;
	n->failed++;
	return -errno;
}

int notify_ready(struct notify *n)
{
	return send_text(n, "READY=1", 0);
}

int notify_reloading(struct notify *n, uint64_t now_ns)
{
	char text[MESSAGE];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_ns / 1000);
	return send_text(n, text, 0);
}

int notify_stopping(struct notify *n)
{
	return send_text(n, "STOPPING=1", 0);
}

/*
 * Removes line ends, which names of locks and files may contain: they would begin another message.
 */
int notify_status(struct notify *n, const char *text)
{
	char clean[MESSAGE - sizeof("STATUS=")], line[MESSAGE];

	snprintf(line, sizeof(line), "STATUS=%s", text_clean(clean, sizeof(clean), text));
	return send_text(n, line, MSG_DONTWAIT);
}

int notify_alive(struct notify *n, uint64_t now_ns)
{
	int r;

	if (!n->watchdog_ns || now_ns < notify_next(n))
		return 0;
	r = send_text(n, "WATCHDOG=1", MSG_DONTWAIT);
	if (r == 0)
		n->alive_ns = now_ns;
	return r;
}

uint64_t notify_next(const struct notify *n)
{
	return n->watchdog_ns ? n->alive_ns + n->watchdog_ns / 2 : UINT64_MAX;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	*n = (struct notify){.fd = -1};
}

/*
 * The service manager passes the device and inode of the stream that it opened. If standard error
 * was redirected since, the variable stays unchanged: so both are compared each time.
 */

bool journal_has(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[48];
	struct stat st;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	snprintf(own, sizeof(own), "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev,
		 (uint64_t)st.st_ino);
	return strcmp(own, stream) == 0;
}
