/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_INCIDENT_LIST_H
#define KONTEND_RECORD_INCIDENT_LIST_H

#include "kontend/error.h"
#include "kontend/incident.h"
#include "kontend/reader.h"
#include "output-names.h"
#include <stdint.h>

enum { INCIDENT_NONE = 1 }; /* a recording in which there is none */

struct incident_found {
	struct incident incident;
	uint64_t wall_ns; /* when it fired; 0: the recording does not say */
	uint64_t bytes;	  /* of the file */
};

/* What the file says. 0, INCIDENT_NONE, or negative with @err. */
int incident_peek(const char *path, struct incident_found *ret, struct error *err);

/* One of the files of a directory. */
struct incident_entry {
	char *name;
	enum incident_entry_state {
		INCIDENT_WHOLE,
		INCIDENT_WRITTEN, /* it is being written */
		INCIDENT_LEFT,	  /* it was, by somebody who is no more: there is a part of it */
		INCIDENT_BAD,	  /* it has the name of one, and cannot be read */
	} state;
	struct incident_found found; /* of whole ones; of others `bytes` alone */
	char why[300];		     /* of bad ones */
};

/* By their names. Other files that there are in the directory are passed over. */
struct incident_list {
	struct incident_entry *entries;
	size_t n, cap;
};

int incident_list_read(struct incident_list *l, const char *dir, struct error *err);
/* The same, with files opened as @how says; of its members those alone. */
int incident_list_read_by(struct incident_list *l, const char *dir,
			  const struct reader_options *how, struct error *err);
void incident_list_deinit(struct incident_list *l);

#endif
