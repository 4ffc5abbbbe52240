/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SESSION_WAITS_H
#define KONTEND_SESSION_WAITS_H

#include "kontend/opts.h"
#include "kontend/waitfeed.h"

/*
 * What tells of waits in place of perf's events, where that can be had and nobody wants these, and
 * who holds locks, if @o asks for it; else NULL. 0 or a negative errno.
 */
int run_waits_new(struct waitfeed **ret, const struct opts *o, struct waitfeed_options w,
		  struct kerntypes *types, struct error *err);

#endif
