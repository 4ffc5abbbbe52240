// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of cgroups. A walk takes all that there are, as where one is asked for others mostly
 * follow. A system that makes cgroups all the time would fill the memory: then all is forgotten,
 * and those that are asked for are found again.
 */
#include "kontend/cgroup-names.h"
#include "kontend/cgroup.h"
#include "kontend/mem.h"

#include <errno.h>

enum { MOST = 1 << 16 };

/* Of two with one id the first stays: there is one hierarchy. */
static int put_name(void *arg, uint64_t id, const char *path)
{
	struct cgroup_names *c = arg;

	if (map64_get(&c->at, id))
		return 0;
	const char *kept = path ? strpool_intern(&c->pool, path) : NULL;
	if ((path && !kept) || mem_grow(&c->paths, &c->cap, c->n, sizeof(*c->paths)) < 0 ||
	    map64_put(&c->at, id, (uint32_t)c->n) < 0)
		return -ENOMEM;
	c->paths[c->n++] = kept;
	return 0;
}

const char *cgroup_names_get(struct cgroup_names *c, const char *mounts, uint64_t id)
{
	const uint32_t *at = map64_get(&c->at, id);
	char mount[CGROUP_PATH];

	if (at)
		return c->paths[*at];
	if (c->n >= MOST)
		cgroup_names_deinit(c);
	/* Without memory it is looked for again the next time. */
	if (cgroup_search(mounts, mount, sizeof(mount)) == 0 && cgroup_each(mount, put_name, c) < 0)
		return NULL;
	at = map64_get(&c->at, id);
	if (at)
		return c->paths[*at];
	(void)put_name(c, id, NULL);
	return NULL;
}

void cgroup_names_deinit(struct cgroup_names *c)
{
	map64_deinit(&c->at);
	strpool_deinit(&c->pool);
	mem_free(c->paths);
	*c = (struct cgroup_names){0};
}
