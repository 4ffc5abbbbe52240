/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_INCIDENT_H
#define KONTEND_REPORT_INCIDENT_H

#include "kontend/jsonw.h"
#include "kontend/query-incident.h"

/* The members of an object; @wall_ns: when the trigger fired, 0: unknown */
void report_incident_json(struct jsonw *j, const struct incident *in, uint64_t wall_ns);
/* By the clock of the recording's machine; 0: unknown */
uint64_t report_incident_wall_ns(const struct record_host *h, const struct incident *in);
/* Lines that begin with '#'. */
void report_incident_text(FILE *out, const struct incident *in, uint64_t wall_ns);

#endif
