/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_UPROBE_SNAPS_H
#define KONTEND_TESTS_UPROBE_SNAPS_H

#include "kontend/upsnap.h"
#include "synth.h"

/*
 * Snapshots of made-up uprobes, by name; @t is their time, one second after the one before.
 *
 *   busy	probes of tracefs, perf and BPF links of every class, one process with all slots in
 *		use and three threads that wait
 *   proc	the same without BPF: who has an area, and the probes of tracefs
 *   first	busy, as the first look of all has it: no rate is known yet; three more processes
 *		whose slots are not used
 *   none	no probe, no area
 */
void uprobe_snap_make(struct upsnap *ret, const char *name, uint64_t t);
/* Puts one into the stream, at its time. */
void uprobe_snap_put(struct synth *s, const struct upsnap *snap);
/* Makes it, and puts it into the stream. */
void uprobe_snap_emit(struct synth *s, const char *name, uint64_t t);

#endif
