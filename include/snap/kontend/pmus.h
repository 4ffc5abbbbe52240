/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PMUS_H
#define KONTEND_PMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PMUs that rotate events when there are more than counters, and their interval: the payload of a
 * SNAPSHOT record of kind SNAPSHOT_PMUS. Software PMUs, and those that only read free-running
 * counters, never rotate and are left out, though they have the same file.
 */
enum { PMUS_VERSION = 1, PMUS_MOST = 64, PMUS_NAME = 40, PMUS_REASON = 256 };

struct pmus_item {
	char name[PMUS_NAME]; /* "armv8_pmuv3" */
	uint32_t type;	      /* perf_event_attr.type */
	uint32_t interval_ms; /* > 0: perf_event_mux_interval_ms */
};

struct pmus {
	uint32_t n;
	uint32_t pad;
	char reason[PMUS_REASON]; /* "", or why rotation is not measured though there are PMUs */
	struct pmus_item items[PMUS_MOST];
};

/* Reads the directory @dir ("/sys/bus/event_source/devices"); unreadable PMUs are left out. */
void pmus_read(const char *dir, struct pmus *ret);
/* Find by name, or by perf_event_attr.type; NULL: none. */
const struct pmus_item *pmus_find(const struct pmus *p, const char *name);

/* Size of the payload: the used part of the struct. */
size_t pmus_size(const struct pmus *p);
/* False: not a valid payload. All texts of *ret are terminated. */
bool pmus_decode(const void *data, size_t len, struct pmus *ret);

#endif
