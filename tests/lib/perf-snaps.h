/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_PERF_SNAPS_H
#define KONTEND_TESTS_PERF_SNAPS_H

#include "kontend/perfsnap.h"
#include "synth.h"

/*
 * Snapshots of made-up machines, by name; @t is their time, one second after the one before.
 *
 *   x86	2 CPUs of 4 slots. CPU 0 is full: two of the CPU, two of app/931. Events of CPUs and
 *		tasks, an inherited one, one by ptrace, one whose opener is gone, one of the kernel,
 *		counters that take turns
 *   arm64	2 CPUs, slots for execution and data apart
 *   probe	the same as x86 without BPF
 *   empty	2 CPUs, nothing on them
 *   many	64 CPUs
 *   broken	x86, with lists that changed under the walker and without debug registers
 */
void perf_snap_make(struct perfsnap *ret, const char *name, uint64_t t);
/* Makes it, and puts it into the stream. */
void perf_snap_emit(struct synth *s, const char *name, uint64_t t);
void perf_snap_emit_as(struct synth *s, uint16_t kind, const char *name, uint64_t t);

#endif
