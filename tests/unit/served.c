// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "served.h"

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

static int setup(void **state, int until)
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
	for (r = 0; r != until;)
		r = engine_pump(&s.engine, 0, &err);
	assert_int_equal(metrics_start(s.m, &s.engine, &err), 0);
	assert_int_equal(sscanf(metrics_url(s.m), "http://127.0.0.1:%hu/metrics", &s.port), 1);
	*state = &s;
	return 0;
}

int served_setup(void **state)
{
	return setup(state, ENGINE_END);
}

int served_setup_early(void **state)
{
	return setup(state, ENGINE_TICK);
}

int served_teardown(void **state)
{
	struct served *s = *state;

	if (!s)
		return 0;
	metrics_free(s->m);
	engine_deinit(&s->engine);
	rig_deinit(&s->rig);
	return 0;
}

int served_dial(const struct served *s)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(s->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

void served_say(int fd, const char *what)
{
	assert_int_equal(send(fd, what, strlen(what), MSG_NOSIGNAL), strlen(what));
}

void served_step(struct served *s)
{
	struct error err = {0};

	assert_int_equal(metrics_tick(s->m, NULL, &err), 0);
}

char *served_listen(struct served *s, int fd, size_t *ret_n)
{
	char *text = calloc(1, ANSWER);
	size_t n = 0;

	assert_non_null(text);
	for (int i = 0; i < LOOKS; i++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, LOOK_MS) == 0) {
			served_step(s);
			continue;
		}
		ssize_t got = recv(fd, text + n, ANSWER - 1 - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (ret_n)
		*ret_n = n;
	return text;
}

char *served_ask(struct served *s, const char *request)
{
	int fd = served_dial(s);

	served_say(fd, request);
	return served_listen(s, fd, NULL);
}

void served_need(void **state)
{
	if (!*state)
		skip();
}

void served_has(const char *answer, const char *what)
{
	if (!answer || !strstr(answer, what))
		fail_msg("not there: %s\n%.600s", what, answer ? answer : "(no answer)");
}

const char *served_body(const char *answer)
{
	const char *body = strstr(answer, "\r\n\r\n");

	assert_non_null(body);
	return body + 4;
}
