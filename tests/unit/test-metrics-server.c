// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server of metrics, by a client of our own over loopback: good requests get good answers, and
 * whatever clients do, measuring continues. It runs in this test's main thread, which never waits
 * for the server: a test that comes to its end has shown it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/openmetrics.h"
#include "openmetrics.h"
#include "served.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void scrapes_are_answered(void **state)
{
	served_need(state);
	char why[128] = "", *text = served_ask(*state, GET("/metrics"));

	served_has(text, "HTTP/1.1 200 ");
	served_has(text,
		   "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	size_t line = openmetrics_check(served_body(text), why, sizeof(why));
	if (line)
		fail_msg("line %zu: %s", line, why);
	served_has(
		text,
		"kontend_lock_wait_seconds_count{type=\"rwsem\",mode=\"W\",world=\"kernel\"} 30\n");
	free(text);
}

/* Messages for who would rather have them, while others get text. */
static void formats_are_what_is_asked_for(void **state)
{
	served_need(state);
	char *text = served_ask(*state, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: "
					"application/vnd.google.protobuf;"
					"proto=io.prometheus.client.MetricFamily;"
					"encoding=delimited,text/plain;q=0.5\r\n\r\n");

	served_has(text, "HTTP/1.1 200 ");
	served_has(text, "Vary: Accept\r\n");
	if (openmetrics_proto_is_built())
		served_has(text, "Content-Type: application/vnd.google.protobuf; "
				 "proto=io.prometheus.client.MetricFamily; "
				 "encoding=delimited\r\n");
	else
		served_has(text, "Content-Type: application/openmetrics-text;");
	free(text);
	text = served_ask(*state, GET("/metrics"));
	served_has(text, "Content-Type: application/openmetrics-text;");
	served_has(text, "# EOF\n");
	free(text);
}

static void other_requests_are_refused(void **state)
{
	served_need(state);
	char *text = served_ask(*state, GET("/"));

	served_has(text, "HTTP/1.1 404 ");
	free(text);
	text = served_ask(*state, GET("/metrics/../../etc/passwd"));
	served_has(text, "HTTP/1.1 404 ");
	free(text);
	text = served_ask(*state,
			  "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
	served_has(text, "HTTP/1.1 405 ");
	served_has(text, "Allow: GET, HEAD\r\n");
	free(text);
	free(served_ask(*state, "\x16\x03\x01\x02 what\r\n\r\n"));
	text = served_ask(*state, GET("/metrics"));
	served_has(text, "HTTP/1.1 200 ");
	free(text);
}

/* A page in a browser asks by a name of its own making that means this machine. */
static void other_hosts_are_refused(void **state)
{
	static const char *const asked[] = {
		"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"HEAD /metrics HTTP/1.1\r\nHost: evil.example:9417\r\n\r\n",
		"GET /debug/pprof/mutex?seconds=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
	};

	served_need(state);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		char *text = served_ask(*state, asked[i]);
		served_has(text, "HTTP/1.1 403 ");
		if (strstr(text, "kontend_"))
			fail_msg("it says something: %s", text);
		free(text);
	}
	char *text = served_ask(*state, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9417\r\n\r\n");
	served_has(text, "HTTP/1.1 200 ");
	free(text);
}

/* Its head is that of GET, and it resets nothing that a scrape would report. */
static void head_has_no_body(void **state)
{
	served_need(state);
	struct served *s = *state;
	served_step(s);
	char *text = served_ask(s, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");

	served_has(text, "HTTP/1.1 200 ");
	served_has(text,
		   "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	assert_string_equal(served_body(text), "");
	free(text);
	assert_false(metrics_wanted(s->m));
}

static void two_at_once_get_the_same(void **state)
{
	served_need(state);
	struct served *s = *state;
	int a = served_dial(s), b = served_dial(s);

	served_say(a, GET("/metrics"));
	served_say(b, GET("/metrics"));
	char *first = served_listen(s, a, NULL), *second = served_listen(s, b, NULL);
	served_has(first, "HTTP/1.1 200 ");
	served_has(second, "HTTP/1.1 200 ");
	assert_string_equal(served_body(first), served_body(second));
	free(first);
	free(second);
}

/* Clients that never read, never finish, or say nothing; then one that is well. */
static void bad_clients_are_outlived(void **state)
{
	enum { BAD = 14, SMALL = 4096 };
	int fds[BAD];

	served_need(state);
	struct served *s = *state;
	for (int i = 0; i < BAD; i++) {
		int small = SMALL;
		fds[i] = served_dial(s);
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		if (i % 3 == 0)
			served_say(fds[i], GET("/metrics"));
		else if (i % 3 == 1)
			served_say(fds[i], "GET /metrics HT");
	}
	for (int i = 0; i < 3; i++) {
		char *text = served_ask(s, GET("/metrics"));
		served_has(text, "HTTP/1.1 200 ");
		served_has(text, "# EOF\n");
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

	served_need(state);
	for (int i = 0; i < BAD; i++)
		fds[i] = served_dial(*state);
	char *text = served_ask(*state, GET("/metrics"));
	served_has(text, "HTTP/1.1 200 ");
	served_has(text, "# EOF\n");
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

	served_need(state);
	snprintf(listen, sizeof(listen), "%u", ((struct served *)*state)->port);
	o.listen = listen;
	assert_int_equal(metrics_new(&m, &o, &err), -EADDRINUSE);
	served_has(err.text, "another process listens there");
	err = (struct error){0};
	o.listen = "192.0.2.77:0";
	assert_int_equal(metrics_new(&m, &o, &err), -EADDRNOTAVAIL);
	served_has(err.text, "Cannot serve metrics at 192.0.2.77:0: ");
	err = (struct error){0};
	o.listen = "nonsense";
	assert_int_equal(metrics_new(&m, &o, &err), -EINVAL);
}

/* Ends while one client waits for a text, and while another does not read. */
static void ends_at_once(void **state)
{
	served_need(state);
	struct served *s = *state;
	int a = served_dial(s), b = served_dial(s);

	served_say(a, GET("/metrics"));
	free(served_listen(s, b, NULL));
	served_say(a, "");
	metrics_free(s->m);
	s->m = NULL;
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scrapes_are_answered, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(formats_are_what_is_asked_for, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(other_requests_are_refused, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(other_hosts_are_refused, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(head_has_no_body, served_setup, served_teardown),
		cmocka_unit_test_setup_teardown(two_at_once_get_the_same, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(bad_clients_are_outlived, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(the_door_is_not_blocked, served_setup,
						served_teardown),
		cmocka_unit_test_setup_teardown(one_port_is_for_one, served_setup, served_teardown),
		cmocka_unit_test_setup_teardown(ends_at_once, served_setup, served_teardown),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
