// SPDX-License-Identifier: GPL-2.0-only
/*
 * A list of chunks, the newest first; only the newest is filled. Chunks double up to a limit, so
 * that a small arena stays small and a large one has few chunks; a larger request gets a chunk of
 * its own size. An arena that is repeatedly filled to about the same size and reset ends up with
 * one chunk that stays: freeing memory and allocating it again costs page faults. Of a large chunk
 * only the first megabyte stays in memory after a reset, and one of which little is used for a
 * while gives way to a smaller one. Free space of a chunk is always zero: it comes zeroed and a
 * reset wipes what was used, so allocation is only a pointer bump. For the address sanitizer free
 * space counts as freed, so that it finds stale pointers.
 */
#include "kontend/arena.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	ARENA_ALIGN = 16,
	ARENA_FIRST = 4 << 10,
	ARENA_MOST = 1 << 20,
	ARENA_KEPT = 32 << 20,
	ARENA_LARGE = 256 << 10, /* chunks below that stay */
	ARENA_FEW = 4,		 /* a part of a chunk is little */
	ARENA_RESETS = 32,	 /* a while */
	GROW_FIRST = 64,	 /* items of an array */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used; /* of data */
	unsigned few;	   /* resets in turn at which little was used */
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

static struct arena_chunk *arena_add_chunk(struct arena *a, size_t need)
{
	size_t size = a->first ? a->first : ARENA_FIRST;

	if (a->head)
		size = a->head->size < ARENA_MOST / 2 ? a->head->size * 2 : ARENA_MOST;
	if (size < need)
		size = need;
	struct arena_chunk *c = mem_calloc(1, sizeof(*c) + size);
	if (!c)
		return NULL;
	c->size = size;
	c->next = a->head;
	a->head = c;
	ASAN_POISON_MEMORY_REGION(c->data, c->size);
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > PTRDIFF_MAX - 2 * ARENA_ALIGN - sizeof(struct arena_chunk))
		return NULL;
	/* Two allocations never share an address, even if one is empty. */
	size_t len = ((size ? size : 1) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	struct arena_chunk *c = a->head;

	if (!c || c->size - c->used < len)
		c = arena_add_chunk(a, len);
	if (!c)
		return NULL;
	void *p = c->data + c->used;
	ASAN_UNPOISON_MEMORY_REGION(p, len);
	c->used += len;
	a->used_bytes += len;
	return p;
}

int arena_grow(struct arena *a, void *items, size_t *cap, size_t used, size_t size)
{
	size_t more = *cap ? 2 * *cap : GROW_FIRST, bytes;
	void *old, *new;

	if (used < *cap)
		return 0;
	if (__builtin_mul_overflow(more, size, &bytes) || !(new = arena_alloc(a, bytes)))
		return -ENOMEM;
	/* The caller's pointer has another type: copied, not aliased. */
	memcpy(&old, items, sizeof(old));
	if (used)
		memcpy(new, old, used * size);
	memcpy(items, &new, sizeof(new));
	*cap = more;
	return 0;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	len = strnlen(s, len);
	char *p = arena_alloc(a, len + 1);

	return p ? memcpy(p, s, len) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = len < 0 ? NULL : arena_alloc(a, (size_t)len + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return p;
}

static void free_chunks(struct arena_chunk *c)
{
	while (c) {
		struct arena_chunk *next = c->next;

		mem_free(c);
		c = next;
	}
}

static bool is_too_large(struct arena_chunk *c)
{
	bool few = c->size > ARENA_LARGE && c->used < c->size / ARENA_FEW;

	c->few = few ? c->few + 1 : 0;
	return c->few == ARENA_RESETS;
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *c = a->head;

	if (c && (c->next || is_too_large(c))) {
		size_t all = a->used_bytes + a->used_bytes / 4;

		free_chunks(c);
		*a = (struct arena){.first = all < ARENA_KEPT ? all : ARENA_MOST};
	} else if (c) {
		mem_wipe(c->data, c->used);
		ASAN_POISON_MEMORY_REGION(c->data, c->size);
		c->used = 0;
		a->used_bytes = 0;
	}
}

void arena_move(struct arena *to, struct arena *from)
{
	struct arena_chunk **end = &to->head;

	while (*end)
		end = &(*end)->next;
	*end = from->head;
	to->used_bytes += from->used_bytes;
	*from = (struct arena){0};
}

void arena_deinit(struct arena *a)
{
	free_chunks(a->head);
	*a = (struct arena){0};
}
