// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only access to the heap. The three counters are the only variables of the program without an
 * owner: any allocation, in either thread, must be able to fail on request, and a test must see
 * that every block is freed. They are relaxed atomics and order nothing.
 */
#include "kontend/mem.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEM_GROW_FIRST = 16, MEM_LARGE = 4 << 20, MEM_STAYS = 1 << 20, MEM_TRIM_TICKS = 8 };

/*
 * glibc adapts to each freed large block and keeps later ones of that size in its heap. Tables that
 * double leave holes there, a third of all memory after minutes.
 */
void mem_setup(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* By itself glibc returns free memory at the end of its heap only. It takes less than a
 * millisecond. */
void mem_trim(void)
{
#ifdef M_MMAP_THRESHOLD
	malloc_trim(0);
#endif
}

void mem_trim_at_tick(uint64_t tick)
{
	if (tick % MEM_TRIM_TICKS == 0)
		mem_trim();
}

/* Pages that the system gives again are zeroed, which costs as much as to zero them here. */
void mem_wipe(void *p, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)p, end = at + len;
	uintptr_t from = (at + MEM_STAYS + page - 1) & ~(page - 1), to = end & ~(page - 1);

	if (len <= MEM_STAYS || from >= to || madvise((void *)from, to - from, MADV_DONTNEED)) {
		memset(p, 0, len);
		return;
	}
	memset(p, 0, from - at);
	memset((void *)to, 0, end - to);
}

static atomic_long mem_fail_in = -1;
static atomic_long mem_allocations;
static atomic_long mem_blocks;
static atomic_ulong mem_failed;

static bool mem_must_fail(void)
{
	long n = atomic_load_explicit(&mem_fail_in, memory_order_relaxed);

	atomic_fetch_add_explicit(&mem_allocations, 1, memory_order_relaxed);
	while (n >= 0) {
		if (atomic_compare_exchange_weak(&mem_fail_in, &n, n - 1))
			return n == 0;
	}
	return false;
}

/*
 * Tables with random access profit from huge pages: with small pages, each access misses the TLB,
 * too. A table that is filled from its start wastes at most one of them.
 */
static void *mem_large(void *p, size_t len)
{
	if (!p || len < MEM_LARGE)
		return p;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1);
	madvise((void *)from, (uintptr_t)p + len - from, MADV_HUGEPAGE);
	return p;
}

/* The bytes of @n elements, at least 1: a size of 0 must not look like a failure. */
static bool mem_may(size_t n, size_t size, size_t *ret)
{
	if (__builtin_mul_overflow(n, size, ret) || *ret > PTRDIFF_MAX || mem_must_fail())
		return false;
	*ret = *ret ? *ret : 1;
	return true;
}

static void *mem_counted(void *p, bool is_new)
{
	if (!p)
		atomic_fetch_add_explicit(&mem_failed, 1, memory_order_relaxed);
	else if (is_new)
		atomic_fetch_add_explicit(&mem_blocks, 1, memory_order_relaxed);
	return p;
}

void *mem_calloc(size_t n, size_t size)
{
	size_t len;

	return mem_counted(mem_may(n, size, &len) ? mem_large(calloc(1, len), len) : NULL, true);
}

void *mem_resize(void *p, size_t n, size_t size)
{
	const bool is_new = !p;
	size_t len;

	return mem_counted(mem_may(n, size, &len) ? mem_large(realloc(p, len), len) : NULL, is_new);
}

char *mem_strdup(const char *s)
{
	size_t len = strlen(s) + 1;
	char *p = mem_calloc(len, 1);

	return p ? memcpy(p, s, len) : NULL;
}

char *mem_join(const char *a, const char *b)
{
	size_t n_a = strlen(a), n_b = strlen(b) + 1;
	char *p = mem_calloc(n_a + n_b, 1);

	if (p) {
		memcpy(p, a, n_a);
		memcpy(p + n_a, b, n_b);
	}
	return p;
}

void *mem_dup(const void *p, size_t n, size_t size)
{
	void *copy = p ? mem_calloc(n, size) : NULL;

	return copy ? memcpy(copy, p, n * size) : NULL;
}

void mem_free(void *p)
{
	if (p)
		atomic_fetch_sub_explicit(&mem_blocks, 1, memory_order_relaxed);
	free(p);
}

int mem_grow(void *items, size_t *cap, size_t used, size_t size)
{
	if (used < *cap)
		return 0;

	size_t more = MEM_GROW_FIRST;
	void *p;

	if (*cap && __builtin_mul_overflow(*cap, (size_t)2, &more))
		return -ENOMEM;
	/* The caller's pointer has another type: copied, not aliased. */
	memcpy(&p, items, sizeof(p));
	p = mem_resize(p, more, size);
	if (!p)
		return -ENOMEM;
	memcpy(items, &p, sizeof(p));
	*cap = more;
	return 0;
}

unsigned long mem_failures(void)
{
	return atomic_load_explicit(&mem_failed, memory_order_relaxed);
}

void mem_fail_after(long n)
{
	atomic_store(&mem_fail_in, n < 0 ? -1 : n);
	atomic_store(&mem_allocations, 0);
}

long mem_count(void)
{
	return atomic_load(&mem_allocations);
}

long mem_live(void)
{
	return atomic_load(&mem_blocks);
}
