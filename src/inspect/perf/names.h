/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_NAMES_H
#define KONTEND_INSPECT_NAMES_H

#include "kontend/map64.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Addresses of processes that were looked up in their maps, kept: most breakpoints stay. By the
 * number of the event, which is never used twice, while pids are. = {0} is an empty one.
 */
struct names {
	struct names_entry {
		char text[112];
	} * entries;
	size_t n, cap;
	struct map64 at; /* event -> index into entries */
	unsigned budget; /* maps that may still be read before the next names_begin() */
};

/*
 * The name of an event as perf's tools write it: "cycles", "sched:sched_switch", "mem:0x4028:w".
 * @pmu is the name of its PMU, @system and @name those of its trace event, "" if it has none.
 */
void names_event(char *ret, size_t size, uint32_t type, uint64_t config, uint32_t bp_type,
		 uint64_t bp_addr, const char *pmu, const char *system, const char *name);

/* A snapshot begins: it may read some maps; who is left out then has its turn in the next one. */
void names_begin(struct names *n);
/*
 * The result of where.h for the address that event @id watches in process @pid, by its maps under
 * @root ("/proc"). "" for an address of the kernel, when it cannot be read, or not yet. Borrowed
 * until the next call.
 */
const char *names_where(struct names *n, const char *root, uint64_t id, int32_t pid, uint64_t addr);
void names_deinit(struct names *n);

#endif
