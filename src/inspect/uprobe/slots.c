// SPDX-License-Identifier: GPL-2.0-only
/*
 * The area of out-of-line slots is one page. The size of a slot is the architecture's
 * UPROBE_XOL_SLOT_BYTES (its asm/uprobes.h); the first one is where return probes come back to.
 */
#include "bpf.h"

#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
enum { SLOT_BYTES = 128 };
#elif defined(__aarch64__)
enum { SLOT_BYTES = 4 };
#else
enum { SLOT_BYTES = 0 };
#endif

int32_t up_slots(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return SLOT_BYTES != 0 && page > 0
		       ? (int32_t)(page / (SLOT_BYTES != 0 ? SLOT_BYTES : 1) - 1)
		       : -1;
}
