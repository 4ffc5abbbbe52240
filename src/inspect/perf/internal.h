/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_PERF_INTERNAL_H
#define KONTEND_INSPECT_PERF_INTERNAL_H

/* Shared by both inspectors, with and without BPF. */
#include "kontend/map64.h"
#include "kontend/perfsnap.h"

#include <stddef.h>
#include <stdint.h>

/* inspect.c */

/* The cost of snapshots: CPU time, summed up over a second, since they follow each other closely.
 */
struct inspect_cost {
	uint64_t from_ns, sum_ns; /* of this second; 0: it begins with the next one */
	uint64_t per_s_ns;	  /* of the second before */
};

uint64_t inspect_cpu_ns(void); /* of this thread */
/* At the end of a snapshot of @h->time_ns that began at @cpu_ns: puts its cost into @h. */
void inspect_cost(struct inspect_cost *c, struct snap_head *h, uint64_t cpu_ns);

/* The breakpoint slots that each CPU of this machine has. */
struct slots_machine {
	uint32_t pools;	  /* 0: not known for this architecture */
	uint32_t type[2]; /* enum snap_slot_type */
	int32_t slots[2];
};

struct slots_machine slots_of_machine(void);

/* fdscan.c */

/*
 * Calls @found for each descriptor of a perf event that a process under @root ("/proc") has open,
 * as far as we have the rights. 0, what @found answered if not 0, or the errno of reading @root.
 */
int fdscan(const char *root, int (*found)(void *arg, int32_t pid, int32_t fd, const char *comm),
	   void *arg);

/* where.c */

/*
 * "file:symbol+0xoffset" for an address of process @pid, "file+0xaddress" as the file has it where
 * there is no symbol, "[heap]+0xoffset", "anon+0xoffset"; "" when its maps under @root ("/proc")
 * do not have it, or cannot be read.
 */
void where_find(char *ret, size_t size, const char *root, int32_t pid, uint64_t addr);

/* names.c */

/*
 * A cache of addresses of processes that were looked up in their maps: most breakpoints stay. By
 * the number of the event, which the kernel never uses twice, as it does pids. `= {0}` is empty.
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

/* A snapshot begins: it may read some maps. The next snapshot reads those that are left out. */
void names_begin(struct names *n);
/*
 * The result of where_find() for the address that event @id watches in process @pid, by its maps
 * under
 * @root ("/proc"). "" for an address of the kernel, when it cannot be read, or not yet. Borrowed
 * until the next call.
 */
const char *names_where(struct names *n, const char *root, uint64_t id, int32_t pid, uint64_t addr);
void names_deinit(struct names *n);

#endif
