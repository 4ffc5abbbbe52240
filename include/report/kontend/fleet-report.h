/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_REPORT_H
#define KONTEND_FLEET_REPORT_H

#include "kontend/fleet.h"
#include "kontend/report.h"
#include "kontend/sandbox.h"

/* What is wrong with recordings, by the one sentence that was said of each. */
enum fleet_fault {
	FLEET_NOT_READ, /* cannot be read: it is in no sum */
	FLEET_OVERLAP,	/* another one has its machine and time: it is in no sum */
	FLEET_CUT_OFF,
	FLEET_VERSION,	   /* it has what this version does not understand */
	FLEET_CLOCK,	   /* its time of day is days off that of most others */
	FLEET_MAY_OVERLAP, /* it says no machine or boot, and another one its host and time */
	FLEET_FAULTS,
	FLEET_DOUBTS =
		FLEET_CLOCK, /* from here on: it is added, and nothing is known to be wrong */
};

struct fleet_spec {
	enum report_format format;
	enum fleet_by by;
	unsigned tables;    /* bits 1 << enum fleet_at; CSV takes one, or none: that of groups */
	size_t limit;	    /* rows of a table; 0: all */
	const char *only;   /* the waits that it is about, for people; NULL or "": all */
	char csv_separator; /* 0: ',' */
	bool ascii;
	int width; /* text; 0: no limit */
	const struct sandbox *sandbox;
	uint64_t given;		       /* recordings, */
	uint64_t faults[FLEET_FAULTS]; /* and how many of them have each */
};

/* 0, -ENOMEM, or the errno of a failed write, with @err. */
int fleet_report_write(const struct fleet *m, const struct fleet_spec *s, FILE *out,
		       struct error *err);

#endif
