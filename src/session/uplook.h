/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_UPLOOK_H
#define KONTEND_RUN_UPLOOK_H

#include "kontend/error.h"
#include "kontend/opts.h"

struct kerntypes;
struct look;
struct run_uplook;
struct uplook;

/* The look at uprobes of a run with these options. */
int run_uplook_new(struct run_uplook **ret, const struct opts *o, struct kerntypes *types,
		   struct error *err);
struct uplook *run_uplook_inner(struct run_uplook *r); /* borrowed */
struct look *run_uplook_of(struct run_uplook *r);      /* borrowed */
void run_uplook_free(struct run_uplook *r);	       /* NULL is fine */

#endif
