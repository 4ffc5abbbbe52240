/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SESSION_PHASES_H
#define KONTEND_SESSION_PHASES_H

#include "kontend/error.h"
#include "kontend/kerntypes.h"
#include "kontend/live.h"
#include "kontend/opts.h"

/* The look at what the probes of --phases have summed up. */
struct run_phases;

/* Nothing is placed unless it is asked for: *ret is NULL then. 0 or negative with @err. */
int run_phases_new(struct run_phases **ret, const struct opts *o, struct kerntypes *types,
		   struct error *err);
struct snapshot_source *run_phases_look(struct run_phases *p); /* NULL: none */
void run_phases_free(struct run_phases *p);		       /* NULL is fine */

#endif
