/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_UPROBES_H
#define KONTEND_SNAPSHOT_UPROBES_H

#include "kontend/error.h"
#include "kontend/upsnap.h"

#include <stdbool.h>

struct kerntypes;

/*
 * Finds out what uprobes the running kernel has, and who is in their out-of-line slots: by BPF
 * programs that read the kernel's own structures and are run on demand, tracefs and the list of BPF
 * links; without BPF by what /proc and tracefs say. As long as there are no uprobes it costs a walk
 * through the tasks and no more. For one thread.
 */
struct snapshot_uprobes_options {
	bool no_bpf;		 /* as if the kernel had no BPF */
	bool counts_own;	 /* room for the counts of snapshot_uprobes_own(): 2 MB */
	const char *tracefs;	 /* NULL: where it is mounted */
	struct kerntypes *types; /* NULL: it reads them itself */
};

struct snapshot_uprobes;

int snapshot_uprobes_new(struct snapshot_uprobes **ret, const struct snapshot_uprobes_options *o,
			 struct error *err);
/* A snapshot of now into @ret, which is cleared before. 0, or a negative errno: try again later. */
int snapshot_uprobes_take(struct snapshot_uprobes *u, struct upsnap *ret, struct error *err);
/* Are hits of perf events read (by BPF)? */
bool snapshot_uprobes_reads_hits(const struct snapshot_uprobes *u);
/* Our own probes, borrowed from now on: where no hits are read, they are asked. Before capabilities
 * are given up: those of one process are counted by a program. */
struct uprobe_attach;
void snapshot_uprobes_own(struct snapshot_uprobes *u, const struct uprobe_attach *own);
void snapshot_uprobes_free(struct snapshot_uprobes *u); /* NULL is fine */

#endif
