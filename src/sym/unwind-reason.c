// SPDX-License-Identifier: GPL-2.0-only
/* Why a chain ends, in words. */
#include "kontend/unwind.h"

const char *unwind_reason(enum unwind_end e)
{
	static const char *const reasons[UNWIND_ENDS] = {
		[UNWIND_DONE] = "complete",
		[UNWIND_CUT] = "stack dump ends",
		[UNWIND_NO_INFO] = "no unwind tables",
		[UNWIND_LOOP] = "frames in a loop",
		[UNWIND_MOST] = "too many frames",
		[UNWIND_BAD] = "damaged, or no registers",
		[UNWIND_NO_FILE] = "file not found",
		[UNWIND_NO_RIGHT] = "file not readable",
		[UNWIND_OTHER_FILE] = "maybe another file",
		[UNWIND_32BIT] = "32-bit program",
		[UNWIND_NO_MAPS] = "mappings not known",
		[UNWIND_NONE] = "no unwinder",
	};

	return (unsigned)e < UNWIND_ENDS ? reasons[e] : "unknown";
}
