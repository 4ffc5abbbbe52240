/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_REPORT_H
#define KONTEND_FLEET_REPORT_H

#include "kontend/fleet.h"
#include "kontend/report.h"
#include "kontend/sandbox-state.h"

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

/* Recordings that were given, and how many of them have each fault. */
struct fleet_given {
	uint64_t n;
	uint64_t faults[FLEET_FAULTS];
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
	struct fleet_given given;
};

/* 0, -ENOMEM, or the errno of a failed write, with @err. */
int fleet_report_write(const struct fleet *m, const struct fleet_spec *s, FILE *out,
		       struct error *err);

/* One of two groups of recordings, each FLEET_BY_RECORDING. */
struct fleet_side {
	const struct fleet *m;
	struct fleet_given given;
};

/* What changed from one to the other, by the rest of @s. The same answers. */
int fleet_report_diff(const struct fleet_side *before, const struct fleet_side *after,
		      const struct fleet_spec *s, FILE *out, struct error *err);

#endif
