// SPDX-License-Identifier: GPL-2.0-only
/* Why a line of source is not known, for people. */
#include "kontend/srclines.h"

const char *srclines_reason(enum srclines_answer a)
{
	static const char *const reasons[SRCLINES_ANSWERS] = {
		[SRCLINES_PENDING] = "debug information is being read",
		[SRCLINES_OK] = "known",
		[SRCLINES_NO_FILE] = "the file is not to be opened",
		[SRCLINES_NO_INFO] = "no debug information",
		[SRCLINES_NO_LINE] = "debug information says nothing of it",
		[SRCLINES_DAMAGED] = "debug information damaged",
		[SRCLINES_NO_MEMORY] = "out of memory",
		[SRCLINES_NOT_BUILT] = "kontend was built without libdw",
		[SRCLINES_GIVEN_UP] = "debug information is not read any more: too much is damaged",
		[SRCLINES_KERNEL] = "lines of the kernel are not looked for",
		[SRCLINES_TOO_LONG] = "reading debug information takes too long",
	};

	return (unsigned)a < SRCLINES_ANSWERS ? reasons[a] : "unknown";
}
