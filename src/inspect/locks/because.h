/* SPDX-License-Identifier: GPL-2.0-only */
/* For what do blocked tasks wait? Shared by the files of snapshots of locks. */
#ifndef KONTEND_INSPECT_LOCKS_BECAUSE_H
#define KONTEND_INSPECT_LOCKS_BECAUSE_H

#include "kontend/error.h"
#include "kontend/locksnap.h"

#include <stdbool.h>
#include <stddef.h>

struct kerntypes;

/* because.c */

/* Finds for what blocked tasks wait: see because.bpf.c. */
struct because;
struct bpf_map;
struct raw_because;

/* @blocked: the map of these tasks. 0 or a negative errno with why. */
int because_new(struct because **ret, const struct bpf_map *blocked, struct kerntypes *types,
		struct error *err);
/*
 * Objects of the first *@ret_n of the @n tasks in that map, in their order, valid until the
 * next call; NULL: nothing, and if there are tasks @err has why.
 */
const struct raw_because *because_find(struct because *b, size_t n, size_t *ret_n,
				       struct error *err);
void because_free(struct because *b); /* NULL is fine */

/* mounts.c */

/* Where file systems are mounted, as /proc/self/mountinfo says. `= {0}` is empty. */
struct mounts {
	struct mount_point {
		unsigned dev; /* major << 20 | minor */
		const char *root, *at, *source;
		const char *type; /* of its file system: "ext4" */
		unsigned id;	  /* of the mount */
	} * points;
	size_t n, cap;
	char *text;
};

/* Reads them again; @file is "/proc/self/mountinfo". 0 or a negative errno: there are none then. */
int mounts_read(struct mounts *m, const char *file);
/* A mount of that file system whose root leads to the @path in it; NULL: there is none. */
const struct mount_point *mounts_find(const struct mounts *m, unsigned dev, const char *path);
/* NULL: it is in another mount namespace, or gone. */
const struct mount_point *mounts_by_id(const struct mounts *m, unsigned id);
void mounts_deinit(struct mounts *m);

/* because-fill.c */

struct raw_path;
/* "/a/b" of the names "b", "a"; "" without a name. */
void because_path(const struct raw_path *p, char *ret, size_t size);

/* For texts of one pass. */
struct because_names {
	struct mounts mounts;
	bool mounts_known;	     /* of this pass */
	const char *mountinfo, *sys; /* "/proc/self/mountinfo", "/sys", or a test's */
};

/* Adds to @to what was found of it. */
void because_fill(const struct raw_because *b, struct because_names *names,
		  struct locksnap_blocked *to, struct locksnap *s);
/* Adds the name of a device-mapper device, and whether it is suspended. */
void because_fill_device(const struct because_names *n, struct locksnap_blocked *to,
			 struct locksnap *s);
/* The tasks with an open handle for which threads of logs wait. @found: of the first @n. */
void because_fill_logs(const struct raw_because *found, size_t n, struct locksnap *s);

#endif
