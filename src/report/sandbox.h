/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SANDBOX_H
#define KONTEND_REPORT_SANDBOX_H

#include "kontend/jsonw.h"
#include "kontend/sandbox-state.h"

#include <stdio.h>

/* @s: NULL: it is no recording. A line, where a recording is read with more rights than that takes.
 */
void report_sandbox_text(const struct sandbox *s, FILE *out);
/* "sandbox", of a recording, and what that lacks. */
void report_sandbox_json(const struct sandbox *s, struct jsonw *j);

#endif
