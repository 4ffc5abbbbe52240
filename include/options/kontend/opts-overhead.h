/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTS_OVERHEAD_H
#define KONTEND_OPTS_OVERHEAD_H

#include "kontend/error.h"
#include "kontend/opts.h"

/*
 * What --max-overhead says, in millionths of the CPU time of all CPUs; 0: off. -EINVAL with @err:
 * no number from 0.01 to 100, with or without a percent sign.
 */
int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err);
/*
 * Waits of so long must be told one by one, whatever that costs, as --trigger asks for them: the
 * lowest limit of a wait, and no more than 16 ms. 0: there is no trigger.
 */
uint64_t opts_overhead_floor_ns(const struct opts *o);

#endif
