// SPDX-License-Identifier: GPL-2.0-only
/* Why a chain ends, in words. */
#include "kontend/unwind.h"

const char *unwind_reason(enum unwind_end e)
{
	static const char *const reasons[UNWIND_ENDS] = {
		[UNWIND_DONE] = "complete",
		[UNWIND_CUT] = "the stack dump ends",
		[UNWIND_NO_INFO] = "no unwind tables",
		[UNWIND_LOOP] = "frames in a loop",
		[UNWIND_MOST] = "too many frames",
		[UNWIND_BAD] = "damaged, or no registers",
	};

	return (unsigned)e < UNWIND_ENDS ? reasons[e] : "unknown";
}
