// SPDX-License-Identifier: GPL-2.0-only
/* Text for each state; a complete sandbox needs none. */
#include "kontend/sandbox-state.h"

#include <stdio.h>

const char *sandbox_name(const struct sandbox *s)
{
	static const char *const names[] = {
		[SANDBOX_ON] = "on", [SANDBOX_PARTIAL] = "partial", [SANDBOX_OFF] = "off"};

	return s ? names[s->state] : NULL;
}

const char *sandbox_note(const struct sandbox *s, char *buf, size_t size)
{
	if (!s || s->state == SANDBOX_NONE || s->state == SANDBOX_ON)
		return NULL;
	if (s->state == SANDBOX_OFF)
		snprintf(buf, size, "sandbox off (--no-sandbox)");
	else
		snprintf(buf, size, "sandbox in part: %s", s->why);
	return buf;
}
