// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loaded into kontend before all libraries: the FAIL_AT-th request for heap memory that the program
 * itself makes gets none, in each process. With FAIL_ON set, those after it get none either. The
 * libraries that it is linked with get theirs: some of them do not look whether they did.
 */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static atomic_ulong n_calls;
static unsigned long fail_at;
static bool fails_on;
static uintptr_t program_from, program_to;

/* The program is the first of the loaded objects. */
static int find_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		program_from = info->dlpi_addr + p->p_vaddr;
		program_to = program_from + p->p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT");

	dl_iterate_phdr(find_program, NULL);
	fails_on = getenv("FAIL_ON") != NULL;
	fail_at = at ? strtoul(at, NULL, 10) : 0;
}

static bool fails(const void *caller)
{
	uintptr_t from = (uintptr_t)caller;

	if (!fail_at || from < program_from || from >= program_to)
		return false;
	unsigned long n = atomic_fetch_add(&n_calls, 1) + 1;
	if (n != fail_at && !(fails_on && n > fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t n)
{
	return FAILS ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return n && FAILS ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all) || (all && FAILS)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, all);
}
