/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TASKID_H
#define KONTEND_TASKID_H

#include <stdbool.h>
#include <stdint.h>

/*
 * PIDs and TIDs are those of the PID namespace that kontend measures in, as in its ps. Tasks
 * outside of it have none there: theirs is the PID in the initial namespace, with a bit that no PID
 * reaches (PID_MAX_LIMIT is 1 << 22). So no number means two tasks.
 */
enum { TASKID_OUTSIDE = 1 << 30, TASKID_TEXT = 24 };

static inline bool taskid_is_outside(int32_t id)
{
	return id >= TASKID_OUTSIDE;
}

/* Id of a task outside, from its PID in the initial namespace. */
static inline int32_t taskid_outside(int32_t host)
{
	return (int32_t)((uint32_t)host | TASKID_OUTSIDE);
}

/* "812"; of a task outside "812@host". Returns @buf. */
const char *taskid_text(char buf[TASKID_TEXT], int32_t id);
/* As a number, in tables and JSON: a task outside has the negative PID of the initial namespace. */
static inline int32_t taskid_number(int32_t id)
{
	return taskid_is_outside(id) ? -(id & ~TASKID_OUTSIDE) : id;
}

#endif
