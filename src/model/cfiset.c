// SPDX-License-Identifier: GPL-2.0-only
/* Tables for unwinding, as far as the recording has them. They are few. */
#include "kontend/cfiset.h"
#include "kontend/cfisnap.h"
#include "kontend/maps.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

enum { CFISET_MOST = 256, CFISET_BYTES = 64 << 20 };

struct cfiset {
	struct cfisnap *items;
	size_t n, cap;
	size_t bytes; /* of tables */
	unsigned refs;
};

struct cfiset *cfiset_new(void)
{
	struct cfiset *s = mem_calloc(1, sizeof(*s));

	if (s)
		s->refs = 1;
	return s;
}

struct cfiset *cfiset_ref(struct cfiset *s)
{
	s->refs++;
	return s;
}

void cfiset_unref(struct cfiset *s)
{
	if (!s || --s->refs)
		return;
	for (size_t i = 0; i < s->n; i++)
		cfisnap_deinit(&s->items[i]);
	mem_free(s->items);
	mem_free(s);
}

static bool is_of(const struct cfisnap *s, const struct map_object *o)
{
	const struct cfisnap_head *h = &s->head;

	return h->maj == o->maj && h->min == o->min && h->ino == o->ino &&
	       (!o->id_len || !h->id_len ||
		(h->id_len == o->id_len && !memcmp(h->id, o->id, o->id_len))) &&
	       !strcmp(cfisnap_path(s), o->path);
}

size_t cfiset_count(const struct cfiset *s)
{
	return s->n;
}

const struct cfisnap *cfiset_find(const struct cfiset *s, const struct map_object *o)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_of(&s->items[i], o))
			return &s->items[i];
	return NULL;
}

static bool is_known(const struct cfiset *s, const struct cfisnap *x)
{
	struct map_object o = {.path = cfisnap_path(x),
			       .maj = x->head.maj,
			       .min = x->head.min,
			       .ino = x->head.ino,
			       .id_len = (uint8_t)x->head.id_len};

	memcpy(o.id, x->head.id, sizeof(o.id));
	return cfiset_find(s, &o) != NULL;
}

static int add_snapshot(struct cfiset *s, const struct cfisnap *x)
{
	if (s->n >= CFISET_MOST || x->n_bytes > CFISET_BYTES - s->bytes)
		return -ENOSPC;
	if (mem_grow(&s->items, &s->cap, s->n, sizeof(*s->items)) < 0)
		return -ENOMEM;
	s->items[s->n++] = *x;
	s->bytes += x->n_bytes;
	return 1;
}

int cfiset_take(struct cfiset *s, const void *payload, size_t len)
{
	struct cfisnap x = {0};
	int r = cfisnap_decode(&x, payload, len);

	if (r == 0 && !is_known(s, &x))
		r = add_snapshot(s, &x);
	if (r <= 0)
		cfisnap_deinit(&x);
	return r < 0 ? r : 0;
}
