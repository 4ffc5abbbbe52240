// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which connection has to go when another client comes. The clients are ends of socket pairs, and
 * the clock is the test's: so nothing depends on how fast the machine is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/connections.h"
#include "metrics/server.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 64 };

static const uint64_t SECOND = 1000000000;

struct clients {
	struct connections c;
	int here[CLIENTS], there[CLIENTS]; /* the server's end, the client's */
	uint64_t now;
};

/* The library's type of a connection. */
static const void *name_of(const struct clients *k, int i)
{
	return &k->here[i];
}

static void come(struct clients *k, int i)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	k->here[i] = pair[0];
	k->there[i] = pair[1];
	connections_add(&k->c, name_of(k, i), pair[0], k->now);
}

static void send_request(struct clients *k, int i)
{
	connections_asked(&k->c, name_of(k, i), k->now);
}

/* The library finds that it has ended, and closes it. */
static void leave(struct clients *k, int i)
{
	connections_remove(&k->c, name_of(k, i));
	close(k->here[i]);
	close(k->there[i]);
	k->there[i] = -1;
}

static bool is_there(const struct clients *k, int i)
{
	char byte;

	return recv(k->there[i], &byte, 1, MSG_DONTWAIT) != 0;
}

static int set_up(void **state)
{
	static struct clients k;

	k = (struct clients){.now = 100 * SECOND};
	memset(k.there, -1, sizeof(k.there));
	*state = &k;
	return 0;
}

static int tear_down(void **state)
{
	struct clients *k = *state;

	for (int i = 0; i < CLIENTS; i++)
		if (k->there[i] >= 0)
			leave(k, i);
	return 0;
}

static void the_oldest_without_a_request_goes(void **state)
{
	struct clients *k = *state;

	for (int i = 0; i < CONNECTIONS_MOST; i++, k->now++)
		come(k, i);
	send_request(k, 0);
	for (int i = 0; i < CONNECTIONS_MOST; i++)
		assert_true(is_there(k, i));
	come(k, CONNECTIONS_MOST);
	assert_true(is_there(k, 0));
	assert_false(is_there(k, 1));
	for (int i = 2; i <= CONNECTIONS_MOST; i++)
		assert_true(is_there(k, i));
}

/* Sixteen clients that say nothing, and come again at once when they are ended: M6. */
static void who_asks_at_once_is_answered(void **state)
{
	struct clients *k = *state;
	int n = 0, answered = 0;

	for (; n < CONNECTIONS_MOST; n++)
		come(k, n);
	for (int scrape = 0; scrape < 7; scrape++) {
		int one = n++;
		k->now += SECOND / 100;
		come(k, one);
		send_request(k, one);
		/* Those that were ended come again before it has its answer. */
		for (int i = 0; i < one; i++) {
			if (k->there[i] < 0 || is_there(k, i))
				continue;
			leave(k, i);
			come(k, i);
		}
		answered += is_there(k, one);
		leave(k, one);
	}
	assert_int_equal(answered, 7);
}

static void slow_ones_leave_two_places(void **state)
{
	struct clients *k = *state;
	int there = 0;

	for (int i = 0; i < CONNECTIONS_MOST; i++)
		come(k, i);
	connections_tick(&k->c, k->now);
	for (int i = 0; i < CONNECTIONS_MOST; i++)
		assert_true(is_there(k, i));
	k->now += 2 * SECOND;
	connections_tick(&k->c, k->now);
	for (int i = 0; i < CONNECTIONS_MOST; i++)
		there += is_there(k, i);
	assert_int_equal(there, CONNECTIONS_MOST - CONNECTIONS_FRESH);
}

/* Clients that ask and do not read go after a second, those that wait for a profile do not. */
static void who_does_not_read_goes(void **state)
{
	struct clients *k = *state;

	for (int i = 0; i < CONNECTIONS_MOST; i++, k->now++) {
		come(k, i);
		send_request(k, i);
	}
	connections_wait(&k->c, name_of(k, 0), true);
	come(k, 20); /* they have just asked: none of them is slow */
	for (int i = 0; i < CONNECTIONS_MOST; i++)
		assert_true(is_there(k, i));
	leave(k, 20);
	k->now += 2 * SECOND;
	come(k, 21);
	assert_true(is_there(k, 0));
	assert_false(is_there(k, 1));
	for (int i = 2; i < CONNECTIONS_MOST; i++)
		assert_true(is_there(k, i));
}

static void all_end_after_a_while(void **state)
{
	struct clients *k = *state;

	come(k, 0);
	come(k, 1);
	send_request(k, 0);
	send_request(k, 1);
	connections_wait(&k->c, name_of(k, 1), true);
	for (int i = 0; i < 20; i++) {
		k->now += SECOND;
		connections_tick(&k->c, k->now);
	}
	assert_false(is_there(k, 0));
	assert_true(is_there(k, 1));
}

static void who_has_left_is_seen(void **state)
{
	struct clients *k = *state;

	come(k, 0);
	assert_false(connections_has_left(&k->c, name_of(k, 0)));
	assert_int_equal(send(k->there[0], "x", 1, 0), 1);
	assert_false(connections_has_left(&k->c, name_of(k, 0)));
	come(k, 1);
	shutdown(k->there[1], SHUT_WR);
	assert_true(connections_has_left(&k->c, name_of(k, 1)));
	assert_false(connections_has_left(&k->c, name_of(k, 2)));
}

static void hosts_are_addresses_or_localhost(void **state)
{
	static const char *const good[] = {"localhost",	 "localhost:",	   "LocalHost:9417",
					   "127.0.0.1",	 "127.0.0.1:9417", "[::1]",
					   "[::1]:9417", "192.0.2.1"};
	static const char *const wrong[] = {"evil.example",
					    "evil.example:9417",
					    "localhost.evil.example",
					    "127.0.0.1.evil.example",
					    "",
					    ":9417",
					    "[::1",
					    "::1",
					    "[localhost]",
					    "localhost:x",
					    "127.0.0.1 evil",
					    "[::1]x",
					    "1",
					    "127.1"};

	(void)state;
	assert_true(asked_host(NULL));
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!asked_host(good[i]))
			fail_msg("%s is refused", good[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (asked_host(wrong[i]))
			fail_msg("'%s' is taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_oldest_without_a_request_goes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(who_asks_at_once_is_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_ones_leave_two_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_does_not_read_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_end_after_a_while, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_has_left_is_seen, set_up, tear_down),
		cmocka_unit_test(hosts_are_addresses_or_localhost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
