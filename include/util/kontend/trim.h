/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRIM_H
#define KONTEND_TRIM_H

#include <stdint.h>

/*
 * At some of the ticks of a long session: returns free blocks to the system, which frames, files
 * and copies have left.
 */
void trim_at_tick(uint64_t tick);

#endif
