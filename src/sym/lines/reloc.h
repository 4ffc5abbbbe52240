/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_RELOC_H
#define KONTEND_SYM_SRCLINES_RELOC_H

#include <libelf.h>
#include <stdbool.h>

bool dwarf_needs_relocation(Elf *elf);
/*
 * Fills in what a linker would have, in the sections of debug information, which must be unpacked
 * and writable. False: it is damaged, or of a kind that is not known; *ret_why says so.
 */
bool dwarf_relocate(Elf *elf, const char **ret_why);

#endif
