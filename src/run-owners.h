/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RUN_OWNERS_H
#define KONTEND_SRC_RUN_OWNERS_H

#include "kontend/opts.h"
#include "kontend/ownerfeed.h"

/* What tells who holds locks, if @o asks for it, else NULL. 0 or a negative errno. */
int run_owners_new(struct ownerfeed **ret, const struct opts *o, const struct target *target,
		   struct kerntypes *types, struct error *err);

#endif
