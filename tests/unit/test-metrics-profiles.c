// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles by the server of metrics: whatever clients ask for, and however long they take, who
 * measures, which is this test's main thread, goes on, and scrapes are answered meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/server.h"
#include "served.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEGINS_MS = 300, STEP_MS = 20 };

/* Until the server's thread has heard of it, and it has begun; no time passes. */
static void let_begin(struct served *s)
{
	for (int i = 0; i < BEGINS_MS / STEP_MS; i++) {
		poll(NULL, 0, STEP_MS);
		served_step(s);
	}
}

/* A second is measured. */
static void measure(struct served *s)
{
	struct error err = {0};
	int r = 0;

	while (r != ENGINE_TICK && r != ENGINE_END)
		r = engine_pump(&s->engine, 0, &err);
	served_step(s);
}

/* Sends a request that begins with that; returns the connection. */
static int begin(struct served *s, const char *request)
{
	int fd = served_dial(s);

	served_say(fd, request);
	let_begin(s);
	return fd;
}

/* It may not have been built in. */
static bool is_built(const char *answer)
{
	return !strstr(answer, "HTTP/1.1 501 ");
}

static void check_profile(const char *answer, size_t n, const char *name)
{
	char attached[80];

	served_has(answer, "HTTP/1.1 200 ");
	served_has(answer, "Content-Type: application/octet-stream\r\n");
	snprintf(attached, sizeof(attached), "Content-Disposition: attachment; filename=\"%s\"\r\n",
		 name);
	served_has(answer, attached);
	const char *body = served_body(answer);
	assert_true((size_t)(body - answer) + 100 < n);
	assert_memory_equal(body, "\x1f\x8b", 2);
}

static void a_profile_is_of_its_seconds(void **state)
{
	size_t n;

	served_need(state);
	struct served *s = *state;
	int fd = begin(s, GET("/debug/pprof/mutex?seconds=2"));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	measure(s);
	bool early = poll(&p, 1, BEGINS_MS) > 0;
	if (!early)
		measure(s);
	char *text = served_listen(s, fd, &n);
	if (is_built(text)) {
		assert_false(early);
		check_profile(text, n, "mutex");
	}
	free(text);
}

/* Two at once, and a scrape meanwhile. */
static void they_do_not_wait_for_each_other(void **state)
{
	size_t n;

	served_need(state);
	struct served *s = *state;
	int a = begin(s, GET("/debug/pprof/mutex?seconds=2"));
	measure(s);
	int b = begin(s, GET("/debug/pprof/block?seconds=1"));
	char *text = served_ask(s, GET("/metrics"));
	served_has(text, "# EOF\n");
	free(text);
	measure(s);
	text = served_listen(s, a, &n);
	if (is_built(text))
		check_profile(text, n, "mutex");
	free(text);
	text = served_listen(s, b, &n);
	if (is_built(text))
		check_profile(text, n, "block");
	free(text);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		GET("/debug/pprof/mutex?seconds=600"),
		GET("/debug/pprof/mutex?seconds=0"),
		GET("/debug/pprof/mutex?seconds=-1"),
		GET("/debug/pprof/block?seconds=1.5"),
		GET("/debug/pprof/block?seconds="),
		GET("/debug/pprof/block?seconds=99999999999"),
	};

	served_need(state);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *text = served_ask(*state, bad[i]);
		served_has(text, "HTTP/1.1 400 ");
		served_has(text, "A profile is of 1 to 300 whole seconds, like ?seconds=10.\n");
		free(text);
	}
	char *text = served_ask(*state, GET("/debug/pprof/heap"));
	served_has(text, "HTTP/1.1 404 ");
	free(text);
	text = served_ask(*state, GET("/debug/pprof/profile?seconds=1"));
	if (is_built(text)) {
		served_has(text, "HTTP/1.1 404 ");
		served_has(text, "There are no CPU samples");
	}
	free(text);
}

/* As many requests as allowed: the next one gets a message, and a profile when they have ended. */
static void there_is_a_bound(void **state)
{
	int fds[ASKED_MOST];
	size_t n;

	served_need(state);
	struct served *s = *state;
	for (int i = 0; i < ASKED_MOST; i++) {
		fds[i] = served_dial(s);
		served_say(fds[i], GET("/debug/pprof/mutex?seconds=1"));
	}
	/* They are requested, and not yet made: nothing measures. */
	poll(NULL, 0, BEGINS_MS);
	int one_more = served_dial(s);
	served_say(one_more, GET("/debug/pprof/mutex?seconds=1"));
	poll(NULL, 0, BEGINS_MS);
	char *text = served_listen(s, one_more, NULL);
	served_has(text, "HTTP/1.1 503 ");
	served_has(text, "ask again when one of them has ended.\n");
	free(text);
	let_begin(s);
	measure(s);
	for (int i = 0; i < ASKED_MOST; i++) {
		text = served_listen(s, fds[i], &n);
		if (is_built(text))
			check_profile(text, n, "mutex");
		free(text);
	}
	text = served_ask(s, GET("/debug/pprof/mutex?seconds=0"));
	served_has(text, "HTTP/1.1 400 ");
	free(text);
}

/* Clients that are gone when their profile comes; then one that is well. */
static void who_is_gone_is_forgotten(void **state)
{
	size_t n;

	served_need(state);
	struct served *s = *state;
	for (int i = 0; i < ASKED_MOST; i++)
		close(begin(s, GET("/debug/pprof/block?seconds=1")));
	measure(s);
	let_begin(s);
	int fd = begin(s, GET("/debug/pprof/mutex?seconds=1"));
	measure(s);
	char *text = served_listen(s, fd, &n);
	if (is_built(text))
		check_profile(text, n, "mutex");
	free(text);
}

/* All profiles that there may be, of five minutes, are asked for by clients that then leave. */
static void who_leaves_gives_the_place_up(void **state)
{
	size_t n;

	served_need(state);
	struct served *s = *state;
	for (int i = 0; i < ASKED_MOST; i++)
		close(begin(s, GET("/debug/pprof/block?seconds=300")));
	let_begin(s);
	int fd = begin(s, GET("/debug/pprof/mutex?seconds=1"));
	measure(s);
	char *text = served_listen(s, fd, &n);
	if (is_built(text))
		check_profile(text, n, "mutex");
	free(text);
}

/* While profiles are requested, made, and handed over without a receiver. */
static void it_ends_at_once(void **state)
{
	served_need(state);
	struct served *s = *state;
	int a = begin(s, GET("/debug/pprof/mutex?seconds=300")), b = served_dial(s);
	char rest[4096];

	served_say(b, GET("/debug/pprof/block"));
	poll(NULL, 0, BEGINS_MS);
	metrics_free(s->m);
	s->m = NULL;
	while (read(a, rest, sizeof(rest)) > 0)
		;
	while (read(b, rest, sizeof(rest)) > 0)
		;
	close(a);
	close(b);
}

static void paths_and_times_are_read(void **state)
{
	char why[ASKED_WORDS];
	struct asked a;

	(void)state;
	assert_true(asked_path("/debug/pprof/profile", &a));
	assert_int_equal(a.what, SAMPLES_CPU);
	assert_int_equal(a.seconds, 30);
	assert_true(asked_seconds(NULL, &a, why));
	assert_true(asked_seconds("300", &a, why));
	assert_int_equal(a.seconds, 300);
	assert_false(asked_seconds("301", &a, why));
	assert_false(asked_seconds("4294967297", &a, why));
	assert_false(asked_path("/debug/pprof/", &a));
	assert_false(asked_path("/debug/pprof/mutexes", &a));
	assert_false(asked_path("/mutex", &a));
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, served_setup_early, served_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_and_times_are_read),
		SERVED(a_profile_is_of_its_seconds),
		SERVED(they_do_not_wait_for_each_other),
		SERVED(what_makes_no_sense_is_refused),
		SERVED(there_is_a_bound),
		SERVED(who_is_gone_is_forgotten),
		SERVED(who_leaves_gives_the_place_up),
		SERVED(it_ends_at_once),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
