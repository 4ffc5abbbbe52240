/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_INCIDENTS_H
#define KONTEND_QUERY_INCIDENTS_H

#include "kontend/incident.h"
#include "kontend/model.h"
#include "kontend/query.h"

/*
 * Incidents that triggers have caught, by time. The program that watches owns the list, and puts it
 * into the query (query.incidents) for the table "incidents"; NULL: there are no triggers. If the
 * number of kept incidents is bounded, `n` counts the first ones.
 */
struct query_incidents {
	struct incident *list;
	size_t n, cap;
	uint64_t again; /* fired within the cooldown */
	uint64_t lost;	/* fired, and not in the list */
};

enum { QUERY_INCIDENTS_MOST = 4096 };

/* Adds a copy of one. Without memory, or above the bound, it is counted as lost. */
void query_incidents_add(struct query_incidents *all, const struct incident *in);
void query_incidents_deinit(struct query_incidents *all);

/* Ids of rows are place + 1. */
int query_incidents(struct query *q, const struct query_spec *s, struct table *ret,
		    struct error *err);
extern const struct table_kind query_incidents_kind;

/* The incident of the recording. Returns false if no trigger wrote the recording. */
bool query_incident(const struct model *m, struct incident *ret);
/* Returns true if the object of its lock is known, or will remain unknown. */
bool query_incident_is_named(const struct engine *e, const struct incident *in);
/* Sets the present name of its lock. */
void query_incident_name(struct query *q, struct incident *in);

#endif
