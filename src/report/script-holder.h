/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SCRIPT_HOLDER_H
#define KONTEND_REPORT_SCRIPT_HOLDER_H

#include "event-names.h"

#include <stdio.h>

/* The line of an EVENT_HOLDER: the activity of a task that holds a lock for which others wait. */
void script_holder_put(struct event_names *n, const struct event *ev, FILE *out, bool json);

#endif
