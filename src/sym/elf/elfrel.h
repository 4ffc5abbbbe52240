/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_ELFREL_H
#define KONTEND_SYM_ELFREL_H

#include <elf.h>
#include <stdint.h>

/*
 * Sections of a file that is still to be linked, as modules of the kernel are, have no addresses.
 * For us those of code lie behind each other, in the order of the file: whoever reads symbols and
 * whoever reads debug information gives a place the same address. Others are at 0, and are not
 * asked for.
 */
enum { ELFREL_FIRST = 1 << 12 };

static inline uint64_t elfrel_place(uint64_t flags, uint64_t size, uint64_t *next)
{
	uint64_t at = *next;

	if (!(flags & SHF_EXECINSTR))
		return 0;
	*next = at + ((size | (ELFREL_FIRST - 1)) + 1);
	return at;
}

#endif
