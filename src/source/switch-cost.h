/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_SWITCH_COST_H
#define KONTEND_SOURCE_SWITCH_COST_H

#include <stdint.h>

/*
 * The part of the measured time that a switch record itself takes, in picoseconds for each event of
 * the task that goes off the CPU. 0: not known, as no events can be opened.
 */
uint64_t switch_cost_measure(void);

#endif
