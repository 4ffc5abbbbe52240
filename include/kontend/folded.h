/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FOLDED_H
#define KONTEND_FOLDED_H

#include "kontend/query.h"
#include <stdio.h>

/*
 * Folded stacks, as flame graph tools read them: "comm;outermost;...;caller;[rwsem:W] 165000000", a
 * line each, the number being ns waited. Waits in flight have a last frame of their own,
 * "[rwsem:W, still waiting]". 0, -ENOMEM, or the errno of a failed write, with @err.
 */
int folded_write(struct query *q, FILE *out, struct error *err);

#endif
