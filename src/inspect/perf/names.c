// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events, and of the places that breakpoints watch. An address of user space has a meaning
 * only in its process, whose maps are read when the address is seen for the first time.
 */
#include "internal.h"
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

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};

static void cache_name(char *ret, size_t size, uint64_t config)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(caches) || op >= COUNT(cache_ops) || result > 1)
		snprintf(ret, size, "cache:0x%" PRIx64, config);
	else if (result)
		snprintf(ret, size, "%s-%s-misses", caches[cache], cache_ops[op]);
	else
		snprintf(ret, size, "%s-%ss", caches[cache], cache_ops[op]);
}

static void breakpoint_name(char *ret, size_t size, uint32_t bp_type, uint64_t bp_addr)
{
	snprintf(ret, size, "mem:0x%" PRIx64 ":%s%s%s", bp_addr,
		 bp_type & HW_BREAKPOINT_R ? "r" : "", bp_type & HW_BREAKPOINT_W ? "w" : "",
		 bp_type & HW_BREAKPOINT_X ? "x" : "");
}

void names_event(char *ret, size_t size, uint32_t type, uint64_t config, uint32_t bp_type,
		 uint64_t bp_addr, const char *pmu, const char *system, const char *name)
{
	/* On machines with several kinds of CPUs the upper half is the kind. */
	uint64_t low = config & 0xffffffff;

	if (type == PERF_TYPE_BREAKPOINT)
		breakpoint_name(ret, size, bp_type, bp_addr);
	else if (name[0])
		snprintf(ret, size, "%s%s%s", system, system[0] ? ":" : "", name);
	else if (type == PERF_TYPE_HARDWARE && low < COUNT(hardware))
		snprintf(ret, size, "%s", hardware[low]);
	else if (type == PERF_TYPE_SOFTWARE && config < COUNT(software))
		snprintf(ret, size, "%s", software[config]);
	else if (type == PERF_TYPE_HW_CACHE)
		cache_name(ret, size, low);
	else if (type == PERF_TYPE_RAW)
		snprintf(ret, size, "r%" PRIx64, config);
	else if (type == PERF_TYPE_TRACEPOINT)
		snprintf(ret, size, "tracepoint:%" PRIu64, config);
	else if (!strcmp(pmu, "cpu_clock") || !strcmp(pmu, "task_clock"))
		snprintf(ret, size, "%.*s-clock", (int)strcspn(pmu, "_"), pmu);
	else if (pmu[0])
		snprintf(ret, size, "%s/config=0x%" PRIx64 "/", pmu, config);
	else
		snprintf(ret, size, "type %" PRIu32 "/config=0x%" PRIx64 "/", type, config);
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
