// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and code of functions as arrays in memory, and as bytes: see sections.h.
 *
 * A recording that may be killed writes new functions now and then: funcsnap_merge() joins these
 * snapshots. Objects are the same if all their members are. Of a function in both snapshots the
 * code is kept, whichever has it. Repeated data change nothing.
 */
#include "kontend/funcsnap.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t funcsnap_add_object(struct funcsnap *s, const struct funcsnap_object *item)
{
	int r = sections_add(&s->objects, &s->n_objects, &s->cap_objects, item, sizeof(*item));

	return r < 0 ? 0 : (uint32_t)s->n_objects;
}

/* Makes room for @more bytes after the @n of *@bytes. */
static int reserve(void *bytes, size_t n, size_t *cap, size_t more)
{
	size_t want = *cap ? *cap : 4096;
	char *p;

	while (want < n + more)
		want *= 2;
	if (want == *cap)
		return 0;
	memcpy(&p, bytes, sizeof(p));
	p = mem_resize(p, want, 1);
	if (!p)
		return -ENOMEM;
	memcpy(bytes, &p, sizeof(p));
	*cap = want;
	return 0;
}

uint32_t funcsnap_add_text(struct funcsnap *s, const char *text)
{
	size_t len = strlen(text) + 1;

	if (reserve(&s->strings, s->n_strings, &s->cap_strings, len + 1) < 0)
		return 0;
	if (!s->n_strings)
		s->strings[s->n_strings++] = '\0';
	uint32_t at = (uint32_t)s->n_strings;
	memcpy(s->strings + at, text, len);
	s->n_strings += len;
	return at;
}

int funcsnap_add_code(struct funcsnap *s, struct funcsnap_func *f, const void *bytes, size_t n)
{
	if (reserve(&s->code, s->n_code, &s->cap_code, n) < 0)
		return -ENOMEM;
	f->code = (uint32_t)s->n_code;
	f->code_len = (uint32_t)n;
	if (n)
		memcpy(s->code + s->n_code, bytes, n);
	s->n_code += n;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct funcsnap_func *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

void funcsnap_sort(struct funcsnap *s)
{
	if (s->n_funcs)
		qsort(s->funcs, s->n_funcs, sizeof(*s->funcs), by_place);
}

const struct funcsnap_func *funcsnap_find(const struct funcsnap *s, uint32_t object, uint64_t at)
{
	const struct funcsnap_func key = {.object = object, .start = at};
	size_t n = bisect_by(s->funcs, s->n_funcs, sizeof(key), &key, by_place);
	const struct funcsnap_func *f = n ? &s->funcs[n - 1] : NULL;

	if (!f || f->object != object || (at != f->start && at - f->start >= f->size))
		return NULL;
	return f;
}

/* True if all references are valid and the searched arrays are sorted. */
static bool fits(const void *funcsnap)
{
	const struct funcsnap *s = funcsnap;
	bool ok = sections_texts_fit(s->strings, s->n_strings, NULL, 0);

	for (size_t i = 0; ok && i < s->n_objects; i++)
		ok = sections_texts_fit(s->strings, s->n_strings, &s->objects[i].path, 1) &&
		     s->objects[i].id_len <= sizeof(s->objects[i].id);
	for (size_t i = 0; ok && i < s->n_funcs; i++) {
		const struct funcsnap_func *f = &s->funcs[i];
		ok = f->object <= s->n_objects && f->code <= s->n_code &&
		     f->code_len <= s->n_code - f->code && (!i || by_place(f - 1, f) <= 0) &&
		     sections_texts_fit(s->strings, s->n_strings, &f->name, 1);
	}
	return ok;
}

static const struct section list[] = {
	SECTION_HEAD(struct funcsnap),	 SECTION(struct funcsnap, objects),
	SECTION(struct funcsnap, funcs), SECTION(struct funcsnap, strings),
	SECTION(struct funcsnap, code),
};

const struct sections funcsnap_sections =
	SECTIONS(0x31504e53434e5546ull, struct funcsnap, list, fits, NULL); /* "FUNCSNP1" */

/* No writer exceeds these limits; a larger snapshot is damaged. */
enum { MOST_OBJECTS = 1 << 13, MOST_FUNCS = 1 << 17, MOST_BYTES = 16 << 20 };

static bool is_same_object(const struct funcsnap *a, const struct funcsnap_object *x,
			   const struct funcsnap *b, const struct funcsnap_object *y)
{
	return x->pid == y->pid && x->maj == y->maj && x->min == y->min && x->ino == y->ino &&
	       x->id_len == y->id_len && !memcmp(x->id, y->id, x->id_len) &&
	       !strcmp(funcsnap_text(a, x->path), funcsnap_text(b, y->path));
}

/* Index + 1 of the copy of object @index of @from; 0: no memory. */
static uint32_t copy_object(struct funcsnap *to, const struct funcsnap *from, uint32_t index)
{
	const struct funcsnap_object *o = &from->objects[index];
	struct funcsnap_object item = *o;

	for (size_t i = 0; i < to->n_objects; i++)
		if (is_same_object(to, &to->objects[i], from, o))
			return (uint32_t)i + 1;
	item.path = funcsnap_add_text(to, funcsnap_text(from, o->path));
	return item.path ? funcsnap_add_object(to, &item) : 0;
}

static int copy_code(struct funcsnap *to, struct funcsnap_func *f, const struct funcsnap *from,
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
	return copy_code(to, f, from, x) < 0 ? -ENOMEM : 1;
}

static int add_func(struct funcsnap *to, const struct funcsnap *from, uint32_t object,
		    const struct funcsnap_func *x)
{
	struct funcsnap_func f = {.start = x->start, .size = x->size, .object = object};

	if (x->name && !(f.name = funcsnap_add_text(to, funcsnap_text(from, x->name))))
		return -ENOMEM;
	if (x->code_len && copy_code(to, &f, from, x) < 0)
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

static bool has_room_for(const struct funcsnap *to, const struct funcsnap *from)
{
	return from->n_objects <= MOST_OBJECTS - to->n_objects &&
	       from->n_funcs <= MOST_FUNCS - to->n_funcs &&
	       from->n_strings <= MOST_BYTES - to->n_strings &&
	       from->n_code <= MOST_BYTES - to->n_code;
}

static void swap_funcsnaps(struct funcsnap *a, struct funcsnap *b)
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
		swap_funcsnaps(to, from);
		return to->n_funcs != 0;
	}
	if (!has_room_for(to, from))
		return -ENOSPC;
	/* They are sorted by object. */
	for (size_t i = 0; r >= 0 && i < from->n_funcs; i++) {
		const struct funcsnap_func *x = &from->funcs[i];
		if (x->object && x->object != of)
			object = copy_object(to, from, (of = x->object) - 1);
		r = x->object && !object ? -ENOMEM
					 : merge_func(to, known, from, x->object ? object : 0, x);
		changed |= r > 0;
	}
	funcsnap_sort(to);
	return r < 0 ? r : changed;
}
