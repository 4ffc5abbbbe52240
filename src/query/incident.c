// SPDX-License-Identifier: GPL-2.0-only
/* The incident of a recording, as the latest snapshot of its kind says it. */
#include "kontend/query-incident.h"

bool query_incident(const struct model *m, struct incident *ret)
{
	const struct snapshot *s = snapshot_set_get(&m->snapshots, SNAPSHOT_INCIDENT);

	return s && incident_decode(s->bytes, s->len, ret);
}
