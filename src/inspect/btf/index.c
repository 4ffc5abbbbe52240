// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of buckets over an array in the order of ids. It has a third of all types: most have no
 * name, or are functions that no program looks up.
 */
#include "index.h"
#include "kontend/mem.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

/* FNV-1a of the name without its flavour. */
static uint32_t name_hash(const char *name)
{
	uint32_t h = 0x811c9dc5;

	for (const char *p = name; *p && (*p != '_' || strncmp(p, "___", 3) != 0); p++)
		h = (h ^ (unsigned char)*p) * 0x01000193;
	return h ^ h >> 16;
}

bool btf_index_is_type(const struct btf_type *t)
{
	return t->name_off && (btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t) ||
			       btf_is_int(t) || btf_is_fwd(t) || btf_is_float(t));
}

/* Those that programs call, and those at which they may be placed. */
static bool is_function(const char *name)
{
	static const char *const begins[] = {"bpf_",
					     "mutex_",
					     "ww_mutex_",
					     "down_",
					     "up_",
					     "downgrade_write",
					     "atomic_dec_and_mutex_"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool is_asked_for(const struct btf *btf, const struct btf_type *t)
{
	if (btf_is_func(t))
		return is_function(btf__name_by_offset(btf, t->name_off));
	return btf_index_is_type(t) || btf_is_datasec(t);
}

static int list_all(struct btf_index *x, const struct btf *btf)
{
	uint32_t n = btf__type_cnt(btf);

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		if (btf_is_enum(t)) {
			if (mem_grow(&x->enums, &x->cap_enums, x->n_enums, sizeof(*x->enums)) < 0)
				return -ENOMEM;
			x->enums[x->n_enums++] = id;
		}
		if (!is_asked_for(btf, t))
			continue;
		if (mem_grow(&x->entries, &x->cap, x->n, sizeof(*x->entries)) < 0)
			return -ENOMEM;
		x->entries[x->n++] = (struct btf_index_entry){
			name_hash(btf__name_by_offset(btf, t->name_off)), id, 0};
	}
	return 0;
}

/* From the end, so that each bucket is in the order of ids. */
static int fill_buckets(struct btf_index *x)
{
	uint32_t n = 16;

	while (n < x->n)
		n *= 2;
	x->buckets = mem_calloc(n, sizeof(*x->buckets));
	if (!x->buckets)
		return -ENOMEM;
	x->mask = n - 1;
	for (size_t i = x->n; i > 0; i--) {
		uint32_t *bucket = &x->buckets[x->entries[i - 1].hash & x->mask];
		x->entries[i - 1].next = *bucket;
		*bucket = (uint32_t)i;
	}
	return 0;
}

int btf_index_make(struct btf_index *x, const struct btf *btf)
{
	int code = list_all(x, btf);

	code = code ? code : fill_buckets(x);
	if (code)
		btf_index_deinit(x);
	return code;
}

void btf_index_deinit(struct btf_index *x)
{
	mem_free(x->entries);
	mem_free(x->buckets);
	mem_free(x->enums);
	*x = (struct btf_index){0};
}

/* From the @k-th entry of its bucket on, counted from 1: the first one with this hash. */
static const struct btf_index_entry *of_hash(const struct btf_index *x, uint32_t k, uint32_t hash)
{
	while (k && x->entries[k - 1].hash != hash)
		k = x->entries[k - 1].next;
	return k ? &x->entries[k - 1] : NULL;
}

const struct btf_index_entry *btf_index_first(const struct btf_index *x, const char *name)
{
	uint32_t hash = name_hash(name);

	return x->buckets ? of_hash(x, x->buckets[hash & x->mask], hash) : NULL;
}

const struct btf_index_entry *btf_index_next(const struct btf_index *x,
					     const struct btf_index_entry *e)
{
	return of_hash(x, e->next, e->hash);
}

int btf_index_find(const struct btf_index *x, const struct btf *btf, const char *name,
		   uint32_t kind)
{
	const struct btf_index_entry *e = btf_index_first(x, name);

	for (; e; e = btf_index_next(x, e)) {
		const struct btf_type *t = btf__type_by_id(btf, e->id);
		if (btf_kind(t) == kind && !strcmp(btf__name_by_offset(btf, t->name_off), name))
			return (int)e->id;
	}
	return -ENOENT;
}
