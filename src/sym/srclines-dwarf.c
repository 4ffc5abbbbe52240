// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug information by libdw. The file is read and not mapped (it may be made shorter by somebody),
 * a section at a time when it is first needed. Which unit a place is in is told by .debug_aranges,
 * or by asking each unit; the function is looked for among all entries of its unit and kept, since
 * whoever asks for one place of a function asks for others next.
 *
 * The tree of entries is walked by steps that are counted and to a depth that is limited: how
 * entries are nested and where they refer to is said by the file.
 */
#include "srclines-dwarf.h"
#include "demangle.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	STEPS_MOST = 4 << 20, /* entries looked at for one place */
	DEPTH_MOST = 64,
	TEXT_SIZE = 4096,
	DEBUG_MOST = 2000000000, /* bytes of a file that is read */
};

struct dwarf_file {
	struct elfimg image; /* whose segments say where places are */
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die unit, function;
	bool has_function;
	long steps;
};

static bool has_dwarf(const struct elfimg *e)
{
	const struct elfimg_section *s = elfimg_find(e, ".debug_info");

	return s && s->size && s->size < DEBUG_MOST && e->fd >= 0 && !e->mem;
}

/* Descriptor of the file with the debug information; -ENOENT: there is none. */
static int find_dwarf(const struct usersyms_config *c, struct usersym_load *l)
{
	const struct elfimg *with = &l->main;

	if (!has_dwarf(with)) {
		int code = usersym_debug_file(c, l);
		if (code < 0)
			return code;
		with = &l->debug;
		if (code == 0 || !has_dwarf(with))
			return -ENOENT;
	}
	int fd = dup(with->fd);
	return fd < 0 ? -errno : fd;
}

static enum srclines_answer begin(struct dwarf_file *d)
{
	elf_version(EV_CURRENT);
	d->elf = elf_begin(d->fd, ELF_C_READ, NULL);
	d->dwarf = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	return d->dwarf ? SRCLINES_OK : SRCLINES_NO_INFO;
}

enum srclines_answer dwarf_file_open(struct dwarf_file **ret, const struct usersyms_config *c,
				     struct usersym_object *o)
{
	struct usersym_load l = {.object = o, .root_fd = -1};
	struct dwarf_file *d = mem_calloc(1, sizeof(*d));
	enum srclines_answer a = SRCLINES_OK;

	if (!d)
		return SRCLINES_NO_MEMORY;
	d->fd = -1;
	if (usersym_open(c, o, &l.main, &l.root_fd) != USERSYM_OK) {
		mem_free(d);
		return SRCLINES_NO_FILE;
	}
	d->fd = find_dwarf(c, &l);
	if (d->fd < 0)
		a = d->fd == -ENOMEM ? SRCLINES_NO_MEMORY : SRCLINES_NO_INFO;
	d->image = l.main;
	l.main = (struct elfimg){.fd = -1};
	usersym_load_end(&l);
	a = a == SRCLINES_OK ? begin(d) : a;
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
	dwarf_end(d->dwarf);
	elf_end(d->elf);
	if (d->fd >= 0)
		close(d->fd);
	elfimg_close(&d->image);
	mem_free(d);
}

static bool find_unit(struct dwarf_file *d, Dwarf_Addr pc)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;

	if (dwarf_addrdie(d->dwarf, pc, &d->unit))
		return true;
	/* Not every compiler writes what that is told by. */
	while (--d->steps > 0 &&
	       dwarf_get_units(d->dwarf, cu, &cu, &version, &type, &die, NULL) == 0)
		if (dwarf_haspc(&die, pc) == 1) {
			d->unit = die;
			return true;
		}
	return false;
}

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* The function below @in that @pc is in. */
static bool find_function(struct dwarf_file *d, Dwarf_Die *in, Dwarf_Addr pc, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(in, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (--d->steps <= 0)
			return false;
		if (tag == DW_TAG_subprogram && dwarf_haspc(&die, pc) == 1) {
			d->function = die;
			return true;
		}
		if (may_hold_functions(tag) && find_function(d, &die, pc, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/*
 * What is inlined in @in at @pc. Blocks are gone through whatever they say of where they are: some
 * compilers give them no place, though what is in them has one.
 */
static bool find_inlined(struct dwarf_file *d, Dwarf_Die *in, Dwarf_Addr pc, unsigned depth,
			 Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(in, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (--d->steps <= 0)
			return false;
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&die, pc) == 1) {
			*ret = die;
			return true;
		}
		if (tag == DW_TAG_lexical_block && find_inlined(d, &die, pc, depth + 1, ret))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static const char *keep(struct strpool *names, const char *text)
{
	char clean[TEXT_SIZE];

	return strpool_intern(names, text ? text_clean(clean, sizeof(clean), text) : "");
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

/* Where an inlined function was called, which is in the frame that it is inlined in. */
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
	ret->file = keep(names, path);
	return ret->file != NULL;
}

static bool fill_line(struct dwarf_file *d, Dwarf_Addr pc, struct strpool *names,
		      struct srclines_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&d->unit, pc);
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0 && number > 0)
		ret->line = (uint32_t)number;
	ret->file = keep(names, line ? dwarf_linesrc(line, NULL, NULL) : NULL);
	return ret->file != NULL;
}

/* The function and what is inlined at @pc, outermost first; beyond the room the inner ones. */
static size_t find_chain(struct dwarf_file *d, Dwarf_Addr pc, Dwarf_Die *ret)
{
	size_t n = 0;

	if (!d->has_function || dwarf_haspc(&d->function, pc) != 1)
		d->has_function = find_function(d, &d->unit, pc, 0);
	if (!d->has_function)
		return 0;
	ret[n++] = d->function;
	while (n < SRCLINES_FRAMES && find_inlined(d, &ret[n - 1], pc, 0, &ret[n]))
		n++;
	return n;
}

enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t file_offset,
				     struct strpool *names, struct srclines_place *ret)
{
	Dwarf_Die chain[SRCLINES_FRAMES];
	uint64_t pc;

	d->steps = STEPS_MOST;
	if (!elfimg_to_addr(d->image.segments, d->image.n_segments, file_offset, &pc))
		return SRCLINES_NO_LINE;
	if (!d->has_function || dwarf_haspc(&d->function, pc) != 1) {
		d->has_function = false;
		if (!find_unit(d, pc))
			return SRCLINES_NO_LINE;
	}
	size_t n = find_chain(d, pc, chain);
	ret->n = n ? n : 1;
	if (!fill_line(d, pc, names, &ret->frames[0]))
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
