/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DOCTOR_INT_H
#define KONTEND_DOCTOR_INT_H

/* Shared by the checks. */
#include "kontend/doctor.h"
#include <stdint.h>

/* Results of earlier checks for later ones. */
struct doctor_facts {
	bool has_event;
	uint32_t begin_id;
	unsigned cpus;
	char exe[256];
	int paranoid; /* DOCTOR_PARANOID_UNKNOWN if unreadable */
	char lockdown[32];
};

enum { DOCTOR_PARANOID_UNKNOWN = 99 };

/* Adds a check with empty texts and DOCTOR_WORKS. */
struct doctor_item *doctor_add(struct doctor *d, const char *name, const char *help);
/* Sets a text of an item, cleaned. */
void doctor_found(struct doctor_item *i, enum doctor_status s, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_item *i, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Suggests setcap for kontend's own file. */
void doctor_fix_setcap(struct doctor_item *i, const struct doctor_facts *f);

/* perf.c: checks that open perf events. */
void doctor_perf(struct doctor *d, const struct doctor_facts *f);
/* rest.c: samples, instructions, PMUs, the build; the sandbox; limits of a container. */
void doctor_rest(struct doctor *d, const struct doctor_facts *f);
void doctor_sandbox(struct doctor *d);
void doctor_namespaces(struct doctor *d, const struct doctor_facts *f);
/* gaps.c: d->gaps of this kernel, from d->kernel and by trying. */
void doctor_try_gaps(struct doctor *d);

#endif
