/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENT_LIST_H
#define KONTEND_INCIDENT_LIST_H

#include "kontend/error.h"
#include "kontend/incident.h"
#include "kontend/reader.h"
#include "kontend/record-output.h"
#include <stdint.h>

enum { INCIDENT_NONE = 1 }; /* a recording without incidents */

struct incident_found {
	struct incident incident;
	uint64_t wall_ns; /* time of the trigger; 0: not in the recording */
	uint64_t bytes;	  /* of the file */
};

/* Reads the incident of a file. 0, INCIDENT_NONE, or negative with @err. */
int incident_list_peek(const char *path, struct incident_found *ret, struct error *err);

/* An incident file in a directory. */
struct incident_entry {
	char *name;
	enum incident_entry_state {
		INCIDENT_WHOLE,
		INCIDENT_WRITTEN, /* a process is writing it */
		INCIDENT_LEFT,	  /* incomplete: its writer was killed */
		INCIDENT_BAD,	  /* named like an incident file, but unreadable */
	} state;
	struct incident_found found; /* of whole files; of others only `bytes` */
	char why[300];		     /* of bad files */
};

/* Sorted by name. Other files in the directory are ignored. */
struct incident_list {
	struct incident_entry *entries;
	size_t n, cap;
};

int incident_list_read(struct incident_list *l, const char *dir, struct error *err);
/* The same, with files opened with these members of @how. */
int incident_list_read_by(struct incident_list *l, const char *dir,
			  const struct reader_options *how, struct error *err);
void incident_list_deinit(struct incident_list *l);

#endif
