/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_PHASES_H
#define KONTEND_SNAPSHOT_PHASES_H

#include "kontend/error.h"
#include "kontend/phasesnap.h"

struct kerntypes;

/*
 * Probes in the kernel that separate the phases of rotation, and measure a switch to another
 * cgroup: see phasesnap.h. They stay attached until this is freed. The time of each hit is included
 * in the measurement, so they are attached only on request.
 */
struct snapshot_phases;

/*
 * 0 if one of both can be measured; the snapshots have the reason for the other. Negative with
 * @err: neither. @types may be NULL, and may be freed after this call.
 */
int snapshot_phases_new(struct snapshot_phases **ret, struct kerntypes *types, struct error *err);
/* Copies the sums since the first call into @ret, which is cleared first. 0 or -ENOMEM. */
int snapshot_phases_take(struct snapshot_phases *p, struct phasesnap *ret);
void snapshot_phases_free(struct snapshot_phases *p); /* NULL is fine */

#endif
