// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/pidns.h"
#include "kontend/number.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char mark[] = " in PID ns ";

static uint32_t inode_of(const char *path, uint32_t none)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : none;
}

uint32_t pidns_own(void)
{
	return inode_of("/proc/self/ns/pid", PIDNS_INITIAL);
}

uint32_t pidns_own_mounts(void)
{
	return inode_of("/proc/self/ns/mnt", 0);
}

bool pidns_has_users(void)
{
	const uint32_t initial = 0xeffffffd; /* include/linux/proc_ns.h: PROC_USER_INIT_INO */

	return inode_of("/proc/self/ns/user", initial) != initial;
}

bool pidns_is_inner(void)
{
	return pidns_own() != PIDNS_INITIAL;
}

const char *pidns_unseen(void)
{
	return pidns_is_inner() ? "; processes outside of this PID namespace are not seen" : "";
}

void pidns_say(char *ret, size_t size, const char *method)
{
	uint32_t own = pidns_own();

	if (own == PIDNS_INITIAL)
		snprintf(ret, size, "%s", method);
	else
		snprintf(ret, size, "%s%s%u", method, mark, own);
}

uint32_t pidns_said(const char *method)
{
	const char *at = strstr(method, mark);
	uint64_t n = 0;

	if (!at)
		return PIDNS_INITIAL;
	at += strlen(mark);
	number_take(&at, UINT32_MAX, &n);
	return n ? (uint32_t)n : PIDNS_INITIAL;
}

bool pidns_is_ours(const char *method)
{
	return !strstr(method, "ring") || pidns_said(method) == pidns_own();
}
