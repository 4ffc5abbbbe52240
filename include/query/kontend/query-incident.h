/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_INCIDENT_H
#define KONTEND_QUERY_INCIDENT_H

#include "kontend/incident.h"
#include "kontend/model.h"
#include "kontend/query.h"

/* What the recording was made for, if a trigger wrote it; false: none did. */
bool query_incident(const struct model *m, struct incident *ret);
/* Is what its lock belongs to known, or will not be? */
bool query_incident_is_named(const struct engine *e, const struct incident *in);
/* What its lock is called by now. */
void query_incident_name(struct query *q, struct incident *in);

#endif
