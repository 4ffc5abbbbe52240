/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_INCIDENT_H
#define KONTEND_QUERY_INCIDENT_H

#include "kontend/incident.h"
#include "kontend/model.h"

/* What the recording was made for, if a trigger wrote it; false: none did. */
bool query_incident(const struct model *m, struct incident *ret);

#endif
