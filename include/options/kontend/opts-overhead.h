/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTS_OVERHEAD_H
#define KONTEND_OPTS_OVERHEAD_H

#include "kontend/error.h"
#include "kontend/opts.h"

/*
 * Value of --max-overhead, in millionths of the CPU time of all CPUs; 0: off. -EINVAL with @err:
 * not a number from 0.01 to 100, with or without a percent sign.
 */
int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err);

#endif
