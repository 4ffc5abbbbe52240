/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SLOTS_H
#define KONTEND_INSPECT_SLOTS_H

#include <stdint.h>

/* The breakpoint slots that each CPU of this machine has. */
struct slots_machine {
	uint32_t pools;	  /* 0: not known for this architecture */
	uint32_t type[2]; /* enum snap_slot_type */
	int32_t slots[2];
};

struct slots_machine slots_of_machine(void);

#endif
