// SPDX-License-Identifier: GPL-2.0-only
/*
 * ELF files with probes: their machine, their bytes, and their functions by file offset. Symbols
 * have virtual addresses; the loaded segment of an offset converts between the two. Files without
 * .symtab may have a debug file under /usr/lib/debug, found by build id; otherwise .dynsym is used.
 * There is no index: each probe needs one search, and callers keep the result. kontend may run as
 * root and the file may be any user's, so elfimg.h does all reading.
 */
#include "kontend/binary.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { TABLE_MOST = 1 << 30 };

/* A symbol table; its names end in a NUL. */
struct table {
	const struct elfimg *of;
	uint8_t *entries;
	char *names;
	size_t n, names_len;
};

struct binary {
	struct elfimg elf, debug;
	struct table table; /* .of is NULL: none, or not looked for yet */
	bool looked_for_table;
};

static int open_elf(const char *path, struct elfimg *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : elfimg_open_fd(ret, fd);
}

int binary_open(struct binary **ret, const char *path, struct error *err)
{
	struct binary *b = mem_calloc(1, sizeof(*b));
	int code = b ? open_elf(path, &b->elf) : -ENOMEM;

	if (code == 0) {
		b->debug.fd = -1;
		*ret = b;
		return 0;
	}
	binary_close(b);
	if (code == -ENOMEM)
		return error_enomem(err, "reading '%s'", path);
	if (code == -ENOEXEC)
		return error_set(err, -ENOTSUP, "'%s' is not an ELF file, or is damaged", path);
	return error_errno(err, code, "Cannot open '%s'", path);
}

void binary_close(struct binary *b)
{
	if (!b)
		return;
	mem_free(b->table.entries);
	mem_free(b->table.names);
	elfimg_close(&b->elf);
	elfimg_close(&b->debug);
	mem_free(b);
}

enum uprobe_machine binary_machine(const struct binary *b)
{
	if (!b->elf.is_64)
		return UPROBE_OTHER;
	return b->elf.machine == EM_X86_64    ? UPROBE_X86_64
	       : b->elf.machine == EM_AARCH64 ? UPROBE_ARM64
					      : UPROBE_OTHER;
}

size_t binary_read(const struct binary *b, uint64_t offset, void *ret, size_t n)
{
	if (offset >= b->elf.size)
		return 0;
	if (n > b->elf.size - offset)
		n = (size_t)(b->elf.size - offset);
	return elfimg_read(&b->elf, offset, ret, n) ? n : 0;
}

static void open_debug(struct binary *b)
{
	char path[64 + 2 * ELFIMG_BUILD_ID_MAX];
	const struct elfimg *e = &b->elf;

	if (elfimg_debug_path(path, sizeof(path), "/usr/lib/debug", e->build_id, e->build_id_len))
		open_elf(path, &b->debug); /* an unreadable debug file counts as missing */
}

static bool load(struct table *t, const struct elfimg *e, uint32_t type)
{
	const struct elfimg_section *s = elfimg_find_type(e, type);
	const struct elfimg_section *names = s ? elfimg_linked(e, s, SHT_STRTAB) : NULL;
	void *entries, *text;
	size_t len;

	if (!names || elfimg_load(e, s, TABLE_MOST, &entries, &len) < 0)
		return false;
	if (elfimg_load(e, names, TABLE_MOST, &text, &t->names_len) < 0) {
		mem_free(entries);
		return false;
	}
	t->of = e;
	t->entries = entries;
	t->n = len / elfimg_symbol_size(e);
	t->names = text;
	t->names[t->names_len - 1] = '\0';
	return true;
}

/* The best symbol table of the file; NULL: none. */
static const struct table *table_of(struct binary *b)
{
	if (!b->looked_for_table && !load(&b->table, &b->elf, SHT_SYMTAB)) {
		open_debug(b);
		if (b->debug.n_sections == 0 || !load(&b->table, &b->debug, SHT_SYMTAB))
			load(&b->table, &b->elf, SHT_DYNSYM);
	}
	b->looked_for_table = true;
	return b->table.of ? &b->table : NULL;
}

/*
 * Reads entry @i and returns its name. NULL: not a defined function (@variables: nor a variable).
 */
static const char *symbol_at(const struct table *t, size_t i, bool variables,
			     struct elfimg_symbol *ret)
{
	elfimg_symbol(t->of, t->entries + i * elfimg_symbol_size(t->of), ret);
	bool function =
		ret->type == STT_FUNC || ret->type == STT_GNU_IFUNC || ret->type == STT_NOTYPE;
	if ((!function && !(variables && ret->type == STT_OBJECT)) || ret->section == SHN_UNDEF ||
	    ret->name >= t->names_len)
		return NULL;
	const char *name = t->names + ret->name;
	return *name && *name != '$' ? name : NULL; /* arm64 marks code and data with $x */
}

/* Prefers a symbol that covers the address, then the nearest one. */
static bool is_better(const struct elfimg_symbol *a, const struct elfimg_symbol *best,
		      uint64_t addr, bool any)
{
	bool covers = addr - a->addr < a->size;
	bool best_covers = any && addr - best->addr < best->size;

	if (!any || covers != best_covers)
		return !any || covers;
	if (a->addr != best->addr)
		return a->addr > best->addr;
	return a->bind == STB_GLOBAL && best->bind != STB_GLOBAL;
}

/* The best symbol in [@from, @addr], into @best; NULL: none. */
static const char *search(const struct table *t, uint64_t from, uint64_t addr, bool variables,
			  struct elfimg_symbol *best)
{
	struct elfimg_symbol sym;
	const char *found = NULL, *name;

	*best = (struct elfimg_symbol){0};
	for (size_t i = 0; t && i < t->n; i++) {
		name = symbol_at(t, i, variables, &sym);
		if (!name || sym.addr > addr || sym.addr < from ||
		    !is_better(&sym, best, addr, found))
			continue;
		*best = sym;
		found = name;
	}
	return found;
}

bool binary_symbol(struct binary *b, uint64_t offset, char *ret, size_t size, uint64_t *ret_into,
		   bool *ret_debug)
{
	const struct elfimg_segment *in =
		elfimg_segment_at(b->elf.segments, b->elf.n_segments, offset, false);
	const struct table *t = in ? table_of(b) : NULL;
	struct elfimg_symbol best;

	if (!t)
		return false;
	uint64_t addr = offset - in->offset + in->addr;
	const char *found = search(t, in->addr, addr, false, &best);
	if (found)
		snprintf(ret, size, "%s", found);
	*ret_into = found ? addr - best.addr : 0;
	*ret_debug = found && t->of == &b->debug;
	return found;
}

bool binary_address(const struct binary *b, uint64_t offset, uint64_t *ret)
{
	return elfimg_to_addr(b->elf.segments, b->elf.n_segments, offset, ret);
}

bool binary_symbol_at(struct binary *b, uint64_t addr, char *ret, size_t size, uint64_t *ret_into)
{
	struct elfimg_symbol best;
	const char *found = search(table_of(b), 0, addr, true, &best);

	if (!found || (addr != best.addr && addr - best.addr >= best.size))
		return false;
	snprintf(ret, size, "%s", found);
	*ret_into = addr - best.addr;
	return true;
}

bool binary_walk(struct binary *b, void (*each)(void *arg, const struct binary_entry *e), void *arg)
{
	const struct table *t = table_of(b);
	struct elfimg_symbol sym;
	const char *name;

	for (size_t i = 0; t && i < t->n; i++) {
		if (!(name = symbol_at(t, i, true, &sym)))
			continue;
		struct binary_entry e = {
			.name = name,
			.size = sym.size,
			.kind = sym.type == STT_OBJECT	    ? BINARY_VARIABLE
				: sym.type == STT_GNU_IFUNC ? BINARY_CHOOSER
							    : BINARY_FUNCTION,
			.global = sym.bind != STB_LOCAL,
		};
		if (!elfimg_to_offset(b->elf.segments, b->elf.n_segments, sym.addr, &e.offset))
			e.offset = UINT64_MAX;
		each(arg, &e);
	}
	return t;
}

bool binary_is_code(const struct binary *b, uint64_t offset)
{
	const struct elfimg_segment *in =
		elfimg_segment_at(b->elf.segments, b->elf.n_segments, offset, false);

	return in && in->flags & PF_X;
}
