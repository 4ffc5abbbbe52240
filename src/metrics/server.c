// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses libmicrohttpd, with one thread for all connections. A connection has one request and ends in
 * bounded time, however slowly a client sends or reads (connections.c): so clients cannot block
 * others. All clients get the same text, without a copy.
 * Even if the port is on the loopback address, a web page can make a browser here connect to it,
 * with a name that resolves to this machine: such a request has that name as its host, and is
 * refused (asked_host()).
 * The lock is held only for a moment: to take or to replace the text. The measuring thread checks
 * once a second whether a text is requested, and publishes it; it never waits for a client. The
 * server's thread waits for the requested text, so other connections wait, too; they get the same
 * one. A client that waits for a profile is suspended, so that it has no timeout and blocks no
 * other client.
 * The library is loaded at first use, as it brings half a dozen others.
 */
#include "server.h"
#include "connections.h"
#include "kontend/clock.h"
#include "kontend/library.h"
#include "kontend/mem.h"
#include "kontend/openmetrics.h"
#include "kontend/rights.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SONAME "libmicrohttpd.so.12"

enum { IDLE_S = 5, MEMORY = 16 << 10, BACKLOG = 128 };

/* A text that is younger than this counts as new. */
static const uint64_t FRESH_NS = 900000000;
/* Time to wait for a new text, and the age from which a text is not sent. */
static const uint64_t PATIENCE_NS = 3000000000, STALE_NS = 15000000000;

struct library {
	__typeof__(MHD_start_daemon) *start;
	__typeof__(MHD_stop_daemon) *stop;
	__typeof__(MHD_queue_response) *queue;
	__typeof__(MHD_add_response_header) *header;
	__typeof__(MHD_create_response_from_buffer_with_free_callback_cls) *response_of;
	__typeof__(MHD_destroy_response) *forget;
	__typeof__(MHD_get_connection_info) *info;
	__typeof__(MHD_lookup_connection_value) *value;
	__typeof__(MHD_suspend_connection) *suspend;
	__typeof__(MHD_resume_connection) *resume;
};

/* A profile requested by a client. */
struct slot {
	enum { FREE, ASKED, MAKING, DONE } state;
	struct asked asked;
	struct MHD_Connection *of;   /* suspended, except in state DONE */
	struct MHD_Response *answer; /* in state DONE; NULL: no memory */
	unsigned status;
};

/* The answer for all clients that request this format. */
struct text {
	struct MHD_Response *response; /* NULL: none yet */
	uint64_t made_ns;
	bool wanted;
};

struct metrics_server {
	struct library lib;
	int fd; /* listening socket; -1: the daemon has it */
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	pthread_cond_t reported;
	/* Protected by the lock: */
	struct text texts[METRICS_FORMATS];
	bool stopping;
	struct connections connections;
	struct slot slots[ASKED_MOST];
	bool is_bare; /* of the server's thread: it has dropped its capabilities */
	bool is_loopback;
};

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct library, start, MHD_start_daemon),
	LIBRARY_FUNCTION(struct library, stop, MHD_stop_daemon),
	LIBRARY_FUNCTION(struct library, queue, MHD_queue_response),
	LIBRARY_FUNCTION(struct library, header, MHD_add_response_header),
	LIBRARY_FUNCTION(struct library, response_of,
			 MHD_create_response_from_buffer_with_free_callback_cls),
	LIBRARY_FUNCTION(struct library, forget, MHD_destroy_response),
	LIBRARY_FUNCTION(struct library, info, MHD_get_connection_info),
	LIBRARY_FUNCTION(struct library, value, MHD_lookup_connection_value),
	LIBRARY_FUNCTION(struct library, suspend, MHD_suspend_connection),
	LIBRARY_FUNCTION(struct library, resume, MHD_resume_connection),
};

static const struct library_spec library = {
	SONAME, functions, sizeof(functions) / sizeof(functions[0]), "serve metrics",
	"the package of libmicrohttpd that has this file"};

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
		return error_set(
			err, code,
			"Cannot serve metrics at %s: another process listens there; give "
			"--metrics another port, or end that process (find it with 'ss -ltnp')",
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
	int code = library_load(&library, &s->lib, err);

	if (code < 0)
		return code;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->reported, &clock);
	pthread_condattr_destroy(&clock);
	s->is_loopback = metrics_address_is_loopback(a);
	return listen_at(s, a, err);
}

int metrics_server_new(struct metrics_server **ret, struct metrics_address *a, struct error *err)
{
	struct metrics_server *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_enomem(err, "the server of metrics");
	s->fd = -1;
	int code = init(s, a, err);
	if (code < 0)
		metrics_server_free(s);
	else
		*ret = s;
	return code;
}

/* --- the server's thread ---------------------------------------------------------------------- */

static bool is_fresh(const struct text *t, uint64_t age_ns)
{
	return t->response && clock_now_ns() - t->made_ns < age_ns;
}

/* Waits for a new text, or until the time is up. Releases the lock only while it waits. */
static void wait_for_text(struct metrics_server *s, struct text *text)
{
	uint64_t until = clock_now_ns() + PATIENCE_NS;
	const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
				   .tv_nsec = (long)(until % 1000000000u)};

	text->wanted = true;
	while (text->wanted && !s->stopping &&
	       pthread_cond_timedwait(&s->reported, &s->lock, &t) != ETIMEDOUT)
		;
}

/*
 * False: there is no current text. The library counts references to the response, which may be
 * replaced meanwhile.
 */
static bool send_text(struct metrics_server *s, struct MHD_Connection *c, bool make,
		      enum MHD_Result *ret)
{
	const char *accept = s->lib.value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct text *t = &s->texts[openmetrics_proto_is_built() ? metrics_format_wanted(accept)
								: METRICS_TEXT];

	pthread_mutex_lock(&s->lock);
	if (make && !is_fresh(t, FRESH_NS))
		wait_for_text(s, t);
	else if (!make && !is_fresh(t, STALE_NS))
		t = &s->texts[METRICS_TEXT]; /* a HEAD request never makes one */
	bool there = !s->stopping && is_fresh(t, STALE_NS);
	if (there)
		*ret = s->lib.queue(c, MHD_HTTP_OK, t->response);
	pthread_mutex_unlock(&s->lock);
	return there;
}

/* A response for one client. Takes over the data; NULL: no memory. */
static struct MHD_Response *response_of(const struct metrics_server *s, char *data, size_t len)
{
	struct MHD_Response *r = data ? s->lib.response_of(len, data, mem_free, data) : NULL;

	if (r)
		s->lib.header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	else
		mem_free(data);
	return r;
}

static enum MHD_Result send_words(struct metrics_server *s, struct MHD_Connection *c,
				  unsigned status, const char *words)
{
	struct MHD_Response *r = response_of(s, mem_strdup(words), strlen(words));

	if (!r)
		return MHD_NO;
	s->lib.header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		s->lib.header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result ret = s->lib.queue(c, status, r);
	s->lib.forget(r);
	return ret;
}

/* NULL: all slots are taken. */
static struct slot *take_slot(struct metrics_server *s, struct MHD_Connection *c,
			      const struct asked *asked)
{
	struct slot *ret = NULL;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < ASKED_MOST && !ret && !s->stopping; i++)
		ret = s->slots[i].state == FREE ? &s->slots[i] : NULL;
	if (ret) {
		*ret = (struct slot){.state = ASKED, .asked = *asked, .of = c};
		connections_wait(&s->connections, c, true);
		s->lib.suspend(c);
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static enum MHD_Result begin_profile(struct metrics_server *s, struct MHD_Connection *c,
				     struct asked *asked, void **state)
{
	const char *seconds = s->lib.value(c, MHD_GET_ARGUMENT_KIND, "seconds");
	char why[ASKED_WORDS];

	if (!asked_seconds(seconds, asked, why))
		return send_words(s, c, MHD_HTTP_BAD_REQUEST, why);
	*state = take_slot(s, c, asked);
	if (*state)
		return MHD_YES;
	return send_words(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			  "Too many profiles in progress: ask again when one "
			  "of them has ended.\n");
}

/* The library calls again for a suspended client, with an answer or spuriously. */
static enum MHD_Result end_profile(struct metrics_server *s, struct MHD_Connection *c,
				   struct slot *slot)
{
	enum MHD_Result ret = MHD_YES;

	pthread_mutex_lock(&s->lock);
	if (slot->state == DONE) {
		connections_wait(&s->connections, c, false);
		ret = slot->answer ? s->lib.queue(c, slot->status, slot->answer) : MHD_NO;
		if (slot->answer)
			s->lib.forget(slot->answer);
		*slot = (struct slot){0};
	} else if (!s->stopping) {
		s->lib.suspend(c);
	} else {
		ret = MHD_NO;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static void note_asked(struct metrics_server *s, const struct MHD_Connection *c)
{
	pthread_mutex_lock(&s->lock);
	connections_asked(&s->connections, c, clock_now_ns());
	pthread_mutex_unlock(&s->lock);
}

static bool is_for_us(const struct metrics_server *s, struct MHD_Connection *c)
{
	return !s->is_loopback ||
	       asked_host(s->lib.value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST));
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_size, void **state)
{
	struct metrics_server *s = cls;
	bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0;
	struct asked asked;

	(void)version;
	(void)data;
	(void)data_size;
	if (*state)
		return end_profile(s, c, *state);
	note_asked(s, c);
	if (!is_for_us(s, c))
		return send_words(
			s, c, MHD_HTTP_FORBIDDEN,
			"This port is for this machine only: use the host localhost, or an "
			"address, but no other name.\n");
	if (get && asked_path(url, &asked))
		return begin_profile(s, c, &asked, state);
	if (!get && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_words(s, c, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "Only GET and HEAD are supported.\n");
	if (strcmp(url, "/metrics") != 0)
		return send_words(
			s, c, MHD_HTTP_NOT_FOUND,
			"Not found: there are /metrics and, with GET, /debug/pprof/mutex, "
			"/debug/pprof/block and /debug/pprof/profile.\n");
	enum MHD_Result r;
	if (send_text(s, c, get, &r))
		return r;
	return send_words(s, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			  "The measuring thread has not answered in time.\n");
}

/* The request ended before its answer, which is dropped. */
static void forget(void *cls, struct MHD_Connection *c, void **state,
		   enum MHD_RequestTerminationCode why)
{
	struct metrics_server *s = cls;
	struct slot *slot = *state;

	(void)why;
	pthread_mutex_lock(&s->lock);
	if (slot && slot->of == c) {
		slot->of = NULL;
		if (slot->answer)
			s->lib.forget(slot->answer);
		if (slot->state != MAKING)
			*slot = (struct slot){0};
	}
	pthread_mutex_unlock(&s->lock);
	*state = NULL;
}

static void note_connection(void *cls, struct MHD_Connection *c, void **socket_context,
			    enum MHD_ConnectionNotificationCode what)
{
	struct metrics_server *s = cls;
	const union MHD_ConnectionInfo *info = s->lib.info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	bool begins = what == MHD_CONNECTION_NOTIFY_STARTED;

	(void)socket_context;
	if (!s->is_bare) {
		(void)rights_give_up(); /* a failure is no reason to stop serving */
		s->is_bare = true;
	}
	pthread_mutex_lock(&s->lock);
	if (!begins)
		connections_remove(&s->connections, c);
	else if (info)
		connections_add(&s->connections, c, info->connect_fd, clock_now_ns());
	pthread_mutex_unlock(&s->lock);
}

/* --- the measuring thread ------------------------------------------------------------------- */

unsigned metrics_server_wanted(struct metrics_server *s)
{
	unsigned wanted = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < METRICS_FORMATS; i++)
		wanted |= (unsigned)s->texts[i].wanted << i;
	if (!s->texts[METRICS_TEXT].response)
		wanted |= 1u << METRICS_TEXT;
	connections_tick(&s->connections, clock_now_ns());
	pthread_mutex_unlock(&s->lock);
	return wanted;
}

void metrics_server_publish(struct metrics_server *s, enum metrics_format f, char *text, size_t len)
{
	struct text *t = &s->texts[f];
	struct MHD_Response *r = s->lib.response_of(len, text, mem_free, text), *old = NULL;

	if (!r) {
		mem_free(text);
		return;
	}
	s->lib.header(r, MHD_HTTP_HEADER_CONTENT_TYPE, metrics_format_type(f));
	s->lib.header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	s->lib.header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	pthread_mutex_lock(&s->lock);
	old = t->response;
	t->response = r;
	t->made_ns = clock_now_ns();
	t->wanted = false;
	pthread_cond_broadcast(&s->reported);
	pthread_mutex_unlock(&s->lock);
	if (old)
		s->lib.forget(old);
}

bool metrics_server_asked(struct metrics_server *s, unsigned *ret_slot, struct asked *ret)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < ASKED_MOST && !found; i++) {
		struct slot *slot = &s->slots[i];
		if (slot->state != ASKED)
			continue;
		slot->state = MAKING;
		*ret = slot->asked;
		*ret_slot = i;
		found = true;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

bool metrics_server_has_left(struct metrics_server *s, unsigned slot)
{
	struct slot *of = &s->slots[slot];

	pthread_mutex_lock(&s->lock);
	bool left = !of->of || connections_has_left(&s->connections, of->of);
	if (left && of->of) {
		of->state = DONE; /* without an answer: the connection ends */
		s->lib.resume(of->of);
	} else if (left) {
		*of = (struct slot){0};
	}
	pthread_mutex_unlock(&s->lock);
	return left;
}

static struct MHD_Response *answer_of(const struct metrics_server *s, enum query_samples_what what,
				      unsigned status, char *data, size_t len)
{
	struct MHD_Response *r = response_of(s, data, len);
	bool is_profile = status == MHD_HTTP_OK;
	char name[64];

	if (!r)
		return NULL;
	s->lib.header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
		      is_profile ? "application/octet-stream" : "text/plain; charset=utf-8");
	snprintf(name, sizeof(name), "attachment; filename=\"%s\"", asked_name(what));
	if (is_profile)
		s->lib.header(r, MHD_HTTP_HEADER_CONTENT_DISPOSITION, name);
	return r;
}

/* The connection cannot end now, as its end takes the lock. */
void metrics_server_answer(struct metrics_server *s, unsigned slot, unsigned status, char *data,
			   size_t len)
{
	struct slot *to = &s->slots[slot];
	struct MHD_Response *r = answer_of(s, to->asked.what, status, data, len);

	pthread_mutex_lock(&s->lock);
	to->status = status;
	to->answer = r;
	to->state = DONE;
	if (to->of) {
		s->lib.resume(to->of);
	} else {
		if (r)
			s->lib.forget(r);
		*to = (struct slot){0};
	}
	pthread_mutex_unlock(&s->lock);
}

/* Signals go to the measuring thread: the new thread starts with all blocked. */
int metrics_server_start(struct metrics_server *s, struct error *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->daemon = s->lib.start(
		MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
		NULL, answer, s, MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_ALL, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
		note_connection, s, MHD_OPTION_NOTIFY_COMPLETED, forget, s, MHD_OPTION_END);
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
		pthread_cond_broadcast(&s->reported);
		for (size_t i = 0; i < ASKED_MOST; i++)
			if (s->slots[i].of && s->slots[i].state != DONE)
				s->lib.resume(s->slots[i].of);
		pthread_mutex_unlock(&s->lock);
		s->lib.stop(s->daemon);
	}
	for (size_t i = 0; i < ASKED_MOST; i++)
		if (s->slots[i].answer)
			s->lib.forget(s->slots[i].answer);
	for (size_t i = 0; i < METRICS_FORMATS; i++)
		if (s->texts[i].response)
			s->lib.forget(s->texts[i].response);
	if (s->fd >= 0)
		close(s->fd);
	mem_free(s);
}
