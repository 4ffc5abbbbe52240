// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server of metrics, by a client of our own over loopback: what is asked well is answered well,
 * and whatever clients do, who measures goes on. He is this test's main thread, which never waits
 * for the server: a test that comes to its end has shown it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/metrics.h"
#include "openmetrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER = 1 << 20, LOOKS = 6000, LOOK_MS = 10 };

struct served {
	struct rig rig;
	struct engine engine;
	struct metrics *m;
	uint16_t port;
};

static int setup(void **state)
{
	static struct served s;
	const struct metrics_options o = {.listen = "0", .version = "1.2.3"};
	struct error err = {0};

	s = (struct served){0};
	*state = NULL;
	int r = metrics_new(&s.m, &o, &err);
	if (r == -ENOTSUP)
		return 0;
	assert_int_equal(r, 0);
	canned_init(&s.rig);
	assert_int_equal(engine_init(&s.engine, synth_source(s.rig.synth), NULL, &err), 0);
	for (r = 0; r != ENGINE_END;)
		r = engine_pump(&s.engine, 0, &err);
	assert_int_equal(metrics_start(s.m, &s.engine, &err), 0);
	assert_int_equal(sscanf(metrics_url(s.m), "http://127.0.0.1:%hu/metrics", &s.port), 1);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct served *s = *state;

	if (!s)
		return 0;
	metrics_free(s->m);
	engine_deinit(&s->engine);
	rig_deinit(&s->rig);
	return 0;
}

static int dial(const struct served *s)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(s->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void say(int fd, const char *what)
{
	assert_int_equal(send(fd, what, strlen(what), MSG_NOSIGNAL), strlen(what));
}

static void step(struct served *s)
{
	struct error err = {0};

	assert_int_equal(metrics_tick(s->m, NULL, &err), 0);
}

/* Measures until the server has said all and hung up. Answers what it said; free() it. */
static char *listen_to(struct served *s, int fd)
{
	char *text = calloc(1, ANSWER);
	size_t n = 0;

	assert_non_null(text);
	for (int i = 0; i < LOOKS; i++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, LOOK_MS) == 0) {
			step(s);
			continue;
		}
		ssize_t got = recv(fd, text + n, ANSWER - 1 - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	return text;
}

static char *ask(struct served *s, const char *request)
{
	int fd = dial(s);

	say(fd, request);
	return listen_to(s, fd);
}

static void need(void **state)
{
	if (!*state)
		skip();
}

static void has(const char *answer, const char *what)
{
	if (!answer || !strstr(answer, what))
		fail_msg("not there: %s\n%.600s", what, answer ? answer : "(no answer)");
}

static const char *body_of(const char *answer)
{
	const char *body = strstr(answer, "\r\n\r\n");

	assert_non_null(body);
	return body + 4;
}

#define GET(PATH) "GET " PATH " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static void scrapes_are_answered(void **state)
{
	need(state);
	char why[128] = "", *text = ask(*state, GET("/metrics"));

	has(text, "HTTP/1.1 200 ");
	has(text, "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	size_t line = openmetrics_check(body_of(text), why, sizeof(why));
	if (line)
		fail_msg("line %zu: %s", line, why);
	has(text, "kontend_lock_wait_seconds_count{type=\"rwsem\",mode=\"W\"} 30\n");
	free(text);
}

static void other_requests_are_refused(void **state)
{
	need(state);
	char *text = ask(*state, GET("/"));

	has(text, "HTTP/1.1 404 ");
	free(text);
	text = ask(*state, GET("/metrics/../../etc/passwd"));
	has(text, "HTTP/1.1 404 ");
	free(text);
	text = ask(*state, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
	has(text, "HTTP/1.1 405 ");
	has(text, "Allow: GET, HEAD\r\n");
	free(text);
	free(ask(*state, "\x16\x03\x01\x02 what\r\n\r\n"));
	text = ask(*state, GET("/metrics"));
	has(text, "HTTP/1.1 200 ");
	free(text);
}

/* Its head is that of GET, and it takes nothing that a scrape would tell. */
static void head_has_no_body(void **state)
{
	need(state);
	struct served *s = *state;
	step(s);
	char *text = ask(s, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");

	has(text, "HTTP/1.1 200 ");
	has(text, "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	assert_string_equal(body_of(text), "");
	free(text);
	assert_false(metrics_wanted(s->m));
}

static void two_at_once_get_the_same(void **state)
{
	need(state);
	struct served *s = *state;
	int a = dial(s), b = dial(s);

	say(a, GET("/metrics"));
	say(b, GET("/metrics"));
	char *first = listen_to(s, a), *second = listen_to(s, b);
	has(first, "HTTP/1.1 200 ");
	has(second, "HTTP/1.1 200 ");
	assert_string_equal(body_of(first), body_of(second));
	free(first);
	free(second);
}

/* Clients that never read, never finish, or say nothing; then one that is well. */
static void bad_clients_are_outlived(void **state)
{
	enum { BAD = 14, SMALL = 4096 };
	int fds[BAD];

	need(state);
	struct served *s = *state;
	for (int i = 0; i < BAD; i++) {
		int small = SMALL;
		fds[i] = dial(s);
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		if (i % 3 == 0)
			say(fds[i], GET("/metrics"));
		else if (i % 3 == 1)
			say(fds[i], "GET /metrics HT");
	}
	for (int i = 0; i < 3; i++) {
		char *text = ask(s, GET("/metrics"));
		has(text, "HTTP/1.1 200 ");
		has(text, "# EOF\n");
		free(text);
	}
	for (int i = 0; i < BAD; i++)
		close(fds[i]);
}

/* As many as may be connected at all, and more, who say nothing: after a while they are put out. */
static void the_door_is_not_blocked(void **state)
{
	enum { BAD = 20 };
	int fds[BAD];

	need(state);
	for (int i = 0; i < BAD; i++)
		fds[i] = dial(*state);
	char *text = ask(*state, GET("/metrics"));
	has(text, "HTTP/1.1 200 ");
	has(text, "# EOF\n");
	free(text);
	for (int i = 0; i < BAD; i++)
		close(fds[i]);
}

static void one_port_is_for_one(void **state)
{
	struct metrics *m = NULL;
	struct metrics_options o = {.version = ""};
	struct error err = {0};
	char listen[32];

	need(state);
	snprintf(listen, sizeof(listen), "%u", ((struct served *)*state)->port);
	o.listen = listen;
	assert_int_equal(metrics_new(&m, &o, &err), -EADDRINUSE);
	has(err.text, "somebody else listens there");
	err = (struct error){0};
	o.listen = "192.0.2.77:0";
	assert_int_equal(metrics_new(&m, &o, &err), -EADDRNOTAVAIL);
	has(err.text, "Cannot serve metrics at 192.0.2.77:0: ");
	err = (struct error){0};
	o.listen = "nonsense";
	assert_int_equal(metrics_new(&m, &o, &err), -EINVAL);
}

/* Ends while somebody waits for a text, and while somebody does not read. */
static void ends_at_once(void **state)
{
	need(state);
	struct served *s = *state;
	int a = dial(s), b = dial(s);

	say(a, GET("/metrics"));
	free(listen_to(s, b));
	say(a, "");
	metrics_free(s->m);
	s->m = NULL;
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scrapes_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(other_requests_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(head_has_no_body, setup, teardown),
		cmocka_unit_test_setup_teardown(two_at_once_get_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_clients_are_outlived, setup, teardown),
		cmocka_unit_test_setup_teardown(the_door_is_not_blocked, setup, teardown),
		cmocka_unit_test_setup_teardown(one_port_is_for_one, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_at_once, setup, teardown),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
