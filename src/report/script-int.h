/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_SCRIPT_INT_H
#define KONTEND_REPORT_SCRIPT_INT_H

#include "event-names.h"
#include "kontend/taskid.h"

#include <stdio.h>

/* script.c: the columns of a line of text. But for ON no text is longer than EVENT_NAMES_TEXT. */
struct script_line {
	const char *comm; /* NULL: unknown */
	int32_t tid;
	const char *event, *type, *lock, *flags, *wait, *caller;
	const char *syscall, *on, *at; /* NULL: the line has none */
};

enum { SCRIPT_LINE_TASK = EVENT_NAMES_TEXT + TASKID_TEXT };

/* "bash/812"; returns @buf. */
const char *script_line_task(char buf[SCRIPT_LINE_TASK], const char *comm, int32_t tid);
void script_line_head(FILE *out); /* the names of the columns */
void script_line_put(const struct event *ev, const struct script_line *l, FILE *out);
/* For an event without a task: "8 records", with no columns after @event. */
void script_line_say(const struct event *ev, const char *event, const char *words, FILE *out);

/* script-holder.c: the line of an EVENT_HOLDER: the activity of a task that holds a lock for which
 * others wait. */
void script_holder_put(struct event_names *n, const struct event *ev, FILE *out, bool json);

/* script-sleep.c: the line of an EVENT_SLEEP; @at: of its program, NULL: not known. */
void script_sleep_put(const struct event_names *n, const struct event *ev, const char *at,
		      FILE *out, bool json);

/* script-user.c: the line of an EVENT_USER; @at: as above. */
void script_user_put(const struct event *ev, const char *at, FILE *out, bool json);

/* script-mm.c: true if it is an mmap_lock event: start, acquired or released. */
bool script_mm_is(const struct event *ev);
/* Writes its line, right after the model of @e has taken the event. Errors are those of @out. */
void script_mm_put(const struct engine *e, const struct event *ev, FILE *out, bool json);

#endif
