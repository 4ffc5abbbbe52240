/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SCRIPT_MM_H
#define KONTEND_REPORT_SCRIPT_MM_H

#include "event-names.h"

#include <stdio.h>

/* Is it an mmap_lock event: start, acquired or released? */
bool script_mm_is(const struct event *ev);
/* Writes its line, right after the model of @e has taken the event. Errors are those of @out. */
void script_mm_put(const struct engine *e, const struct event *ev, FILE *out, bool json);

#endif
