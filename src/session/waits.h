/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SESSION_WAITS_H
#define KONTEND_SESSION_WAITS_H

#include "kontend/opts.h"
#include "kontend/waitfeed.h"

/*
 * The BPF feed of waits in place of perf's events, if it is available and these are not wanted, and
 * of owners of locks, if @o asks for it; else NULL. 0 or a negative errno. @refused: gets a
 * sentence where the kernel refused programs that no option demands, so that others do without:
 * which these are, what the kernel said, and what is not known then. Not for a kontend without BPF.
 */
int run_waits_new(struct waitfeed **ret, const struct opts *o, struct waitfeed_options w,
		  struct kerntypes *types, struct error *refused, struct error *err);
/* The same where tasks outside of our PID namespace cannot be found, as @why says. */
void run_waits_refused(struct error *refused, bool inner, const struct error *why);

#endif
