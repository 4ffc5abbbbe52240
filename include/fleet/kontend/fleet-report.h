/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_REPORT_H
#define KONTEND_FLEET_REPORT_H

#include "kontend/fleet.h"
#include "kontend/report.h"
#include "kontend/sandbox-state.h"

/* Faults of recordings; each has one sentence in the report. */
enum fleet_fault {
	FLEET_NOT_READ, /* cannot be read: not in any sum */
	FLEET_OVERLAP,	/* another recording has the same machine and time: not in any sum */
	FLEET_CUT_OFF,
	FLEET_VERSION,	   /* has data that this version does not understand */
	FLEET_CLOCK,	   /* its time of day differs by days from most others */
	FLEET_MAY_OVERLAP, /* has no machine or boot id, and another one has its host and time */
	FLEET_FAULTS,
	FLEET_DOUBTS = FLEET_CLOCK, /* from here on: added, with only a possible fault */
};

/* The number of recordings given, and of those with each fault. */
struct fleet_given {
	uint64_t n;
	uint64_t faults[FLEET_FAULTS];
};

struct query_flame_diff;
struct fleet_spec {
	enum report_format format;
	enum fleet_by by;
	unsigned tables;    /* bits 1 << enum fleet_at; CSV takes one, or none: the table of
			     * groups */
	size_t limit;	    /* most rows of a table; 0: all */
	const char *only;   /* description of the filter of waits; NULL or "": all waits */
	char csv_separator; /* 0: ',' */
	bool ascii;
	int width; /* text; 0: no limit */
	const struct sandbox *sandbox;
	struct fleet_given given;
	/* JSON of two groups: the call chains of both as well; NULL: only the tables. */
	const struct query_flame_diff *chains;
};

/* 0, -ENOMEM, or the errno of a failed write, with @err. */
int fleet_report_write(const struct fleet *m, const struct fleet_spec *s, FILE *out,
		       struct error *err);

/* One of two groups of recordings, each FLEET_BY_RECORDING. */
struct fleet_side {
	const struct fleet *m;
	struct fleet_given given;
};

/* The changes from one to the other, with the other members of @s. Returns as above. */
int fleet_report_diff(const struct fleet_side *before, const struct fleet_side *after,
		      const struct fleet_spec *s, FILE *out, struct error *err);

#endif
