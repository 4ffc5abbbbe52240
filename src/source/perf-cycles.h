/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_PERF_CYCLES_H
#define KONTEND_SOURCE_PERF_CYCLES_H

#include <stdbool.h>

/*
 * Is there no PMU that samples cycles, as in most virtual machines? What else may be in the way is
 * told by opening them.
 */
bool perf_lacks_cycles(void);

#endif
