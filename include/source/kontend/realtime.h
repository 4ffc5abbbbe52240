/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REALTIME_H
#define KONTEND_REALTIME_H

#include "kontend/error.h"

/*
 * Whether the kernel lets the calling thread run under SCHED_FIFO, which it does not from then on.
 * 0, or a negative errno and a sentence that says what would have to change.
 */
int realtime_try(struct error *err);
/*
 * The calling thread runs before all that are not real-time, as long as it lives; what it forks
 * does not. The kernel's own bound of real-time tasks (kernel.sched_rt_runtime_us) holds for it.
 */
void realtime_begin(void);

#endif
