/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_UPROBES_H
#define KONTEND_SNAPSHOT_UPROBES_H

#include "kontend/error.h"
#include "kontend/upsnap.h"

#include <stdbool.h>

struct kerntypes;

/*
 * Reads the uprobes of the running kernel, and the tasks in their out-of-line slots: by BPF
 * programs that read the kernel's own structures and are run on demand, tracefs and the list of BPF
 * links; without BPF from /proc and tracefs. Without uprobes it costs only a walk through the
 * tasks. For one thread.
 */
struct snapshot_uprobes_options {
	bool no_bpf;		 /* behaves as if the kernel had no BPF */
	bool counts_own;	 /* room for the counts of snapshot_uprobes_own(): 2 MB */
	const char *tracefs;	 /* NULL: where it is mounted */
	struct kerntypes *types; /* NULL: it reads them itself */
};

struct snapshot_uprobes;

int snapshot_uprobes_new(struct snapshot_uprobes **ret, const struct snapshot_uprobes_options *o,
			 struct error *err);
/* Takes a snapshot into @ret, which is cleared first. 0, or a negative errno: try again later. */
int snapshot_uprobes_take(struct snapshot_uprobes *u, struct upsnap *ret, struct error *err);
/* Are hits of perf events read (by BPF)? */
bool snapshot_uprobes_reads_hits(const struct snapshot_uprobes *u);
/*
 * Adds kontend's own probes, borrowed from now on: without BPF their hits are read from their
 * events. Call it before capabilities are dropped: a program counts those of one process.
 */
struct uprobe_attach;
void snapshot_uprobes_own(struct snapshot_uprobes *u, const struct uprobe_attach *own);
void snapshot_uprobes_free(struct snapshot_uprobes *u); /* NULL is fine */

#endif
