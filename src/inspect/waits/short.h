/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SHORT_H
#define KONTEND_INSPECT_WAITS_SHORT_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* User space's half of short.bpf.c: sets the level of reports, reads sums, reports long waits. */
struct bpf_object;
struct shorts;

struct short_options {
	uint64_t threshold_ns; /* shorter waits are summed up; 0: none is */
	uint32_t target_ppm;   /* of the CPU time of all CPUs; 0: no governor */
	uint64_t tell_ns;      /* so long ones are always reported; 0: none is */
};

/* Before @o is loaded: for so many CPUs, or 0: its maps are small, and its programs left out. */
int short_prepare(struct bpf_object *o, uint32_t n_cpus);
/* On an object that was loaded, and outlives it. */
int short_new(struct shorts **ret, struct bpf_object *o, uint32_t n_cpus,
	      const struct short_options *options, struct error *err);
/* Starts the thread that reports long waits before they end, and governs. */
int short_start(struct shorts *s, struct error *err);
void short_tell(struct shorts *s, uint64_t tell_ns); /* from now on; by any thread */
void short_stop(struct shorts *s);		     /* async-signal-safe; NULL is fine */
/*
 * The payload of a SNAPSHOT_SHORT as of now, by one thread; borrowed until the next one. @begin:
 * of when sums begin, at @now_ns, without rows. NULL: no memory.
 */
const void *short_snapshot(struct shorts *s, bool begin, uint64_t now_ns, size_t *ret_len);
void short_free(struct shorts *s); /* NULL is fine */

#endif
