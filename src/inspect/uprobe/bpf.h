/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_UPROBE_BPF_H
#define KONTEND_INSPECT_UPROBE_BPF_H

#include "kontend/error.h"
#include "shared.h"

#include <stdbool.h>
#include <stdint.h>

struct kerntypes;

/* The programs of uprobe.bpf.c, loaded, and the arrays that they fill. */
struct up_bpf {
	struct up_state *state;
	const struct up_area *areas;
	const struct up_task *tasks;
	const struct up_event *events;
	const struct up_holder *holders;
	struct up_own *own; /* NULL until up_bpf_map_own() */
	struct up_programs *programs;
};

/* @counts_own: up_bpf_count() will be called. 0; -ENOTSUP: kontend was built without BPF; else the
 * negative errno with which the kernel refused. */
int up_bpf_open(struct up_bpf *b, int32_t uprobe_type, bool counts_own, struct kerntypes *types,
		struct error *err);
/*
 * Areas, tasks and events, of now; 0 or a negative errno. This and the next one may move the
 * arrays.
 */
int up_bpf_walk(struct up_bpf *b);
/* Adds holders of descriptors, and the events to which only descriptors lead. */
int up_bpf_walk_files(struct up_bpf *b);
/* The counts of our own probes, before the first one. 0 or a negative errno. */
int up_bpf_map_own(struct up_bpf *b);
/*
 * Counts the hits of the event @fd in own[i]. Returns a descriptor; closing it ends the count. Or a
 * negative errno.
 */
int up_bpf_count(struct up_bpf *b, uint32_t i, int fd);
void up_bpf_close(struct up_bpf *b);

/* A uprobe that a BPF link has placed. */
struct up_link {
	uint64_t offset, ref_ctr;
	uint64_t ino; /* of the file that it was placed in, on `dev`; 0: not known */
	uint32_t dev;
	uint32_t id;
	int32_t pid; /* counts in this process only; 0: in all */
	bool is_return;
	const char *path, *program; /* borrowed during the call */
};

struct up_links;

/* 0 with *ret NULL on kernels without such links; or a negative errno. */
int up_links_open(struct up_links **ret, struct kerntypes *types, struct error *err);
/* Calls @found, which answers 0 or -ENOMEM, for each uprobe of each link; of NULL: of none. */
int up_links_walk(struct up_links *l, int (*found)(void *arg, const struct up_link *l), void *arg);
void up_links_close(struct up_links *l); /* NULL is fine */

/* snapshot.c: slots of a process for instructions out of line; -1: not known for this machine. */
int32_t up_slots(void);

#endif
