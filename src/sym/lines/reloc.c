// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug information of a file that is still to be linked has holes where addresses and places in
 * other sections go. Only what compilers write there is known: whole addresses of 4 and 8 bytes.
 * Every place is compared with the section that it is in, as the file may say anything.
 */
#include "reloc.h"
#include "elf/elfrel.h"
#include "kontend/mem.h"

#include <endian.h>
#include <gelf.h>
#include <string.h>

struct relocation {
	Elf *elf;
	uint16_t machine;
	uint64_t *bases; /* of sections */
	size_t n_bases, names;
	Elf_Data *symbols, *target;
};

static const char damaged[] = "debug information damaged: a relocation is of no place";
static const char unknown[] = "debug information has relocations of a kind that is not known";

bool dwarf_needs_relocation(Elf *elf)
{
	GElf_Ehdr h;

	return gelf_getehdr(elf, &h) && h.e_type == ET_REL;
}

/* Bytes that are written; 0: none; -1: it is not known. */
static int width_of(uint16_t machine, uint64_t type)
{
	if (type == 0)
		return 0;
	if (machine == EM_X86_64)
		return type == R_X86_64_64			     ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : -1;
	if (machine == EM_AARCH64)
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : -1;
	return -1;
}

static bool value_of(const struct relocation *r, const GElf_Rela *rela, uint64_t *ret)
{
	size_t index = GELF_R_SYM(rela->r_info);
	GElf_Sym s;

	if (index > INT32_MAX || !gelf_getsym(r->symbols, (int)index, &s))
		return false;
	if (s.st_shndx >= r->n_bases && s.st_shndx < SHN_LORESERVE)
		return false;
	uint64_t base = s.st_shndx < r->n_bases ? r->bases[s.st_shndx] : 0;
	*ret = base + s.st_value + (uint64_t)rela->r_addend;
	return s.st_shndx != SHN_XINDEX;
}

/* NULL, or why not. */
static const char *apply_one(const struct relocation *r, const GElf_Rela *rela)
{
	int width = width_of(r->machine, GELF_R_TYPE(rela->r_info));
	size_t size = r->target->d_size;
	uint64_t value;

	if (width < 0)
		return unknown;
	if (width == 0)
		return NULL;
	if (rela->r_offset > size || (size_t)width > size - rela->r_offset ||
	    !value_of(r, rela, &value))
		return damaged;
	value = htole64(value);
	memcpy((char *)r->target->d_buf + rela->r_offset, &value, (size_t)width);
	return NULL;
}

static const char *apply_all(const struct relocation *r, Elf_Data *list, size_t n)
{
	const char *why = NULL;
	GElf_Rela rela;

	for (size_t i = 0; i < n && !why; i++)
		why = i < INT32_MAX && gelf_getrela(list, (int)i, &rela) ? apply_one(r, &rela)
									 : damaged;
	return why;
}

/* The texts of sections must stay as they were found, so nothing is written into them. */
static bool is_wanted(const struct relocation *r, Elf_Scn *target)
{
	GElf_Shdr h;
	const char *name =
		target && gelf_getshdr(target, &h) ? elf_strptr(r->elf, r->names, h.sh_name) : NULL;

	return name && h.sh_type != SHT_NOBITS && strncmp(name, ".debug_", 7) == 0 &&
	       strcmp(name, ".debug_str") != 0 && strcmp(name, ".debug_line_str") != 0;
}

/* One section of relocations, if it is one of debug information. */
static const char *apply_section(struct relocation *r, Elf_Scn *s)
{
	GElf_Shdr h;

	if (!gelf_getshdr(s, &h))
		return damaged;
	if (h.sh_type != SHT_RELA && h.sh_type != SHT_REL)
		return NULL;
	Elf_Scn *target = elf_getscn(r->elf, h.sh_info), *symbols = elf_getscn(r->elf, h.sh_link);
	if (!is_wanted(r, target))
		return NULL;
	if (h.sh_type == SHT_REL)
		return unknown;
	Elf_Data *list = elf_getdata(s, NULL);
	r->target = elf_rawdata(target, NULL);
	r->symbols = symbols ? elf_getdata(symbols, NULL) : NULL;
	if (!list || !r->symbols || !r->target || !r->target->d_buf || !h.sh_entsize)
		return damaged;
	return apply_all(r, list, list->d_size / gelf_fsize(r->elf, ELF_T_RELA, 1, EV_CURRENT));
}

static bool place_sections(struct relocation *r)
{
	uint64_t next = ELFREL_FIRST;
	Elf_Scn *s = NULL;
	GElf_Shdr h;

	while ((s = elf_nextscn(r->elf, s))) {
		size_t i = elf_ndxscn(s);
		if (i >= r->n_bases || !gelf_getshdr(s, &h))
			return false;
		r->bases[i] = elfrel_place(h.sh_flags, h.sh_size, &next);
	}
	return true;
}

bool dwarf_relocate(Elf *elf, const char **ret_why)
{
	struct relocation r = {.elf = elf};
	const char *why = NULL;
	Elf_Scn *s = NULL;
	GElf_Ehdr h;

	if (gelf_getehdr(elf, &h) && elf_getshdrnum(elf, &r.n_bases) == 0 &&
	    elf_getshdrstrndx(elf, &r.names) == 0)
		r.bases = mem_calloc(r.n_bases, sizeof(*r.bases));
	if (!r.bases || !place_sections(&r))
		why = damaged;
	else
		r.machine = h.e_machine;
	while (!why && (s = elf_nextscn(elf, s)))
		why = apply_section(&r, s);
	mem_free(r.bases);
	if (why)
		*ret_why = why;
	return !why;
}
