/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_LOOK_H
#define KONTEND_RUN_LOOK_H

#include "kontend/error.h"
#include "kontend/opts.h"

struct kerntypes;
struct snapshot_source;
struct snapshot_uprobes;
struct run_look;

/* The looks that a run with these options takes once a tick. */
int run_look_new(struct run_look **ret, const struct opts *o, struct kerntypes *types,
		 struct error *err);
struct snapshot_source *run_look_of(struct run_look *r); /* borrowed; NULL of NULL */
/* The one at uprobes. */
struct snapshot_uprobes *run_look_uprobes(struct run_look *r); /* borrowed */
void run_look_free(struct run_look *r); /* after the source that it was given to */

#endif
