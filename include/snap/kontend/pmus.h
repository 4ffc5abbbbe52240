/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PMUS_H
#define KONTEND_PMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The PMUs whose events take turns when there are more of them than counters, and how often: the
 * payload of a SNAPSHOT record of kind SNAPSHOT_PMUS. Those of software, and those that only read
 * what counts anyway, never rotate and are not in it, though they have the same file.
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

/* Of the directory @dir ("/sys/bus/event_source/devices"); those that cannot be read are none. */
void pmus_read(const char *dir, struct pmus *ret);
/* By name, or by perf_event_attr.type; NULL: none of them. */
const struct pmus_item *pmus_find(const struct pmus *p, const char *name);

/* Bytes of the payload, at most sizeof(struct pmus): the struct as far as it is used. */
size_t pmus_size(const struct pmus *p);
/* False when these bytes are none; all texts of *ret end. */
bool pmus_decode(const void *data, size_t len, struct pmus *ret);

#endif
