/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_SWITCH_COST_H
#define KONTEND_SOURCE_SWITCH_COST_H

#include <stdint.h>

/*
 * What a switch record itself takes of the time that is measured with it, in picoseconds for each
 * event of the task that goes off. 0: not known, as no events can be opened.
 */
uint64_t switch_cost_measure(void);

#endif
