// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges snapshots of functions: a recording that may be killed writes new functions now and then.
 * Objects are the same if all their members are; of a function in both snapshots the code is kept,
 * whichever has it. Repeated data change nothing.
 */
#include "kontend/funcsnap.h"

#include <errno.h>
#include <string.h>

/* No writer exceeds these limits; a larger snapshot is damaged. */
enum { MOST_OBJECTS = 1 << 13, MOST_FUNCS = 1 << 17, MOST_BYTES = 16 << 20 };

static bool is_same(const struct funcsnap *a, const struct funcsnap_object *x,
		    const struct funcsnap *b, const struct funcsnap_object *y)
{
	return x->pid == y->pid && x->maj == y->maj && x->min == y->min && x->ino == y->ino &&
	       x->id_len == y->id_len && !memcmp(x->id, y->id, x->id_len) &&
	       !strcmp(funcsnap_text(a, x->path), funcsnap_text(b, y->path));
}

/* Index + 1 of the copy of object @index of @from; 0: no memory. */
static uint32_t object_of(struct funcsnap *to, const struct funcsnap *from, uint32_t index)
{
	const struct funcsnap_object *o = &from->objects[index];
	struct funcsnap_object item = *o;

	for (size_t i = 0; i < to->n_objects; i++)
		if (is_same(to, &to->objects[i], from, o))
			return (uint32_t)i + 1;
	item.path = funcsnap_add_text(to, funcsnap_text(from, o->path));
	return item.path ? funcsnap_add_object(to, &item) : 0;
}

static int take_code(struct funcsnap *to, struct funcsnap_func *f, const struct funcsnap *from,
		     const struct funcsnap_func *x)
{
	return funcsnap_add_code(to, f, from->code + x->code, x->code_len);
}

/* 0: nothing is new; 1: its code is; or -ENOMEM. */
static int merge_known(struct funcsnap *to, size_t at, const struct funcsnap *from,
		       const struct funcsnap_func *x)
{
	struct funcsnap_func *f = &to->funcs[at];

	if (f->code_len >= x->code_len)
		return 0;
	if (x->size > f->size)
		f->size = x->size;
	return take_code(to, f, from, x) < 0 ? -ENOMEM : 1;
}

static int add_func(struct funcsnap *to, const struct funcsnap *from, uint32_t object,
		    const struct funcsnap_func *x)
{
	struct funcsnap_func f = {.start = x->start, .size = x->size, .object = object};

	if (x->name && !(f.name = funcsnap_add_text(to, funcsnap_text(from, x->name))))
		return -ENOMEM;
	if (x->code_len && take_code(to, &f, from, x) < 0)
		return -ENOMEM;
	return funcsnap_add_func(to, &f) < 0 ? -ENOMEM : 1;
}

/* Searches the first @known functions, which are sorted. */
static int merge_func(struct funcsnap *to, size_t known, const struct funcsnap *from,
		      uint32_t object, const struct funcsnap_func *x)
{
	struct funcsnap sorted = *to;

	sorted.n_funcs = known;
	const struct funcsnap_func *f = funcsnap_find(&sorted, object, x->start);
	if (f && f->start == x->start)
		return merge_known(to, (size_t)(f - to->funcs), from, x);
	return add_func(to, from, object, x);
}

static bool has_room(const struct funcsnap *to, const struct funcsnap *from)
{
	return from->n_objects <= MOST_OBJECTS - to->n_objects &&
	       from->n_funcs <= MOST_FUNCS - to->n_funcs &&
	       from->n_strings <= MOST_BYTES - to->n_strings &&
	       from->n_code <= MOST_BYTES - to->n_code;
}

static void swap(struct funcsnap *a, struct funcsnap *b)
{
	struct funcsnap was = *a;

	*a = *b;
	*b = was;
}

int funcsnap_merge(struct funcsnap *to, struct funcsnap *from)
{
	size_t known = to->n_funcs;
	uint32_t of = 0, object = 0;
	int r = 0, changed = 0;

	if (!to->n_objects && !to->n_funcs) {
		swap(to, from);
		return to->n_funcs != 0;
	}
	if (!has_room(to, from))
		return -ENOSPC;
	/* They are sorted by object. */
	for (size_t i = 0; r >= 0 && i < from->n_funcs; i++) {
		const struct funcsnap_func *x = &from->funcs[i];
		if (x->object && x->object != of)
			object = object_of(to, from, (of = x->object) - 1);
		r = x->object && !object ? -ENOMEM
					 : merge_func(to, known, from, x->object ? object : 0, x);
		changed |= r > 0;
	}
	funcsnap_sort(to);
	return r < 0 ? r : changed;
}
