// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits the number of connections, so that clients cost little. Any local user may connect. So a
 * client keeps its place only if it sends a request at once and reads its answer. If another client
 * comes while all places are taken, the oldest connection without a complete request ends; without
 * such, the oldest that has not read its answer within a second. Slow clients may have all places
 * but two. A client that sends its request at once is not affected, however many others come: its
 * request is complete before its turn to end.
 *
 * To end a connection it is shut down: the thread of the library notices that and closes it.
 */
#include "connections.h"

#include <errno.h>
#include <sys/socket.h>

static const uint64_t PROMPT_NS = 1000000000, MOST_NS = 15000000000;

static struct connection *find_connection(struct connections *c, const void *of)
{
	for (size_t i = 0; i < CONNECTIONS_ALL; i++)
		if (c->all[i].of == of)
			return &c->all[i];
	return NULL;
}

static void end(struct connection *k)
{
	k->has_ended = true;
	shutdown(k->fd, SHUT_RDWR);
}

static size_t count(const struct connections *c)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNECTIONS_ALL; i++)
		n += c->all[i].of && !c->all[i].has_ended;
	return n;
}

static bool is_without_request(const struct connection *k, uint64_t now_ns)
{
	(void)now_ns;
	return !k->asked_ns;
}

static bool is_slow(const struct connection *k, uint64_t now_ns)
{
	return !k->asked_ns && now_ns - k->since_ns > PROMPT_NS;
}

static bool is_slow_reader(const struct connection *k, uint64_t now_ns)
{
	return k->asked_ns && !k->waits && now_ns - k->asked_ns > PROMPT_NS;
}

/* The oldest connection for which @is is true. *ret_n: the number of all these. */
static struct connection *oldest(struct connections *c,
				 bool (*is)(const struct connection *k, uint64_t now_ns),
				 uint64_t now_ns, size_t *ret_n)
{
	struct connection *ret = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < CONNECTIONS_ALL; i++) {
		struct connection *k = &c->all[i];
		if (!k->of || k->has_ended || !is(k, now_ns))
			continue;
		++*ret_n;
		if (!ret || k->since_ns < ret->since_ns)
			ret = k;
	}
	return ret;
}

void connections_add(struct connections *c, const void *of, int fd, uint64_t now_ns)
{
	struct connection *place = find_connection(c, NULL), *goes;
	size_t n;

	if (count(c) >= CONNECTIONS_MOST) {
		goes = oldest(c, is_without_request, now_ns, &n);
		goes = goes ? goes : oldest(c, is_slow_reader, now_ns, &n);
		if (goes)
			end(goes);
	}
	/* Without a place, only the idle timeout ends the connection. */
	if (place)
		*place = (struct connection){.of = of, .fd = fd, .since_ns = now_ns};
}

void connections_remove(struct connections *c, const void *of)
{
	struct connection *k = find_connection(c, of);

	if (k)
		*k = (struct connection){0};
}

void connections_asked(struct connections *c, const void *of, uint64_t now_ns)
{
	struct connection *k = find_connection(c, of);

	if (k)
		k->asked_ns = now_ns;
}

void connections_wait(struct connections *c, const void *of, bool waits)
{
	struct connection *k = find_connection(c, of);

	if (k)
		k->waits = waits;
}

bool connections_has_left(struct connections *c, const void *of)
{
	const struct connection *k = find_connection(c, of);
	char byte;

	if (!k)
		return false;
	ssize_t n = recv(k->fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void connections_tick(struct connections *c, uint64_t now_ns)
{
	struct connection *slow;
	size_t n;

	for (size_t i = 0; i < CONNECTIONS_ALL; i++) {
		struct connection *k = &c->all[i];
		if (k->of && k->waits)
			k->since_ns = now_ns;
		else if (k->of && now_ns - k->since_ns > MOST_NS)
			end(k);
	}
	while ((slow = oldest(c, is_slow, now_ns, &n)) && n > CONNECTIONS_MOST - CONNECTIONS_FRESH)
		end(slow);
}
