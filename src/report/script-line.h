/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SCRIPT_LINE_H
#define KONTEND_REPORT_SCRIPT_LINE_H

#include "event-names.h"
#include "kontend/taskid.h"

/* What the columns of a line of text say. No text is longer than EVENT_NAMES_TEXT. */
struct script_line {
	const char *comm; /* NULL: not known */
	int32_t tid;
	const char *event, *type, *lock, *flags, *wait, *caller;
};

enum { SCRIPT_LINE_TASK = EVENT_NAMES_TEXT + TASKID_TEXT };

/* "bash/812"; answers @buf. */
const char *script_line_task(char buf[SCRIPT_LINE_TASK], const char *comm, int32_t tid);
void script_line_head(FILE *out); /* what the columns are called */
void script_line_put(const struct event *ev, const struct script_line *l, FILE *out);
/* Of an event of no task: "8 records" and no columns behind @event. */
void script_line_say(const struct event *ev, const char *event, const char *words, FILE *out);

#endif
