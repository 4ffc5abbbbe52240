// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that try to get a lock and return at once if they cannot. They never wait, so there are
 * no contention events of them, however long CPUs are busy in there with an atomic instruction on a
 * contended cache line. Names are compared without leading underscores and compiler suffixes; one
 * that ends in '*' is a prefix.
 */
#include "kontend/sym.h"

#include <string.h>

const char sym_trylock_note[] =
	"a trylock spins in cmpxchg and does not wait: the kernel reports no wait";

static const char *const trylocks[] = {
	"arch_spin_trylock",
	"do_raw_read_trylock",
	"do_raw_spin_trylock",
	"do_raw_write_trylock",
	"down_read_trylock",
	"down_trylock",
	"down_write_trylock",
	"mutex_trylock*",
	"percpu_down_read_trylock",
	"queued_read_trylock",
	"queued_spin_trylock",
	"queued_write_trylock",
	"raw_read_trylock*",
	"raw_spin_rq_trylock",
	"raw_spin_trylock*",
	"raw_write_trylock*",
	"resilient_queued_spin_trylock",
	"rt_mutex_slowtrylock",
	"rt_mutex_trylock",
	"rt_read_trylock",
	"rt_spin_trylock*",
	"rt_write_trylock",
	"rwbase_read_trylock",
	"rwbase_write_trylock",
	"ww_mutex_trylock",
};

static bool matches(const char *pattern, const char *name, size_t len)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return len >= n - 1 && memcmp(pattern, name, n - 1) == 0;
	return len == n && memcmp(pattern, name, n) == 0;
}

bool sym_is_trylock(const char *name)
{
	name += strspn(name, "_");
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(trylocks) / sizeof(*trylocks); i++)
		if (matches(trylocks[i], name, len))
			return true;
	return false;
}
