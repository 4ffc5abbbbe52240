// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles with the paths and default durations of Go's net/http/pprof, which profile stores
 * request. A mutex profile has all locks, a block profile those whose waiters sleep.
 */
#include "server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char folder[] = "/debug/pprof/";

static const struct {
	const char *name;
	unsigned seconds; /* default duration */
} kinds[] = {
	[SAMPLES_WAITS] = {"mutex", 10},
	[SAMPLES_SLEEPS] = {"block", 10},
	[SAMPLES_CPU] = {"profile", 30},
};

bool asked_path(const char *url, struct asked *ret)
{
	if (strncmp(url, folder, sizeof(folder) - 1) != 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(url + sizeof(folder) - 1, kinds[i].name) != 0)
			continue;
		*ret = (struct asked){(enum query_samples_what)i, kinds[i].seconds};
		return true;
	}
	return false;
}

const char *asked_name(enum query_samples_what what)
{
	return kinds[what].name;
}

bool asked_seconds(const char *seconds, struct asked *a, char ret_why[ASKED_WORDS])
{
	unsigned n = 0;

	if (!seconds)
		return true;
	size_t len = strspn(seconds, "0123456789");
	for (size_t i = 0; i < len && n <= ASKED_SECONDS; i++)
		n = n * 10 + (unsigned)(seconds[i] - '0');
	a->seconds = n;
	if (len && !seconds[len] && n && n <= ASKED_SECONDS)
		return true;
	snprintf(ret_why, ASKED_WORDS, "A profile is of 1 to %d whole seconds, like ?seconds=10.\n",
		 ASKED_SECONDS);
	return false;
}

bool asked_host(const char *host)
{
	uint8_t bytes[16];
	char name[INET6_ADDRSTRLEN];

	if (!host)
		return true;
	bool is_v6 = *host == '[';
	size_t len = strcspn(host + is_v6, is_v6 ? "]" : ":");
	const char *rest = host + is_v6 + len;
	if (is_v6 && *rest++ != ']')
		return false;
	bool has_port = *rest == ':' && !rest[1 + strspn(rest + 1, "0123456789")];

	if ((*rest && !has_port) || len >= sizeof(name))
		return false;
	memcpy(name, host + is_v6, len);
	name[len] = '\0';
	return (!is_v6 && strcasecmp(name, "localhost") == 0) ||
	       inet_pton(is_v6 ? AF_INET6 : AF_INET, name, bytes) == 1;
}
