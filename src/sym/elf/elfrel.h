/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_ELFREL_H
#define KONTEND_SYM_ELFREL_H

#include <elf.h>
#include <stdint.h>

/*
 * Sections of relocatable files, as kernel modules are, have no addresses. kontend lays their code
 * sections out one after another, in file order, so that a place has the same address for the
 * reader of symbols and for the reader of debug information. Other sections get address 0; nothing
 * looks them up.
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
