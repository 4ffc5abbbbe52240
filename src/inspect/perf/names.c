// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events, and of the places that breakpoints watch. An address of user space has a meaning
 * only in its process, whose maps are read when the address is seen for the first time.
 */
#include "internal.h"
#include "kontend/eventlist.h"
#include "kontend/mem.h"

#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum {
	ENTRIES_MAX = 16384, /* then the cache is cleared */
	MAPS_A_SNAPSHOT = 16 /* some milliseconds, with symbols of programs */
};

static void breakpoint_name(char *ret, size_t size, uint32_t bp_type, uint64_t bp_addr)
{
	snprintf(ret, size, "mem:0x%" PRIx64 ":%s%s%s", bp_addr,
		 bp_type & HW_BREAKPOINT_R ? "r" : "", bp_type & HW_BREAKPOINT_W ? "w" : "",
		 bp_type & HW_BREAKPOINT_X ? "x" : "");
}

void names_event(char *ret, size_t size, uint32_t type, uint64_t config, uint32_t bp_type,
		 uint64_t bp_addr, const char *pmu, const char *system, const char *name)
{
	if (type == PERF_TYPE_BREAKPOINT)
		breakpoint_name(ret, size, bp_type, bp_addr);
	else if (name[0])
		snprintf(ret, size, "%s%s%s", system, system[0] ? ":" : "", name);
	else
		eventlist_name(ret, size, type, config, type == PERF_TYPE_HARDWARE ? "" : pmu);
}

void names_begin(struct names *n)
{
	n->budget = MAPS_A_SNAPSHOT;
}

const char *names_where(struct names *n, const char *root, uint64_t id, int32_t pid, uint64_t addr)
{
	if (pid <= 0 || (int64_t)addr < 0)
		return "";
	const uint32_t *at = map64_get(&n->at, id);
	if (at)
		return n->entries[*at].text;
	if (!n->budget)
		return "";
	n->budget--;
	if (n->n == ENTRIES_MAX) {
		n->n = 0;
		map64_clear(&n->at);
	}
	if (mem_grow(&n->entries, &n->cap, n->n, sizeof(*n->entries)) < 0 ||
	    map64_put(&n->at, id, (uint32_t)n->n) < 0)
		return "";
	struct names_entry *e = &n->entries[n->n++];
	where_find(e->text, sizeof(e->text), root, pid, addr);
	return e->text;
}

void names_deinit(struct names *n)
{
	mem_free(n->entries);
	map64_deinit(&n->at);
	*n = (struct names){0};
}
