/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPLOOK_H
#define KONTEND_UPLOOK_H

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
struct uplook_options {
	bool no_bpf;		 /* as if the kernel had no BPF */
	const char *tracefs;	 /* NULL: where it is mounted */
	struct kerntypes *types; /* NULL: it reads them itself */
};

struct uplook;

int uplook_new(struct uplook **ret, const struct uplook_options *o, struct error *err);
/* A snapshot of now into @ret, which is cleared before. 0, or a negative errno: try again later. */
int uplook_take(struct uplook *u, struct upsnap *ret, struct error *err);
/* Are hits of perf events read (by BPF)? */
bool uplook_reads_hits(const struct uplook *u);
/* Our own probes, borrowed from now on: where no hits are read, they are asked. Before capabilities
 * are given up: those of one process are counted by a program. */
struct placed;
void uplook_own(struct uplook *u, const struct placed *own);
void uplook_free(struct uplook *u); /* NULL is fine */

#endif
