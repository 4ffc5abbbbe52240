/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_UPROBES_H
#define KONTEND_RUN_UPROBES_H

#include "kontend/error.h"
#include "kontend/opts.h"

struct kerntypes;
struct snapshot_source;
struct run_uprobes;
struct snapshot_uprobes;

/* The look at uprobes of a run with these options. */
int run_uprobes_new(struct run_uprobes **ret, const struct opts *o, struct kerntypes *types,
		    struct error *err);
struct snapshot_uprobes *run_uprobes_inner(struct run_uprobes *r); /* borrowed */
struct snapshot_source *run_uprobes_of(struct run_uprobes *r);	   /* borrowed */
void run_uprobes_free(struct run_uprobes *r);			   /* NULL is fine */

#endif
