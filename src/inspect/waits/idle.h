/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_IDLE_H
#define KONTEND_INSPECT_WAITS_IDLE_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct sched;

/* The clock that runs while at least one CPU is idle: idleclock.h. */
struct idle;

/* Before @o is loaded: leaves out its program and map. */
int idle_leave(struct bpf_object *o);
/* Of a loaded object, which must outlive it, as must @sched: the programs that it needs. */
int idle_new(struct idle **ret, struct bpf_object *o, struct sched *sched, struct error *err);
int idle_start(struct idle *d, struct error *err);
/* The time that it shows, and when that was; by one thread. False: not known. */
bool idle_read(struct idle *d, uint64_t *ret_at_ns, uint64_t *ret_ns);
void idle_free(struct idle *d); /* NULL is fine */

#endif
