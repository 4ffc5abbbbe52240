/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SERVED_H
#define KONTEND_TESTS_SERVED_H

#include "canned.h"
#include "kontend/metrics.h"

/*
 * The server of metrics, and clients of our own over loopback: the state of cmocka tests, NULL
 * where it was not built in. The test's main thread measures.
 */
struct served {
	struct rig rig;
	struct engine engine;
	struct metrics *m;
	uint16_t port;
};

int served_setup(void **state);	      /* all of the canned stream has been measured */
int served_setup_early(void **state); /* its first second has */
int served_teardown(void **state);
void served_need(void **state); /* skips where there is no server */

int served_dial(const struct served *s);
void served_say(int fd, const char *what);
/* A tick, at which nothing is measured. */
void served_step(struct served *s);
/* Measures until the server has hung up. Returns its answer; free() it. @n: bytes, or NULL. */
char *served_listen(struct served *s, int fd, size_t *n);
char *served_ask(struct served *s, const char *request);

void served_has(const char *answer, const char *what);
const char *served_body(const char *answer);

#define GET(PATH) "GET " PATH " HTTP/1.1\r\nHost: localhost\r\n\r\n"

#endif
