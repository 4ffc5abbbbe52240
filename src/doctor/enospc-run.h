/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DOCTOR_ENOSPC_RUN_H
#define KONTEND_DOCTOR_ENOSPC_RUN_H

#include "kontend/enospc.h"
#include "kontend/opts.h"

#include <stdio.h>

enum { ENOSPC_EXIT_FITS = 0, ENOSPC_EXIT_NOT = 1, ENOSPC_EXIT_UNKNOWN = 2 };

/* `kontend doctor --enospc`: the question, and the results. */
struct enospc_run {
	const struct opts *opts;
	struct enospc_ask ask;
	struct enospc_count *counts; /* of ask */
	struct error refusal;	     /* what the kernel says whatever the slots; code 0: nothing */
	struct perfsnap snap;
	struct enospc result;
};

/* The exit status that says it too. */
int enospc_run_status(const struct enospc_run *c);
void enospc_run_put_text(FILE *out, const struct enospc_run *c);
void enospc_run_put_json(FILE *out, const struct enospc_run *c);

#endif
