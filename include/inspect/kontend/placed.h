/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PLACED_H
#define KONTEND_PLACED_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Probes that kontend itself places: they count and do nothing else. Each is an event of perf's PMU
 * "uprobe", so that the kernel takes it away with its descriptor, however we end.
 */
struct placed_options {
	const char *const *specs; /* as uprobe-spec.h has them */
	size_t n_specs;
	const pid_t *pids; /* in these processes; none: in all there are and will be */
	size_t n_pids;
	const char *command; /* what one of the pids is going to run; NULL: nothing is */
	/* Events that can be read: one a thread or CPU. Else one, whose hits BPF reads. */
	bool count;
};

struct placed_probe {
	char path[256];
	uint64_t offset;
	bool is_return;
	pid_t pid; /* 0: in all processes */
};

struct placed;

/* -EINVAL: what a text says makes no sense; -ENOENT: there is no such binary or function; or what
 * the kernel answers. */
int placed_new(struct placed **ret, const struct placed_options *o, struct error *err);
/* Probe @i, borrowed; NULL behind the last one. */
const struct placed_probe *placed_get(const struct placed *p, size_t i);
/* A descriptor of an event of probe @i, borrowed; -1: there is none. */
int placed_fd(const struct placed *p, size_t i);
/* Hits of probe @i until now; false: they are not counted here. */
bool placed_hits(const struct placed *p, size_t i, uint64_t *ret);
void placed_free(struct placed *p); /* takes them away; NULL is fine */

#endif
