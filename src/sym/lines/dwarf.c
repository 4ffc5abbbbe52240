// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads debug information with libdw, in a separate process. The file is mapped: unused parts cost
 * nothing, and a file that is truncated meanwhile kills only this process. The unit of an address
 * is found in .debug_aranges, or by checking each unit. The function is searched in all entries of
 * its unit and cached, since several places of a function are usually looked up.
 * The walk through the tree of entries has a step counter and a depth limit, because the file
 * controls nesting and references. String sections must end in a zero byte, as the library reads up
 * to it.
 */
#include "dwarf-file.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "optional.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	STEPS_MOST = 4 << 20, /* entries visited for one place */
	DEPTH_MOST = 64,
	TEXT_SIZE = 1024,
	UNPACKED_MOST = 1 << 30, /* bytes of a section */
};

bool dwarf_file_built(void)
{
	return true;
}

/*
 * Debug information of relocatable files has holes for addresses and for offsets into other
 * sections. Only the relocations that compilers emit there are supported: whole addresses of 4 and
 * 8 bytes. Each place is checked against the bounds of its section, as the file may contain
 * anything.
 */

struct relocation {
	Elf *elf;
	uint16_t machine;
	uint64_t *bases; /* of sections */
	size_t n_bases, names;
	Elf_Data *symbols, *target;
};

static const char damaged[] = "debug information damaged: a relocation is outside of its section";
static const char unknown[] = "debug information has relocations of unknown type";

static bool needs_relocation(Elf *elf)
{
	GElf_Ehdr h;

	return gelf_getehdr(elf, &h) && h.e_type == ET_REL;
}

/* Number of bytes to write; 0: none; -1: unknown type. */
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

/* NULL, or the reason of the failure. */
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

/* String sections must stay as they were checked, so nothing is written into them. */
static bool is_wanted(const struct relocation *r, Elf_Scn *target)
{
	GElf_Shdr h;
	const char *name =
		target && gelf_getshdr(target, &h) ? elf_strptr(r->elf, r->names, h.sh_name) : NULL;

	return name && h.sh_type != SHT_NOBITS && strncmp(name, ".debug_", 7) == 0 &&
	       strcmp(name, ".debug_str") != 0 && strcmp(name, ".debug_line_str") != 0;
}

/* Applies one section of relocations, if its target has debug information. */
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
	uint64_t next = ELFIMG_CODE_FIRST;
	Elf_Scn *s = NULL;
	GElf_Shdr h;

	while ((s = elf_nextscn(r->elf, s))) {
		size_t i = elf_ndxscn(s);
		if (i >= r->n_bases || !gelf_getshdr(s, &h))
			return false;
		r->bases[i] = elfimg_code_place(h.sh_flags, h.sh_size, &next);
	}
	return true;
}

static bool relocate(Elf *elf, const char **ret_why)
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

static bool is_texts(const char *name)
{
	return !strcmp(name, ".debug_str") || !strcmp(name, ".debug_line_str") ||
	       !strcmp(name, ".zdebug_str");
}

/* A compressed section states its unpacked size. */
static bool unpack(Elf_Scn *s)
{
	GElf_Chdr packed;
	GElf_Shdr h;

	if (!gelf_getshdr(s, &h))
		return false;
	if (!(h.sh_flags & SHF_COMPRESSED))
		return true;
	return gelf_getchdr(s, &packed) && packed.ch_size <= UNPACKED_MOST &&
	       elf_compress(s, 0, 0) >= 0;
}

/* True if the file has all bytes of the section, and string sections end in a zero byte. */
static bool section_is_sound(Elf *elf, size_t names, Elf_Scn *s)
{
	GElf_Shdr h;

	if (!gelf_getshdr(s, &h))
		return false;
	const char *name = elf_strptr(elf, names, h.sh_name);
	if (!name || h.sh_type == SHT_NOBITS ||
	    (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0))
		return true;
	if (!unpack(s) || (name[1] == 'z' && elf_compress_gnu(s, 0, 0) < 0))
		return false;
	Elf_Data *d = elf_rawdata(s, NULL);
	if (!d)
		return false;
	return !is_texts(name) || !d->d_size ||
	       (d->d_buf && ((const char *)d->d_buf)[d->d_size - 1] == '\0');
}

static bool sections_are_sound(Elf *elf)
{
	Elf_Scn *s = NULL;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((s = elf_nextscn(elf, s)))
		if (!section_is_sound(elf, names, s))
			return false;
	return true;
}

/* Relocations are written to a private copy; then all sections are checked again. */
static bool fill_in(struct dwarf_part *p, const char **ret_why)
{
	elf_end(p->elf);
	p->elf = elf_begin(p->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	return p->elf && sections_are_sound(p->elf) && relocate(p->elf, ret_why) &&
	       sections_are_sound(p->elf);
}

static enum srclines_answer begin(struct dwarf_part *p, const char **ret_why)
{
	*ret_why = "debug information damaged: a section is truncated or lacks its end";
	p->elf = elf_begin(p->fd, ELF_C_READ_MMAP, NULL);
	if (!p->elf || !sections_are_sound(p->elf))
		return SRCLINES_DAMAGED;
	if (needs_relocation(p->elf) && !fill_in(p, ret_why))
		return SRCLINES_DAMAGED;
	p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL);
	*ret_why = "";
	return p->dwarf ? SRCLINES_OK : SRCLINES_NO_INFO;
}

static void end(struct dwarf_part *p)
{
	dwarf_end(p->dwarf);
	elf_end(p->elf);
	if (p->fd >= 0)
		close(p->fd);
}

/* An alternate file has no meaning without the main file, but the main file works without it. */
enum srclines_answer dwarf_file_open(struct dwarf_file **ret, int fd, int alt, const char **ret_why)
{
	struct dwarf_file *d = mem_calloc(1, sizeof(*d));
	struct dwarf_part none = {.fd = fd}, shared = {.fd = alt};
	const char *ignored;

	*ret_why = "";
	if (!d) {
		end(&none);
		end(&shared);
		return SRCLINES_NO_MEMORY;
	}
	elf_version(EV_CURRENT);
	d->main.fd = fd;
	d->alt.fd = alt;
	enum srclines_answer a = begin(&d->main, ret_why);
	if (a == SRCLINES_OK && alt >= 0 && begin(&d->alt, &ignored) == SRCLINES_OK)
		dwarf_setalt(d->main.dwarf, d->alt.dwarf);
	if (a == SRCLINES_OK)
		*ret = d;
	else
		dwarf_file_close(d);
	return a;
}

void dwarf_file_close(struct dwarf_file *d)
{
	if (!d)
		return;
	end(&d->main);
	end(&d->alt);
	dwarf_variables_deinit(d);
	mem_free(d);
}

static bool find_unit(struct dwarf_file *d, Dwarf_Addr pc)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;

	if (d->has_unit && dwarf_haspc(&d->unit, pc) == 1)
		return true;
	d->has_unit = true;
	if (dwarf_addrdie(d->main.dwarf, pc, &d->unit))
		return true;
	/* Not every compiler writes .debug_aranges. */
	while (--d->steps > 0 &&
	       dwarf_get_units(d->main.dwarf, cu, &cu, &version, &type, &die, NULL) == 0)
		if (dwarf_haspc(&die, pc) == 1) {
			d->unit = die;
			return true;
		}
	d->has_unit = false;
	return false;
}

/* Entries to search for, and entries that may contain them. */
struct wanted {
	int tag;
	bool (*may_hold)(int tag);
};

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool is_block(int tag)
{
	return tag == DW_TAG_lexical_block;
}

/*
 * Finds the wanted entry that contains @pc in @in, directly or nested in entries that may hold it.
 * Those are searched whatever address range they state: some compilers give blocks none, though
 * entries inside have one.
 */
static bool find_below(struct dwarf_file *d, Dwarf_Die *in, Dwarf_Addr pc, unsigned depth,
		       const struct wanted *w, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(in, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (--d->steps <= 0)
			return false;
		if (tag == w->tag && dwarf_haspc(&die, pc) == 1) {
			*ret = die;
			return true;
		}
		if (w->may_hold(tag) && find_below(d, &die, pc, depth + 1, w, ret))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static const struct wanted a_function = {DW_TAG_subprogram, holds_functions};
static const struct wanted an_inlined = {DW_TAG_inlined_subroutine, is_block};

static const char *keep(struct strpool *names, const char *text)
{
	char clean[TEXT_SIZE];

	return strpool_intern(names, text ? text_clean(clean, sizeof(clean), text) : "");
}

/* Relative paths start at the folder of the compilation. */
static const char *keep_path(struct dwarf_file *d, struct strpool *names, const char *path)
{
	char whole[TEXT_SIZE];
	Dwarf_Attribute a;

	if (!path || path[0] == '/' || !dwarf_attr(&d->unit, DW_AT_comp_dir, &a))
		return keep(names, path);
	const char *dir = dwarf_formstring(&a);
	if (!dir)
		return keep(names, path);
	int n = snprintf(whole, sizeof(whole), "%s/%s", dir, path);
	return keep(names, n > 0 && (size_t)n < sizeof(whole) ? whole : path);
}

static const char *name_of(Dwarf_Die *die, struct strpool *names)
{
	char readable[TEXT_SIZE];
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		name = dwarf_formstring(&a);
	if (name && demangle(name, readable, sizeof(readable)))
		name = readable;
	else
		name = dwarf_diename(die);
	return keep(names, name);
}

/* The call site of an inlined function, which goes to the frame of its caller. */
static bool fill_call(struct dwarf_file *d, Dwarf_Die *inlined, struct strpool *names,
		      struct srclines_frame *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t n;
	const char *path = NULL;

	if (dwarf_attr(inlined, DW_AT_call_line, &a) && dwarf_formudata(&a, &line) == 0)
		ret->line = line < UINT32_MAX ? (uint32_t)line : 0;
	if (dwarf_attr(inlined, DW_AT_call_file, &a) && dwarf_formudata(&a, &file) == 0 &&
	    dwarf_getsrcfiles(&d->unit, &files, &n) == 0 && file < n)
		path = dwarf_filesrc(files, file, NULL, NULL);
	ret->file = keep_path(d, names, path);
	return ret->file != NULL;
}

static bool fill_line(struct dwarf_file *d, Dwarf_Addr pc, struct strpool *names,
		      struct srclines_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&d->unit, pc);
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0 && number > 0)
		ret->line = (uint32_t)number;
	ret->file = keep_path(d, names, line ? dwarf_linesrc(line, NULL, NULL) : NULL);
	return ret->file != NULL;
}

/*
 * The function and the functions inlined at @pc, outermost first; without enough room, the inner
 * ones are left out.
 */
static size_t find_chain(struct dwarf_file *d, Dwarf_Addr pc, Dwarf_Die *ret)
{
	size_t n = 0;

	if (!d->has_function || dwarf_haspc(&d->function, pc) != 1)
		d->has_function = find_below(d, &d->unit, pc, 0, &a_function, &d->function);
	if (!d->has_function)
		return 0;
	ret[n++] = d->function;
	while (n < SRCLINES_FRAMES && find_below(d, &ret[n - 1], pc, 0, &an_inlined, &ret[n]))
		n++;
	return n;
}

enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				     struct srclines_place *ret)
{
	Dwarf_Die chain[SRCLINES_FRAMES];

	d->steps = STEPS_MOST;
	*ret = (struct srclines_place){0};
	if (!find_unit(d, addr))
		return SRCLINES_NO_LINE;
	size_t n = find_chain(d, addr, chain);
	ret->n = n ? n : 1;
	if (!fill_line(d, addr, names, &ret->frames[0]))
		return SRCLINES_NO_MEMORY;
	ret->frames[0].function = n ? name_of(&chain[n - 1], names) : keep(names, NULL);
	for (size_t i = 1; i < n; i++) {
		ret->frames[i].function = name_of(&chain[n - 1 - i], names);
		if (!ret->frames[i].function ||
		    !fill_call(d, &chain[n - i], names, &ret->frames[i]))
			return SRCLINES_NO_MEMORY;
	}
	if (!ret->frames[0].function)
		return SRCLINES_NO_MEMORY;
	return n || ret->frames[0].line ? SRCLINES_OK : SRCLINES_NO_LINE;
}
