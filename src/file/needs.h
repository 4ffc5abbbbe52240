/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_NEEDS_H
#define KONTEND_SRC_FILE_NEEDS_H

#include "kontend/event.h"
#include "kontend/funcsnap.h"
#include "kontend/sym.h"

/* One of those that name symbols? */
static inline bool event_has_addresses(const struct event *ev)
{
	return ev->kind == EVENT_CONTENTION_BEGIN || ev->kind == EVENT_CONTENTION_END ||
	       ev->kind == EVENT_TIMER_ENTRY || ev->kind == EVENT_SAMPLE;
}

/* Marks of sym_excerpt(): which symbols are needed to name what a record has. */
void needs_event(const struct sym *s, uint8_t *marks, const struct event *ev);
/* Of a snapshot's payload: every word of it that may be an address of the kernel's. */
void needs_snapshot(const struct sym *s, uint8_t *marks, const void *payload, size_t len);
/* Of functions of the kernel that runs here: what their code calls or names. 0 or -ENOMEM. */
int needs_functions(const struct sym *s, uint8_t *marks, const struct funcsnap *f);

#endif
