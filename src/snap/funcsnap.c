// SPDX-License-Identifier: GPL-2.0-only
/* Names and code of functions as arrays in memory, and as bytes: see sections.h. */
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
