/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENTLIST_H
#define KONTEND_EVENTLIST_H

#include "kontend/error.h"
#include "kontend/eventsnap.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/*
 * The events of a stream, in the order of their RECORD_ATTR: an event's number is its place in the
 * list. All events from the last one on have its number, and the name "others".
 */
enum { EVENTLIST_MOST = 64, EVENTLIST_NAME = 80 };

struct eventlist_event {
	uint64_t id;	 /* the first of its ids; 0: none */
	uint32_t type;	 /* enum perf_type_id, or a PMU's number */
	uint64_t config; /* as in perf_event_attr */
	uint64_t rate;	 /* samples per second if `freq`, else events per sample; 0: counted */
	bool freq;
	bool chains;	 /* samples have call chains */
	bool is_profile; /* it samples where CPUs spend their time: see eventlist_is_profile() */
	bool is_time;	 /* cycles, or one of the kernel's clocks */
	bool is_clock;	 /* one of the kernel's clocks */
	bool is_own;	 /* output of BPF programs, and records of kontend */
	bool is_used;	 /* a tracepoint that waits, mmap_lock or timers are read from */
	bool no_format;	 /* a tracepoint whose format has not come: fields cannot be decoded */
	char name[EVENTLIST_NAME];
};

struct eventlist {
	struct eventlist_event *events;
	size_t n, cap;	 /* at most EVENTLIST_MOST */
	bool has_others; /* the last stands for several */
	struct eventlist_tracepoint {
		uint64_t id;
		bool is_used;
		char name[EVENTLIST_NAME];
	} * tracepoints; /* with a format */
	size_t n_tracepoints, cap_tracepoints;
	struct eventsnap names; /* as recorded */
};

void eventlist_deinit(struct eventlist *l);
/* The body of a RECORD_ATTR, one that decode_add_attr() accepts. 0 or -ENOMEM. */
int eventlist_add(struct eventlist *l, const void *data, size_t len);
/* The payload of a SNAPSHOT_EVENTS. 0 or -ENOMEM; other errors leave the names as they are. */
int eventlist_take_names(struct eventlist *l, const void *payload, size_t len);
/* The body of a RECORD_FORMAT: names the tracepoint, unless the stream has. 0 or -ENOMEM. */
int eventlist_take_format(struct eventlist *l, const void *data, size_t len);

/*
 * The events that @pattern selects, one bit each: names, numbers from 1 on, globs as of fnmatch(3),
 * separated by commas, or "all". An event of two PMUs, as "cycles" of cpu_core and cpu_atom, is
 * selected by the name without PMUs as well. 0: none fits.
 */
uint64_t eventlist_match(const struct eventlist *l, const char *pattern);
/* -EINVAL with @err, which names the events, if @pattern selects none. NULL selects what it may. */
int eventlist_check(const struct eventlist *l, const char *pattern, struct error *err);
/* All events that count the same on other PMUs, and @number itself, one bit each. */
uint64_t eventlist_same(const struct eventlist *l, size_t number);

/* True if it samples where CPUs spend their time, like hardware and clock events. */
bool eventlist_is_profile(const struct perf_event_attr *attr);
/* The number that samples of the attribute at @index have. */
static inline uint8_t eventlist_number(size_t index)
{
	return (uint8_t)(index < EVENTLIST_MOST ? index : EVENTLIST_MOST - 1);
}

/* Names an event as perf does; @pmu: the PMU's name, "": not known. Not of breakpoints. */
void eventlist_name(char *ret, size_t size, uint32_t type, uint64_t config, const char *pmu);

#endif
