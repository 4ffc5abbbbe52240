/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_TYPES_H
#define KONTEND_INSPECT_BPF_TYPES_H

#include "kontend/kerntypes.h"

#include <stddef.h>
#include <stdint.h>

struct btf;

/* @shared or, if that is NULL, *ret_own, which the caller frees; NULL with @err. */
struct kerntypes *kerntypes_or(struct kerntypes *shared, struct kerntypes **ret_own,
			       struct error *err);

/* The kernel's BTF, valid as long as @t; NULL with @err. */
const struct btf *kerntypes_btf(struct kerntypes *t, struct error *err);
/*
 * Writes an excerpt of BTF into @fd, to which programs with the types @programs can be relocated:
 * every kernel type with a name of theirs, and the types of its members. 0 or a negative errno.
 */
int kerntypes_excerpt(struct kerntypes *t, const struct btf *programs, int fd);

/*
 * The id of a type, section or function of that BTF_KIND_, or a negative errno; of functions those
 * that programs call or are placed at: is_function() of index.c.
 */
int kerntypes_find(struct kerntypes *t, const char *name, uint32_t kind);
/* locks.c: a lock in a type, with a name that says which: "i_rwsem", "zone->lock". */
struct kerntypes_lock {
	uint32_t offset;
	char name[52];
};

/*
 * The locks in the structure @type, by offset; @short_name is put before names such as "lock".
 * None if there is no such type. 0 or -ENOMEM. mem_free(*ret).
 */
int kerntypes_locks(struct kerntypes *t, const char *type, const char *short_name,
		    struct kerntypes_lock **ret, size_t *ret_n);
/* The same of a variable of the type with that id: "timer_bases[0].lock". */
int kerntypes_locks_of(struct kerntypes *t, uint32_t id, const char *variable,
		       struct kerntypes_lock **ret, size_t *ret_n);
/* Where a structure has a member; -ENOENT: it has none of that name. */
int kerntypes_offset(struct kerntypes *t, const char *type, const char *member);
/* The size of a structure; -ENOENT: there is none. */
int kerntypes_size(struct kerntypes *t, const char *type);
/* The value of an enumerator of any enum; 0: there is none. */
int kerntypes_enumerator(struct kerntypes *t, const char *name);

/* Silences libbpf, since kontend reports errors itself: call it before the first call to libbpf. */
void bpf_types_quiet(void);

#endif
