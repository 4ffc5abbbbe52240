/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SNAPSHOT_UPROBES_INT_H
#define KONTEND_INSPECT_SNAPSHOT_UPROBES_INT_H

#include "bpf.h"
#include "kontend/map64.h"
#include "kontend/snapshot-uprobes.h"
#include "kontend/uprobe.h"

#include <sys/types.h>

/* Shared by the parts of a snapshot_uprobes. */

/* State of an area or of a task, from one snapshot to the next. */
struct area_past {
	uint64_t mm, since_ns, sum_used;
	int32_t pid;
	uint32_t max_used, samples, n_recent;
	uint16_t recent[UPSNAP_RECENT];
};

struct task_past {
	uint64_t key, since_ns;
};

/* The same of a probe. */
struct probe_past {
	uint64_t id, first_hits, first_ns, hits;
	bool shared;   /* see UPSNAP_SHARED: the earlier count stays in the sum */
	bool is_exact; /* as in found_probe */
	uint64_t cpu_hits[UP_EVENT_CPUS];
};

/* The code at a probe's place; read once. */
struct place {
	char path[UP_PATH];
	uint64_t offset;
	dev_t dev;
	ino_t ino;
	uint64_t placed; /* inode of the probe's file; 0: not known */
	int64_t mtime;
	struct uprobe_verdict verdict;
	enum uprobe_machine machine;
	char symbol[192], hint[128];
	uint8_t bytes[16];
	uint32_t n_bytes;
	uint64_t checked_ns; /* the snapshot that read it */
	bool debug;
};

/* A probe of kontend that a program counts. */
struct own_count {
	uint64_t event; /* its number */
	int link;
};

struct pasts {
	struct area_past *areas, *areas_next;
	size_t n_areas, cap_areas, n_areas_next, cap_areas_next;
	struct task_past *tasks, *tasks_next;
	size_t n_tasks, cap_tasks, n_tasks_next, cap_tasks_next;
	struct probe_past *probes, *probes_next;
	size_t n_probes, cap_probes, n_probes_next, cap_probes_next;
};

struct snapshot_uprobes {
	struct up_bpf bpf;
	struct up_links *links;
	bool has_bpf;
	char why[256]; /* why something is missing */
	uint32_t missing;
	char tracefs[256]; /* "": not there */
	struct uprobe_kernel kernel;
	struct uprobe_costs costs;
	bool has_costs;
	uint64_t costs_at, files_at;
	uint64_t seen; /* hash of the events and links at files_at */
	struct pasts pasts;
	struct place *places;
	size_t n_places, cap_places;
	uint64_t first_ns, last_ns, now_ns;
	int32_t slots;
	struct up_event *orphans; /* found by descriptors only, at files_at */
	size_t n_orphans, cap_orphans;
	struct proc_area {
		int32_t pid;
		char comm[32];
	} * proc; /* without BPF: processes with an area, at proc_at */
	size_t n_proc, cap_proc;
	uint64_t proc_at;
	const struct uprobe_attach *own; /* NULL: none */
	uint64_t own_ns;		 /* since when there are some */
	struct own_count *counts;	 /* those whose hits are counted in bpf.own[i] */
	uint32_t n_counts;
	struct map64 at_area; /* mm -> index + 1 in the snapshot */
};

/* A probe as it was found, before its binary is read. */
struct found_probe {
	uint64_t id, offset, ref_ctr, hits, misses;
	int32_t owner_pid, filter_pid;
	uint32_t source, flags;
	uint64_t ino; /* of the file that it was placed in, on `dev`; 0: not known */
	uint32_t dev;
	const char *comm, *path, *name;
	const unsigned long long *cpu_hits; /* UP_EVENT_CPUS; NULL: not known */
	uint32_t n_cpus;
	bool is_exact; /* hits are those in filter_pid, even if others have a probe there */
};

/* areas.c: adds the areas of the walk. 0 or -ENOMEM. */
int snapshot_uprobes_areas(struct snapshot_uprobes *u, struct upsnap *s);
/* Without BPF: the processes with an area, from /proc. */
int snapshot_uprobes_areas_proc(struct snapshot_uprobes *u, struct upsnap *s);
/* probes.c */
int snapshot_uprobes_probes(struct snapshot_uprobes *u, struct upsnap *s);
/* lists.c: calls @add for each line of tracefs, with its hits; 0, -ENOENT: there is no tracefs. */
int snapshot_uprobes_lines(struct snapshot_uprobes *u, struct upsnap *s,
			   int (*add)(struct snapshot_uprobes *u, struct upsnap *s,
				      const struct uprobe_line *l, uint64_t hits));
bool snapshot_uprobes_line_enabled(const struct snapshot_uprobes *u, const struct uprobe_line *l);
/* Events that count uprobes: those of the walk, then those found by descriptors only. */
uint32_t snapshot_uprobes_n_events(const struct snapshot_uprobes *u);
const struct up_event *snapshot_uprobes_event(const struct snapshot_uprobes *u, uint32_t i);
/* Walks through the descriptors; the next snapshot knows their holders. */
int snapshot_uprobes_walk_files(struct snapshot_uprobes *u);
/* The holder of a descriptor of @event, or, if that is 0, of @link; NULL: not known. */
const struct up_holder *snapshot_uprobes_holder(const struct snapshot_uprobes *u, uint64_t event,
						uint32_t link);
/* snapshot.c: kontend's own count of @e; NULL: none. */
const struct up_own *snapshot_uprobes_own_count(const struct snapshot_uprobes *u,
						const struct up_event *e);
/* place.c: the code at the place of @p; NULL: no memory. */
const struct place *snapshot_uprobes_place(struct snapshot_uprobes *u, const struct found_probe *p);

/* A number for a text, and for a text and a number. */
uint64_t snapshot_uprobes_hash(uint64_t from, const char *text);

#endif
