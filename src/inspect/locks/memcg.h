/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_MEMCG_H
#define KONTEND_INSPECT_MEMCG_H

#include "kontend/map64.h"
#include "kontend/strpool.h"
#include <stddef.h>
#include <stdint.h>

/*
 * A cache of memory cgroups of processes, from /proc/PID/cgroup, by an address that belongs to the
 * process alone: that of its mmap_lock. `= {0}` is empty.
 */
struct memcg_cache {
	struct map64 at; /* -> index */
	const char **paths;
	size_t n, cap;
	struct strpool pool;
	struct map64 offsets; /* path -> its text in the snapshot that is being made */
};

/*
 * The path of thread @tid of process @pid, "" if it is not known. Read at the first lookup of @addr
 * since memcg_forget(). Valid until that.
 */
const char *memcg_path(struct memcg_cache *c, const char *proc, uint64_t addr, int pid, int tid);
/* Processes may move: later lookups read the files again. */
void memcg_forget(struct memcg_cache *c);
void memcg_deinit(struct memcg_cache *c);

/*
 * The memory cgroup in a text of /proc/PID/cgroup: that of the hierarchy of the memory controller
 * (v1), or else of the unified one (v2). Into @ret, with what may not be shown replaced by '?'; ""
 * if there is none. @text is changed.
 */
void memcg_parse(char *text, char *ret, size_t size);

#endif
