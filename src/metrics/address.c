// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int wrong(const char *text, const char *option, struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s '%s': give a port from 0 to 65535, or an address in numbers and a "
			 "port, like 192.0.2.1:9417 or [::1]:9417",
			 option, text);
}

static bool read_port(const char *s, uint16_t *ret)
{
	uint32_t port = 0;

	if (!*s || strlen(s) > 5)
		return false;
	for (; *s >= '0' && *s <= '9'; s++)
		port = port * 10 + (uint32_t)(*s - '0');
	*ret = (uint16_t)port;
	return !*s && port <= UINT16_MAX;
}

int metrics_address_parse(const char *text, const char *option, struct metrics_address *ret,
			  struct error *err)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	const char *from = text;
	char host[INET6_ADDRSTRLEN];

	*ret = (struct metrics_address){.bytes = {127, 0, 0, 1}};
	if (!read_port(colon ? colon + 1 : text, &ret->port))
		return wrong(text, option, err);
	if (!colon)
		return 0;
	ret->is_v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
	if (ret->is_v6) {
		from++;
		len -= 2;
	}
	if (!len || len >= sizeof(host))
		return wrong(text, option, err);
	memcpy(host, from, len);
	host[len] = '\0';
	if (inet_pton(ret->is_v6 ? AF_INET6 : AF_INET, host, ret->bytes) != 1)
		return wrong(text, option, err);
	return 0;
}

const char *metrics_address_text(const struct metrics_address *a, char buf[METRICS_ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, a->bytes, host, sizeof(host));
	snprintf(buf, METRICS_ADDRESS_TEXT, a->is_v6 ? "[%s]:%u" : "%s:%u", host, a->port);
	return buf;
}

/* True for 127.0.0.0/8, ::1, and addresses of the former mapped to IPv6. */
bool metrics_address_is_loopback(const struct metrics_address *a)
{
	static const uint8_t one[16] = {[15] = 1}, mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (!a->is_v6)
		return a->bytes[0] == 127;
	return memcmp(a->bytes, one, sizeof(one)) == 0 ||
	       (memcmp(a->bytes, mapped, sizeof(mapped)) == 0 && a->bytes[12] == 127);
}
