// SPDX-License-Identifier: GPL-2.0-only
/* The lock, or the type of locks, whose holds are measured. */
#include "kontend/holdsnap.h"
#include "kontend/number.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { SHORTEST = 9 }; /* digits of an address: anything shorter may be a name */

static bool take_address(const char *text, uint64_t *ret)
{
	bool marked = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *at = marked ? text + 2 : text;
	size_t len = strlen(at);
	uint64_t addr;

	if ((!marked && len < SHORTEST) || number_take_hex(&at, &addr) < 0 || *at)
		return false;
	*ret = addr;
	return true;
}

int holdsnap_parse(const char *text, struct holdsnap_asked *ret, struct error *err)
{
	static const struct {
		const char *name;
		uint32_t kinds; /* 0: they cannot be measured */
	} types[] = {
		{"mutex", 1u << HOLDSNAP_MUTEX},
		{"rwsem", 1u << HOLDSNAP_WRITE | 1u << HOLDSNAP_READ},
		{"rwsem:W", 1u << HOLDSNAP_WRITE},
		{"rwsem:R", 1u << HOLDSNAP_READ},
		{"spinlock", 0},
		{"rwlock:R", 0},
		{"rwlock:W", 0},
		{"rt-mutex", 0},
		{"pcpu-sem", 0},
		{"pcpu-sem:R", 0},
		{"pcpu-sem:W", 0},
		{"semaphore", 0},
	};

	*ret = (struct holdsnap_asked){.text = text};
	if (!*text)
		return error_set(err, -EINVAL, "--holds: give a lock or a type of locks");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].name, text) != 0)
			continue;
		ret->kinds = types[i].kinds;
		return ret->kinds ? 0
				  : error_set(err, -EINVAL,
					      "--holds '%s': holds are measured of mutex, rwsem, "
					      "rwsem:R and rwsem:W, as these have functions where "
					      "a program can be placed",
					      text);
	}
	(void)take_address(text, &ret->lock);
	return 0;
}
