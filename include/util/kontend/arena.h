/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ARENA_H
#define KONTEND_ARENA_H

#include <stddef.h>

/*
 * Memory that is given back all at once: chunks in a list, allocation is a pointer bump. Pointers
 * stay valid until arena_reset() or arena_deinit(). `= {0}` is a valid empty arena.
 */
struct arena {
	struct arena_chunk *head;
	size_t used_bytes; /* handed out, all chunks */
	size_t first;	   /* bytes of the next first chunk; 0: as small as it gets */
};

void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, zeroed, NULL on ENOMEM */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keeps what the same again would take, up to some megabytes. */
void arena_reset(struct arena *a);
/* What was handed out by @from belongs to @to from now on, where it lies; @from is empty then. */
void arena_move(struct arena *to, struct arena *from);
void arena_deinit(struct arena *a);

#endif
