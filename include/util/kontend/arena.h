/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ARENA_H
#define KONTEND_ARENA_H

#include <stddef.h>

/*
 * Memory that is freed all at once: chunks in a list, allocation is a pointer bump. Pointers stay
 * valid until arena_reset() or arena_deinit(). `= {0}` is a valid empty arena.
 */
struct arena {
	struct arena_chunk *head;
	size_t used_bytes; /* allocated, in all chunks */
	size_t first;	   /* size of the next first chunk; 0: the smallest */
};

void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, zeroed, NULL on ENOMEM */
/*
 * As mem_grow(): makes room for one more element in an array of the arena that grows by doubling,
 * from 64 on. 0 or -ENOMEM with everything unchanged. New elements are zeroed.
 */
int arena_grow(struct arena *a, void *items, size_t *cap, size_t used, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keeps memory for the same amount again, up to some megabytes. */
void arena_reset(struct arena *a);
/* Moves all allocations of @from to @to, in place; @from is empty then. */
void arena_move(struct arena *to, struct arena *from);
void arena_deinit(struct arena *a);

#endif
