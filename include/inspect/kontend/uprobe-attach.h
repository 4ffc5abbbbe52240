/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_ATTACH_H
#define KONTEND_UPROBE_ATTACH_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Probes that kontend itself places: they count and do nothing else. Each is an event of perf's PMU
 * "uprobe", so the kernel removes it with its descriptor, however kontend ends.
 */
struct uprobe_attach_options {
	const char *const *specs; /* as uprobe.h has them */
	size_t n_specs;
	const pid_t *pids; /* in these processes; none: in all existing and later ones */
	size_t n_pids;
	const char *command; /* the command that one of the pids will execute; NULL: none */
	/*
	 * Opens events that can be read: one for each thread or CPU. Else one event, whose hits BPF
	 * reads.
	 */
	bool count;
};

struct uprobe_attach_probe {
	char path[256];
	uint64_t offset;
	bool is_return;
	pid_t pid; /* 0: in all processes */
};

struct uprobe_attach;

/*
 * -EINVAL: a text is not valid; -ENOENT: there is no such binary or function; or the errno of the
 * kernel.
 */
int uprobe_attach_new(struct uprobe_attach **ret, const struct uprobe_attach_options *o,
		      struct error *err);
/* Probe @i, borrowed; NULL after the last one. */
const struct uprobe_attach_probe *uprobe_attach_get(const struct uprobe_attach *p, size_t i);
/* A descriptor of an event of probe @i, borrowed; -1: there is none. */
int uprobe_attach_fd(const struct uprobe_attach *p, size_t i);
/* Hits of probe @i until now; false: they are not counted here. */
bool uprobe_attach_hits(const struct uprobe_attach *p, size_t i, uint64_t *ret);
void uprobe_attach_free(struct uprobe_attach *p); /* removes them; NULL is fine */

#endif
