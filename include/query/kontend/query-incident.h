/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_INCIDENT_H
#define KONTEND_QUERY_INCIDENT_H

#include "kontend/incident.h"
#include "kontend/model.h"
#include "kontend/query.h"

/* The incident that the recording is about, if a trigger wrote it; false: no trigger did. */
bool query_incident(const struct model *m, struct incident *ret);
/* Is what its lock belongs to known, or will not be? */
bool query_incident_is_named(const struct engine *e, const struct incident *in);
/* The present name of its lock. */
void query_incident_name(struct query *q, struct incident *in);

#endif
