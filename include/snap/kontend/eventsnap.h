/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENTSNAP_H
#define KONTEND_EVENTSNAP_H

#include "kontend/sections.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Names of the events of a recording, and of PMUs of the machine, as the program that recorded
 * wrote them: the payload of SNAPSHOT_EVENTS. References to texts are offsets, 0: none.
 */
enum { EVENTSNAP_VERSION = 1 };

struct eventsnap_event {
	uint64_t id;	/* the first of the event's ids; 0: it has none */
	uint32_t index; /* of its attribute in the recording */
	uint32_t name;	/* text */
};

struct eventsnap_pmu {
	uint32_t type; /* perf_event_attr.type of its events */
	uint32_t name; /* text */
};

/* A name of all events with this attribute, where they have none of their own. */
struct eventsnap_kind {
	uint64_t config; /* as in perf_event_attr */
	uint32_t type;
	uint32_t name; /* text */
};
enum { EVENTSNAP_KINDS = 256 }; /* at most */

struct eventsnap {
	struct eventsnap_event *events;
	struct eventsnap_pmu *pmus;
	struct eventsnap_kind *kinds;
	char *strings;
	size_t n_events, n_pmus, n_kinds, n_strings;
	size_t cap_events, cap_pmus, cap_kinds, cap_strings;
};

SECTIONS_FUNCTIONS(eventsnap)
SECTIONS_ADD(eventsnap, event, events, struct eventsnap_event)
SECTIONS_ADD(eventsnap, pmu, pmus, struct eventsnap_pmu)
SECTIONS_ADD(eventsnap, kind, kinds, struct eventsnap_kind)
SECTIONS_ADD_TEXT(eventsnap)

/* The name of the event with that id, or without ids with that index; "": not recorded. */
const char *eventsnap_name(const struct eventsnap *s, uint64_t id, uint32_t index);
/* The name of events with this attribute; "": not recorded. */
const char *eventsnap_kind_name(const struct eventsnap *s, uint32_t type, uint64_t config);
/* The name of the PMU, "": not recorded. */
const char *eventsnap_pmu_name(const struct eventsnap *s, uint32_t type);

#endif
