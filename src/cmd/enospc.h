/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_ENOSPC_H
#define KONTEND_CMD_ENOSPC_H

#include "kontend/enospc.h"
#include "kontend/opts.h"

#include <stdio.h>

enum { CMD_ENOSPC_FITS = 0, CMD_ENOSPC_NOT = 1, CMD_ENOSPC_UNKNOWN = 2 };

/* `kontend doctor --enospc`: the question, and the results. */
struct cmd_enospc {
	const struct opts *opts;
	struct enospc_ask ask;
	struct enospc_count *counts; /* of ask */
	struct error refusal;	     /* what the kernel says whatever the slots; code 0: nothing */
	struct perfsnap snap;
	struct enospc result;
};

/* The exit status that says it too. */
int cmd_enospc_status(const struct cmd_enospc *c);
void cmd_enospc_put_text(FILE *out, const struct cmd_enospc *c);
void cmd_enospc_put_json(FILE *out, const struct cmd_enospc *c);

#endif
