/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CGROUP_NAMES_H
#define KONTEND_CGROUP_NAMES_H

#include "kontend/map64.h"
#include "kontend/strpool.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Paths of cgroups by their ids, as they are met. The tree is walked when an id comes up that is
 * not known; who is not in it then is not looked for again, as ids are not used twice. `= {0}`
 * knows none.
 */
struct cgroup_names {
	struct map64 at; /* id -> index */
	const char **paths;
	size_t n, cap;
	struct strpool pool;
};

/*
 * "/system.slice/agent.service"; NULL: not known, as it is gone, or outside of our cgroup
 * namespace.
 * @mounts is "/proc/self/mounts". Borrowed until the next call.
 */
const char *cgroup_names_get(struct cgroup_names *c, const char *mounts, uint64_t id);
void cgroup_names_deinit(struct cgroup_names *c);

#endif
