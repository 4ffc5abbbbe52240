// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/pidns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char mark[] = " in PID ns ";

uint32_t pidns_own(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : PIDNS_INITIAL;
}

bool pidns_is_inner(void)
{
	return pidns_own() != PIDNS_INITIAL;
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
	unsigned long n = at ? strtoul(at + strlen(mark), NULL, 10) : 0;

	return n && n <= UINT32_MAX ? (uint32_t)n : PIDNS_INITIAL;
}
