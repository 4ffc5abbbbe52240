/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SANDBOX_H
#define KONTEND_REPORT_SANDBOX_H

#include "kontend/jsonw.h"
#include "kontend/sandbox-state.h"

#include <stdio.h>

/* A line, if a recording is read with more rights than necessary. @s: NULL: this is no recording.
 */
void report_sandbox_text(const struct sandbox *s, FILE *out);
/* The member "sandbox" of a recording, with the protections that are missing. */
void report_sandbox_json(const struct sandbox *s, struct jsonw *j);

#endif
