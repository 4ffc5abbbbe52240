/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BTF_INDEX_H
#define KONTEND_INSPECT_BTF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Types by name, from one pass over all of them: most of the time of a lookup was spent walking
 * through 130,000 types. It has the names that programs can look up: types, sections, and functions
 * that begin with "bpf_".
 */
struct btf;
struct btf_type;

struct btf_index_entry {
	uint32_t hash, id;
	uint32_t next; /* of this bucket, + 1; 0: the last one */
};

/* `= {0}` is an empty one. */
struct btf_index {
	struct btf_index_entry *entries;
	size_t n, cap;
	uint32_t *buckets, mask;
	uint32_t *enums; /* ids of all enums */
	size_t n_enums, cap_enums;
};

/* Is it a type with a name? Sections and functions do not count. */
bool btf_index_is_type(const struct btf_type *t);

/* 0 or -ENOMEM. @btf is not kept: lookups that need it take it as an argument. */
int btf_index_make(struct btf_index *x, const struct btf *btf);
void btf_index_deinit(struct btf_index *x);

/*
 * The first type that may have @name, and the next one after @e; NULL: no more. Only hashes are
 * compared, of names up to three underscores ("task_struct___old").
 */
const struct btf_index_entry *btf_index_first(const struct btf_index *x, const char *name);
const struct btf_index_entry *btf_index_next(const struct btf_index *x,
					     const struct btf_index_entry *e);
/* The type @name of a kind; or -ENOENT. */
int btf_index_find(const struct btf_index *x, const struct btf *btf, const char *name,
		   uint32_t kind);

#endif
