/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_PHASES_H
#define KONTEND_SNAPSHOT_PHASES_H

#include "kontend/error.h"
#include "kontend/phasesnap.h"

struct kerntypes;

/*
 * Probes in the kernel that tell the phases of rotation apart, and what a switch to another cgroup
 * takes: see phasesnap.h. They stand until this is freed. Each hit takes time that is measured with
 * it, so it is for who asks.
 */
struct snapshot_phases;

/*
 * 0 when one of both can be measured; the snapshots say why the other cannot. Negative with @err:
 * neither. @types may be NULL, and go when this is done.
 */
int snapshot_phases_new(struct snapshot_phases **ret, struct kerntypes *types, struct error *err);
/* What is in them since the first call, into @ret, which is cleared before. 0 or -ENOMEM. */
int snapshot_phases_take(struct snapshot_phases *p, struct phasesnap *ret);
void snapshot_phases_free(struct snapshot_phases *p); /* NULL is fine */

#endif
