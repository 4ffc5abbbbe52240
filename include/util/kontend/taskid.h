/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TASKID_H
#define KONTEND_TASKID_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Numbers of threads and processes are those of the PID namespace that kontend measures in, as ps
 * there has them. Tasks outside of it have none there: theirs is the number that the initial
 * namespace has for them, with a bit that no number of a task reaches (PID_MAX_LIMIT is 1 << 22).
 * So one number never means two tasks.
 */
enum { TASKID_OUTSIDE = 1 << 30, TASKID_TEXT = 24 };

static inline bool taskid_is_outside(int32_t id)
{
	return id >= TASKID_OUTSIDE;
}

/* Of a task outside, by its number in the initial namespace. */
static inline int32_t taskid_outside(int32_t host)
{
	return (int32_t)((uint32_t)host | TASKID_OUTSIDE);
}

/* "812"; of a task outside "812@host". Answers @buf. */
const char *taskid_text(char buf[TASKID_TEXT], int32_t id);
/* As a number, in tables and JSON: of a task outside that of the initial namespace, negative. */
static inline int32_t taskid_number(int32_t id)
{
	return taskid_is_outside(id) ? -(id & ~TASKID_OUTSIDE) : id;
}

#endif
