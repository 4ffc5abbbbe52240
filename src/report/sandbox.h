/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SANDBOX_H
#define KONTEND_REPORT_SANDBOX_H

#include "kontend/engine.h"
#include "kontend/jsonw.h"

#include <stdio.h>

/* A line, where a recording is read with more rights than that takes. */
void report_sandbox_text(const struct engine *e, FILE *out);
/* "sandbox", of a recording, and what that lacks. */
void report_sandbox_json(const struct engine *e, struct jsonw *j);

#endif
