/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CGROUP_H
#define KONTEND_CGROUP_H

#include "kontend/error.h"
#include "kontend/map64.h"
#include "kontend/sideband.h"
#include "kontend/strpool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH = 4096 };

/*
 * The hierarchy by which perf identifies cgroups: the one with the perf_event controller (v1) if
 * that is mounted, else cgroup2. @mounts is "/proc/self/mounts". 0 or -ENOENT.
 */
int cgroup_search(const char *mounts, char *ret_path, size_t size);

/*
 * Is the cgroup by which perf identifies a task also its memory cgroup? It is if both controllers
 * are in one hierarchy. @text: of /proc/self/cgroup; it is changed.
 */
bool cgroup_is_memcg(char *text);
/* The same of this system. */
bool cgroup_is_memcg_here(void);

/*
 * Opens the directory of cgroup @name (below the mount, or an absolute path in it): a descriptor,
 * or negative errno with @err.
 */
int cgroup_open(const char *name, struct error *err);
/* The id of the cgroup in the kernel and in BPF. */
int cgroup_id(const char *name, unsigned long long *ret, struct error *err);

/*
 * Calls @put for each directory at and below @mount, with its id and its path, which is "/" for the
 * root. Stops at the first result that is not 0, and returns it.
 */
int cgroup_each(const char *mount, int (*put)(void *arg, uint64_t id, const char *path), void *arg);
/* Appends a CGROUP record for each directory at and below @mount; the root is "/". 0 or -ENOMEM. */
int cgroup_walk(const char *mount, struct sideband *s);

/*
 * Cache of paths of cgroups by id. An unknown id makes it walk the tree; an id that this does not
 * find is not searched again, since the kernel does not reuse ids. `= {0}` is empty.
 */
struct cgroup_names {
	struct map64 at; /* id -> index */
	const char **paths;
	size_t n, cap;
	struct strpool pool;
};

/*
 * "/system.slice/agent.service"; NULL: not known, since it is gone, or outside of our cgroup
 * namespace. @mounts is "/proc/self/mounts". Valid until the next call.
 */
const char *cgroup_names_get(struct cgroup_names *c, const char *mounts, uint64_t id);
void cgroup_names_deinit(struct cgroup_names *c);

#endif
