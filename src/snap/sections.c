// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts arrays to bytes and back. Input is not trusted: counts are compared with the available
 * bytes before memory is allocated for them. Texts are adjacent in one block; as neighbours often
 * have the same names, the last few texts are searched before one is added again.
 */
#include "kontend/sections.h"
#include "kontend/cursor.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

enum { LOOK_BACK = 256, TEXT_MAX = 256 }; /* bytes of texts to search; longest text */

/* Header of a section. */
struct front {
	uint32_t number, item_size;
	uint64_t count;
};

static size_t aligned(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t get_size(const void *s, unsigned at)
{
	size_t v;

	memcpy(&v, (const char *)s + at, sizeof(v));
	return v;
}

static void set_size(void *s, unsigned at, size_t v)
{
	memcpy((char *)s + at, &v, sizeof(v));
}

static size_t count_of(const struct section *c, const void *s)
{
	return c->n ? get_size(s, c->n) : 1;
}

static char *array_of(const struct section *c, const void *s)
{
	char *p;

	memcpy(&p, (const char *)s + c->items, sizeof(p));
	return p;
}

static const char *items_of(const struct section *c, const void *s)
{
	return c->n ? array_of(c, s) : (const char *)s + c->items;
}

size_t sections_size(const struct sections *k, const void *s)
{
	size_t size = sizeof(uint64_t);

	for (size_t i = 0; i < k->n; i++)
		size += sizeof(struct front) + aligned(count_of(&k->list[i], s) * k->list[i].size);
	return size;
}

void sections_encode(const struct sections *k, const void *s, void *ret)
{
	char *p = ret;

	memcpy(p, &k->magic, sizeof(k->magic));
	p += sizeof(k->magic);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct section *c = &k->list[i];
		struct front head = {i + 1, c->size, count_of(c, s)};
		size_t len = (size_t)head.count * c->size;
		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		if (len)
			memcpy(p, items_of(c, s), len);
		memset(p + len, 0, aligned(len) - len);
		p += aligned(len);
	}
}

/* Copies @count items of @have bytes in the payload to items of @want bytes in memory. */
static void copy_items(char *to, size_t want, const char *from, size_t have, size_t count)
{
	size_t both = have < want ? have : want;

	for (size_t i = 0; i < count; i++) {
		memcpy(to + i * want, from + i * have, both);
		memset(to + i * want + both, 0, want - both);
	}
}

static int take_array(const struct section *c, void *s, const struct front *f, const char *from)
{
	char *to = array_of(c, s);

	if (get_size(s, c->cap) < f->count) {
		to = mem_resize(to, f->count, c->size);
		if (!to)
			return -ENOMEM;
		memcpy((char *)s + c->items, &to, sizeof(to));
		set_size(s, c->cap, f->count);
	}
	copy_items(to, c->size, from, f->item_size, f->count);
	set_size(s, c->n, f->count);
	return 0;
}

static int take_section(const struct section *c, void *s, const struct front *f, const char *from)
{
	if (c->size == 1 && f->item_size != 1)
		return -EBADMSG;
	if (c->n)
		return take_array(c, s, f, from);
	if (f->count != 1)
		return -EBADMSG;
	copy_items((char *)s + c->items, c->size, from, f->item_size, 1);
	return 0;
}

static int next_section(const struct sections *k, void *s, struct cursor *c)
{
	struct front f;
	const void *p = cursor_bytes(c, sizeof(f));

	if (!p)
		return -EBADMSG;
	memcpy(&f, p, sizeof(f));
	if (!f.item_size || f.count > cursor_left(c) / f.item_size)
		return -EBADMSG;
	const char *items = cursor_bytes(c, aligned((size_t)f.count * f.item_size));
	const struct section *known = f.number - 1 < k->n ? &k->list[f.number - 1] : NULL;
	/* A large count of small items must not allocate much memory. */
	if (!items || (f.count > SECTIONS_ITEMS_MAX && (!known || known->size > 1)))
		return -EBADMSG;
	return known ? take_section(known, s, &f, items) : 0;
}

static int decode(const struct sections *k, void *s, const void *data, size_t len)
{
	struct cursor c = cursor_make(data, len);
	int code = 0;

	if (cursor_u64(&c) != k->magic)
		return -EPROTO;
	while (!code && cursor_left(&c))
		code = next_section(k, s, &c);
	return code;
}

int sections_decode(const struct sections *k, void *s, const void *data, size_t len)
{
	sections_clear(k, s);
	int code = decode(k, s, data, len);
	if (!code && !k->fits(s))
		code = -EBADMSG;
	if (!code && k->finish)
		code = k->finish(s);
	if (code)
		sections_deinit(k, s);
	return code;
}

void sections_clear(const struct sections *k, void *s)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct section *c = &k->list[i];
		if (c->n)
			set_size(s, c->n, 0);
		else
			memset((char *)s + c->items, 0, c->size);
	}
}

void sections_deinit(const struct sections *k, void *s)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].n)
			mem_free(array_of(&k->list[i], s));
	memset(s, 0, k->size);
}

int sections_add(void *items, size_t *n, size_t *cap, const void *item, size_t size)
{
	char *base;

	if (mem_grow(items, cap, *n, size) < 0)
		return -ENOMEM;
	memcpy(&base, items, sizeof(base));
	memcpy(base + *n * size, item, size);
	(*n)++;
	return 0;
}

static int reserve_text(char **texts, size_t n, size_t *cap, size_t more)
{
	size_t want = *cap ? *cap : 256;

	while (want < n + more)
		want *= 2;
	if (want == *cap)
		return 0;
	char *p = mem_resize(*texts, want, 1);
	if (!p)
		return -ENOMEM;
	*texts = p;
	*cap = want;
	return 0;
}

/* Offset of an equal text among the last ones, or 0. */
static uint32_t find_text(const char *texts, size_t n, const char *text, size_t len)
{
	size_t from = n > LOOK_BACK ? n - LOOK_BACK : 0;

	/* Only at positions that follow the end of another text. */
	for (size_t i = from; i + len < n; i++)
		if (i && !texts[i - 1] && memcmp(texts + i, text, len + 1) == 0)
			return (uint32_t)i;
	return 0;
}

uint32_t sections_add_text(char **texts, size_t *n, size_t *cap, const char *text)
{
	size_t len = strnlen(text, TEXT_MAX);
	char copy[TEXT_MAX + 1];

	if (!len || reserve_text(texts, *n, cap, len + 2) < 0)
		return 0;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (!*n)
		(*texts)[(*n)++] = 0;
	uint32_t at = find_text(*texts, *n, copy, len);
	if (at)
		return at;
	at = (uint32_t)*n;
	memcpy(*texts + at, copy, len + 1);
	*n += len + 1;
	return at;
}

bool sections_texts_fit(const char *texts, size_t n, const uint32_t *offsets, size_t n_offsets)
{
	if (n && (texts[0] || texts[n - 1]))
		return false;
	for (size_t i = 0; i < n_offsets; i++)
		if (offsets[i] && offsets[i] >= n)
			return false;
	return true;
}
