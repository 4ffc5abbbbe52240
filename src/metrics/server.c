// SPDX-License-Identifier: GPL-2.0-only
/*
 * By libmicrohttpd, with one thread of its own for all connections. A connection has one request:
 * so there is a time after which it is over, however slowly a client sends or reads, and a few of
 * them cannot keep others out for long. What is sent is one text for all, which nobody copies.
 *
 * The lock is held for a moment only: to take the text, or to put another one in its place. The
 * thread that measures asks once a second whether a text is wanted, and publishes it; it never
 * waits for a client. The server's thread waits for the text that it has asked for, and others wait
 * for that; they get the same one.
 *
 * The library is loaded when it is used, as it brings half a dozen others with it.
 */
#include "server.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/rights.h"
#include "sym/library.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SONAME "libmicrohttpd.so.12"

enum { MOST = 16, IDLE_S = 5, MEMORY = 16 << 10, BACKLOG = 16 };

/* A text that is younger is as good as a new one. */
static const uint64_t FRESH_NS = 900000000;
/* So long is a new one waited for; what is older than the other is no answer any more. */
static const uint64_t PATIENCE_NS = 3000000000, STALE_NS = 15000000000;
static const uint64_t CONNECTION_NS = 15000000000;

struct library {
	__typeof__(MHD_start_daemon) *start;
	__typeof__(MHD_stop_daemon) *stop;
	__typeof__(MHD_queue_response) *queue;
	__typeof__(MHD_add_response_header) *header;
	__typeof__(MHD_create_response_from_buffer_with_free_callback_cls) *response_of;
	__typeof__(MHD_destroy_response) *forget;
	__typeof__(MHD_get_connection_info) *info;
};

struct connection {
	struct MHD_Connection *of; /* NULL: free */
	int fd;
	uint64_t since_ns;
};

struct metrics_server {
	struct library lib;
	int fd; /* it listens; -1: the daemon has it */
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	pthread_cond_t told;
	/* Under the lock: */
	struct MHD_Response *response; /* has the text; NULL: none yet */
	uint64_t made_ns;
	bool wanted, stopping;
	struct connection connections[MOST];
	bool is_bare; /* of the server's thread: it has given up its capabilities */
};

static bool find_all(void *so, struct library *ret)
{
	return LIBRARY_FIND(so, MHD_start_daemon, &ret->start) &&
	       LIBRARY_FIND(so, MHD_stop_daemon, &ret->stop) &&
	       LIBRARY_FIND(so, MHD_queue_response, &ret->queue) &&
	       LIBRARY_FIND(so, MHD_add_response_header, &ret->header) &&
	       LIBRARY_FIND(so, MHD_create_response_from_buffer_with_free_callback_cls,
			    &ret->response_of) &&
	       LIBRARY_FIND(so, MHD_destroy_response, &ret->forget) &&
	       LIBRARY_FIND(so, MHD_get_connection_info, &ret->info);
}

/* It stays in memory: its thread may be the last to know that it is over. */
static int load(struct library *ret, struct error *err)
{
	void *so;
	bool is_whole = library_open(SONAME, &so) && find_all(so, ret);

	library_close(so);
	if (is_whole)
		return 0;
	return error_set(err, -ENOTSUP,
			 "%s, by which metrics are served, cannot be loaded: install the package "
			 "of libmicrohttpd that has it",
			 SONAME);
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t to_socket(const struct metrics_address *a, union address *ret)
{
	*ret = (union address){0};
	if (a->is_v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(a->port);
		memcpy(&ret->v6.sin6_addr, a->bytes, 16);
		return sizeof(ret->v6);
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(a->port);
	memcpy(&ret->v4.sin_addr, a->bytes, 4);
	return sizeof(ret->v4);
}

static int open_port(int fd, struct metrics_address *a)
{
	union address to;
	socklen_t len = to_socket(a, &to);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &to.any, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, &to.any, &len) < 0)
		return -errno;
	a->port = ntohs(a->is_v6 ? to.v6.sin6_port : to.v4.sin_port);
	return 0;
}

static int cannot(const struct metrics_address *a, int code, struct error *err)
{
	char at[METRICS_ADDRESS_TEXT];

	metrics_address_text(a, at);
	if (code == -EADDRINUSE)
		return error_set(err, code,
				 "Cannot serve metrics at %s: somebody else listens there; give "
				 "--metrics another port, or end that one ('ss -ltnp' says who)",
				 at);
	return error_errno(err, code, "Cannot serve metrics at %s", at);
}

static int listen_at(struct metrics_server *s, struct metrics_address *a, struct error *err)
{
	s->fd = socket(a->is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);
	int code = s->fd < 0 ? -errno : open_port(s->fd, a);

	return code < 0 ? cannot(a, code, err) : 0;
}

static int init(struct metrics_server *s, struct metrics_address *a, struct error *err)
{
	pthread_condattr_t clock;
	int code = load(&s->lib, err);

	if (code < 0)
		return code;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->told, &clock);
	pthread_condattr_destroy(&clock);
	return listen_at(s, a, err);
}

int metrics_server_new(struct metrics_server **ret, struct metrics_address *a, struct error *err)
{
	struct metrics_server *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "Cannot serve metrics");
	s->fd = -1;
	int code = init(s, a, err);
	if (code < 0)
		metrics_server_free(s);
	else
		*ret = s;
	return code;
}

/* --- the server's thread ---------------------------------------------------------------------- */

static bool is_fresh(const struct metrics_server *s, uint64_t age_ns)
{
	return s->response && clock_now_ns() - s->made_ns < age_ns;
}

/* Until there is a new text, or it takes too long. The lock is held but while this waits. */
static void wait_for_text(struct metrics_server *s)
{
	uint64_t until = clock_now_ns() + PATIENCE_NS;
	const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
				   .tv_nsec = (long)(until % 1000000000u)};

	s->wanted = true;
	while (s->wanted && !s->stopping &&
	       pthread_cond_timedwait(&s->told, &s->lock, &t) != ETIMEDOUT)
		;
}

/*
 * False: there is none that says what is. The library counts who has the response, which may be
 * replaced meanwhile.
 */
static bool send_text(struct metrics_server *s, struct MHD_Connection *c, bool make,
		      enum MHD_Result *ret)
{
	pthread_mutex_lock(&s->lock);
	if (make && !is_fresh(s, FRESH_NS))
		wait_for_text(s);
	bool there = !s->stopping && is_fresh(s, STALE_NS);
	if (there)
		*ret = s->lib.queue(c, MHD_HTTP_OK, s->response);
	pthread_mutex_unlock(&s->lock);
	return there;
}

static enum MHD_Result send_words(struct metrics_server *s, struct MHD_Connection *c,
				  unsigned status, const char *words)
{
	char *copy = mem_strdup(words);
	struct MHD_Response *r =
		copy ? s->lib.response_of(strlen(copy), copy, mem_free, copy) : NULL;

	if (!r) {
		mem_free(copy);
		return MHD_NO;
	}
	s->lib.header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	s->lib.header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		s->lib.header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result ret = s->lib.queue(c, status, r);
	s->lib.forget(r);
	return ret;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_size, void **state)
{
	struct metrics_server *s = cls;
	bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0;

	(void)version;
	(void)data;
	(void)data_size;
	(void)state;
	if (!get && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_words(s, c, MHD_HTTP_METHOD_NOT_ALLOWED, "There is only GET here.\n");
	if (strcmp(url, "/metrics") != 0)
		return send_words(s, c, MHD_HTTP_NOT_FOUND, "There is only /metrics here.\n");
	enum MHD_Result r;
	if (send_text(s, c, get, &r))
		return r;
	return send_words(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			  "Whoever measures has not answered for a while.\n");
}

/* One that found no place has no end of its own but that of idle ones. */
static void note(void *cls, struct MHD_Connection *c, void **socket_context,
		 enum MHD_ConnectionNotificationCode what)
{
	struct metrics_server *s = cls;
	const union MHD_ConnectionInfo *info = s->lib.info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	bool begins = what == MHD_CONNECTION_NOTIFY_STARTED;

	(void)socket_context;
	if (!s->is_bare) {
		(void)rights_give_up(); /* that it cannot is no reason to end what it serves */
		s->is_bare = true;
	}
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < MOST; i++) {
		struct connection *k = &s->connections[i];
		if (k->of != (begins ? NULL : c))
			continue;
		*k = (struct connection){0};
		if (begins && info)
			*k = (struct connection){c, info->connect_fd, clock_now_ns()};
		break;
	}
	pthread_mutex_unlock(&s->lock);
}

/* --- who measures ------------------------------------------------------------------------------
 */

/* The library's thread finds that there is nobody any more, and closes it. */
static void end_old(struct metrics_server *s)
{
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < MOST; i++) {
		struct connection *k = &s->connections[i];
		if (k->of && now - k->since_ns > CONNECTION_NS)
			shutdown(k->fd, SHUT_RDWR);
	}
}

bool metrics_server_wanted(struct metrics_server *s)
{
	pthread_mutex_lock(&s->lock);
	bool wanted = s->wanted || !s->response;
	end_old(s);
	pthread_mutex_unlock(&s->lock);
	return wanted;
}

void metrics_server_publish(struct metrics_server *s, char *text, size_t len)
{
	struct MHD_Response *r = s->lib.response_of(len, text, mem_free, text), *old = NULL;

	if (!r) {
		mem_free(text);
		return;
	}
	s->lib.header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
		      "application/openmetrics-text; version=1.0.0; charset=utf-8");
	s->lib.header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	pthread_mutex_lock(&s->lock);
	old = s->response;
	s->response = r;
	s->made_ns = clock_now_ns();
	s->wanted = false;
	pthread_cond_broadcast(&s->told);
	pthread_mutex_unlock(&s->lock);
	if (old)
		s->lib.forget(old);
}

/* Signals are for who measures: the thread begins with none. */
int metrics_server_start(struct metrics_server *s, struct error *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->daemon = s->lib.start(
		MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, s,
		MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)MEMORY, MHD_OPTION_NOTIFY_CONNECTION, note, s, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!s->daemon)
		return error_errno(err, errno ? -errno : -ENOMEM,
				   "Cannot start the thread that serves metrics");
	s->fd = -1;
	return 0;
}

void metrics_server_free(struct metrics_server *s)
{
	if (!s)
		return;
	if (s->daemon) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		pthread_cond_broadcast(&s->told);
		pthread_mutex_unlock(&s->lock);
		s->lib.stop(s->daemon);
	}
	if (s->response)
		s->lib.forget(s->response);
	if (s->fd >= 0)
		close(s->fd);
	mem_free(s);
}
