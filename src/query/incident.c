// SPDX-License-Identifier: GPL-2.0-only
/* The incident of a recording, as the latest snapshot of its kind says it; and one that is made. */
#include "internal.h"
#include "kontend/engine.h"
#include "kontend/lockname.h"
#include "kontend/query-incident.h"
#include "kontend/text.h"

bool query_incident(const struct model *m, struct incident *ret)
{
	const struct snapshot *s = snapshot_set_get(m->snapshots, SNAPSHOT_INCIDENT);

	return s && incident_decode(s->bytes, s->len, ret);
}

bool query_incident_is_named(const struct engine *e, const struct incident *in)
{
	struct lockname name;

	return !in->lock || !e->lock_requests || lockname_get(e->model->lock_names, in->lock) ||
	       lockname_percpu(e->model->lock_names, in->lock, &name);
}

void query_incident_name(struct query *q, struct incident *in)
{
	const struct lock_table *t = q->model->locks;
	const char *name = NULL;

	/* Without memory it keeps the name that it has. */
	if (!in->lock || query_sync(q) < 0)
		return;
	for (size_t i = 1; !name && i < t->n; i++)
		if (t->locks[i].addr == in->lock)
			name = query_lock_name(q, (uint32_t)i);
	if (name && *name)
		text_clean(in->lock_name, sizeof(in->lock_name), name);
}
