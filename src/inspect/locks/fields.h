/* SPDX-License-Identifier: GPL-2.0-only */
/* In which objects of the kernel are locks? Shared by the files of snapshots of locks. */
#ifndef KONTEND_INSPECT_LOCKS_FIELDS_H
#define KONTEND_INSPECT_LOCKS_FIELDS_H

#include "because.h"
#include "kontend/error.h"
#include "kontend/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kerntypes;
struct locksnap;
struct raw_candidate;
struct raw_field;
struct raw_lock;

/* fields-types.c */

/* A lock within a type of objects, as BTF has it. */
struct field_member {
	const struct field_type *type;
	uint32_t offset; /* from where the object proves what it is; may be negative, modulo 2^32 */
	uint32_t base;	 /* of that, in the structure */
	uint32_t align;	 /* of the structure */
	char name[52];
	bool is_mmap; /* its process is known otherwise */
};

struct field_type {
	const char *type;	/* the structure; as its objects' locks are called: */
	const char *short_name; /* "zone" of "zone->lock"; NULL: `type` */
	/* Member that proves it, and its type; NULL: it does so itself. */
	const char *within, *inner;
	const char *name;  /* of all its locks; NULL: as BTF has them */
	const char *cache; /* slab caches of its objects, with blanks between; NULL: of no own */
	const char *fs;	   /* file systems that have such inodes; NULL: any */
	uint32_t proof;	   /* enum raw_field_type */
	bool is_aligned;   /* objects begin at multiples of their size */
	uint32_t family;   /* of its sockets; 0: any */
};

struct field_members {
	struct field_member *members;
	size_t n, cap;
};

/* Of all types that this kernel has. 0 or -ENOMEM. */
int field_members_read(struct field_members *ret, struct kerntypes *types);
void field_members_deinit(struct field_members *m);
/* Is such an object found only by a walk through all that may have it? */
bool field_is_walked(uint32_t proof);
/*
 * Which objects may the lock be in? Adds a candidate for each to @ret, which has room for @room:
 * of types that are found by a walk (@walked), or of the others. Returns their number.
 */
size_t field_candidates(const struct field_members *m, const struct raw_lock *l, bool knows_slabs,
			bool walked, struct raw_candidate *ret, size_t room);
/* The lock of that slab object by its place there alone; NULL: unknown. */
const struct field_member *field_by_cache(const struct field_members *m, const struct raw_lock *l);

/* fields-fill.c */

struct field_names {
	struct mounts mounts;
	bool mounts_known;
	const char *mountinfo, *sys; /* "/proc/self/mountinfo", "/sys", or a test's */
};

/* Adds the name of a lock that was found. 0 or -ENOMEM. */
int field_fill(const struct field_member *m, const struct raw_candidate *c,
	       const struct raw_field *r, struct field_names *names, struct locksnap *s);
/* May such an object be what was found there? */
bool field_fits(const struct field_member *m, const struct raw_field *r);

/* fields.c */

struct fields;

/* 0 or a negative errno with why. @slabs: the slab caches of locks will be known. */
int fields_new(struct fields **ret, struct kerntypes *types, bool slabs, struct error *err);
/*
 * Are the locks that were found still in the same objects? *@ret: the addresses of those that are
 * not, valid until the next call. Returns their number, or a negative errno.
 */
int fields_check(struct fields *f, const uint64_t **ret);
/*
 * Searches the first @n of the locks that have no name and were not searched before, and marks
 * those that it finds. 0 or a negative errno.
 */
int fields_find(struct fields *f, struct raw_lock *locks, size_t n);
/* Adds the names that were found. 0 or -ENOMEM. */
int fields_put(struct fields *f, struct locksnap *s);
/*
 * The name of a lock by its place in an object of its slab cache, where it is not known which
 * object that is; false: unknown.
 */
bool fields_by_cache(const struct fields *f, const struct raw_lock *l, struct locksnap *s,
		     struct locksnap_name *ret);
void fields_free(struct fields *f); /* NULL is fine */

#endif
