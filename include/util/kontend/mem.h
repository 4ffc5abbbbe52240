/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MEM_H
#define KONTEND_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All heap memory of kontend comes from here, so that tests can make the n-th allocation fail and
 * see that every block is freed. Sizes are checked for overflow. Not for use in signal handlers;
 * safe in all threads.
 */
/* Call once at the start of a long-running program: freed large blocks return to the system. */
void mem_setup(void);
/* Returns freed small blocks of all threads to the system, after much has been allocated once. */
void mem_trim(void);
/* The same at some of the ticks of a long session, which frames, files and copies leave. */
void mem_trim_at_tick(uint64_t tick);
void *mem_calloc(size_t n, size_t size);	  /* zeroed; NULL when out of memory */
void *mem_resize(void *p, size_t n, size_t size); /* as realloc; on failure the old block stays */
char *mem_strdup(const char *s);
char *mem_join(const char *a, const char *b); /* concatenates; NULL: no memory */
/* A copy of @n elements; NULL if out of memory, or if @p is NULL. */
void *mem_dup(const void *p, size_t n, size_t size);
void mem_free(void *p); /* NULL is fine */
/* Zeroes a part of a block, of which all but the first megabyte returns to the system. */
void mem_wipe(void *p, size_t len);

/*
 * Makes room for one more element in an array that grows by doubling. @items points to the array
 * pointer, @cap to its capacity. 0, or -ENOMEM with everything unchanged. New elements are not
 * zeroed.
 */
int mem_grow(void *items, size_t *cap, size_t used, size_t size);

/* Allocations that have failed so far, in any thread. */
unsigned long mem_failures(void);

/* Tests only: the allocation after the next @n successful ones fails, once; negative = never. */
void mem_fail_after(long n);
/* Allocations made since the last mem_fail_after(). */
long mem_count(void);
/* Blocks held now, in the whole program. */
long mem_live(void);

#endif
