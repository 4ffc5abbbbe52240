// SPDX-License-Identifier: GPL-2.0-only
/*
 * ELF files by libelf: which machine they are for, their bytes, and their functions by file offset.
 * A symbol has an address; the segment that an offset is loaded with tells which. Files without
 * .symtab may have one apart, under /usr/lib/debug by their build id; .dynsym is what is left then.
 * Nothing is indexed: a symbol is looked for once for each probe, and kept by who asked.
 */
#include "kontend/binary.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 64, NOTE_GNU_BUILD_ID = 3 };

struct binary {
	Elf *elf, *debug;
	int fd, debug_fd;
	bool looked_for_debug;
};

static int open_elf(const char *path, int *ret_fd, Elf **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	Elf *e = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!e || elf_kind(e) != ELF_K_ELF) {
		elf_end(e);
		close(fd);
		return -ENOTSUP;
	}
	*ret_fd = fd;
	*ret = e;
	return 0;
}

int binary_open(struct binary **ret, const char *path, struct error *err)
{
	struct binary *b = mem_calloc(1, sizeof(*b));

	if (!b)
		return error_set(err, -ENOMEM, "No memory for %s", path);
	elf_version(EV_CURRENT);
	b->debug_fd = -1;
	int code = open_elf(path, &b->fd, &b->elf);
	if (code < 0) {
		mem_free(b);
		return code == -ENOTSUP ? error_set(err, code, "%s is not an ELF file", path)
					: error_errno(err, code, "Cannot open %s", path);
	}
	*ret = b;
	return 0;
}

void binary_close(struct binary *b)
{
	if (!b)
		return;
	elf_end(b->elf);
	elf_end(b->debug);
	close(b->fd);
	if (b->debug_fd >= 0)
		close(b->debug_fd);
	mem_free(b);
}

enum uprobe_machine binary_machine(const struct binary *b)
{
	GElf_Ehdr h;

	if (!gelf_getehdr(b->elf, &h) || h.e_ident[EI_CLASS] != ELFCLASS64)
		return UPROBE_OTHER;
	return h.e_machine == EM_X86_64	   ? UPROBE_X86_64
	       : h.e_machine == EM_AARCH64 ? UPROBE_ARM64
					   : UPROBE_OTHER;
}

size_t binary_read(const struct binary *b, uint64_t offset, void *ret, size_t n)
{
	ssize_t got = offset > INT64_MAX ? -1 : pread(b->fd, ret, n, (off_t)offset);

	return got > 0 ? (size_t)got : 0;
}

/* The segment that a file offset (or, @by_addr, an address) is in. */
static bool find_segment(Elf *e, uint64_t at, bool by_addr, GElf_Phdr *ret)
{
	size_t n;

	if (elf_getphdrnum(e, &n) < 0)
		return false;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		if (!gelf_getphdr(e, (int)i, ret) || ret->p_type != PT_LOAD)
			continue;
		uint64_t from = by_addr ? ret->p_vaddr : ret->p_offset;
		if (at >= from && at - from < ret->p_filesz)
			return true;
	}
	return false;
}

static Elf_Scn *find_section(Elf *e, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(e, s)))
		if (gelf_getshdr(s, ret) && ret->sh_type == type)
			return s;
	return NULL;
}

/* Is the build id of @e in a note; how many bytes? */
static size_t build_id(Elf *e, uint8_t *ret)
{
	Elf_Scn *s = NULL;
	GElf_Shdr sh;
	GElf_Nhdr nh;
	size_t name, desc;

	while ((s = elf_nextscn(e, s))) {
		Elf_Data *d = gelf_getshdr(s, &sh) && sh.sh_type == SHT_NOTE ? elf_getdata(s, NULL)
									     : NULL;
		for (size_t at = 0, next; d; at = next) {
			next = gelf_getnote(d, at, &nh, &name, &desc);
			if (!next)
				break;
			if (nh.n_type == NOTE_GNU_BUILD_ID && nh.n_namesz == 4 &&
			    !memcmp((char *)d->d_buf + name, "GNU", 4) && nh.n_descsz > 1 &&
			    nh.n_descsz <= BUILD_ID_MAX) {
				memcpy(ret, (char *)d->d_buf + desc, nh.n_descsz);
				return nh.n_descsz;
			}
		}
	}
	return 0;
}

static void open_debug(struct binary *b)
{
	uint8_t id[BUILD_ID_MAX];
	char path[64 + 2 * BUILD_ID_MAX];
	size_t n = build_id(b->elf, id);

	b->looked_for_debug = true;
	if (!n)
		return;
	int at = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < n; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	if (open_elf(path, &b->debug_fd, &b->debug) < 0)
		b->debug_fd = -1;
}

/* The best table of symbols that there is. */
static Elf_Scn *find_symbols(struct binary *b, Elf **ret_of, GElf_Shdr *sh)
{
	Elf_Scn *s = find_section(b->elf, SHT_SYMTAB, sh);

	*ret_of = b->elf;
	if (s)
		return s;
	if (!b->looked_for_debug)
		open_debug(b);
	if (b->debug && (s = find_section(b->debug, SHT_SYMTAB, sh))) {
		*ret_of = b->debug;
		return s;
	}
	return find_section(b->elf, SHT_DYNSYM, sh);
}

/* A walk over the functions of a table, and variables if it is told so. */
struct symbols {
	Elf *of;
	Elf_Data *data;
	size_t n, at, names;
	bool variables;
	const char *name;
	GElf_Sym sym;
};

static bool symbols_begin(struct binary *b, struct symbols *w)
{
	GElf_Shdr sh;
	Elf_Scn *s;

	*w = (struct symbols){0};
	s = find_symbols(b, &w->of, &sh);
	w->data = s ? elf_getdata(s, NULL) : NULL;
	if (!w->data || !sh.sh_entsize)
		return false;
	w->n = sh.sh_size / sh.sh_entsize;
	w->names = sh.sh_link;
	return true;
}

static bool symbols_next(struct symbols *w)
{
	while (w->at < w->n && w->at < INT32_MAX) {
		if (!gelf_getsym(w->data, (int)w->at++, &w->sym))
			return false;
		unsigned type = GELF_ST_TYPE(w->sym.st_info);
		bool function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
		if ((!function && !(w->variables && type == STT_OBJECT)) ||
		    w->sym.st_shndx == SHN_UNDEF)
			continue;
		w->name = elf_strptr(w->of, w->names, w->sym.st_name);
		if (w->name && *w->name && *w->name != '$') /* arm64 marks code and data with $x */
			return true;
	}
	return false;
}

/* Which of two symbols that an address may belong to: one that covers it, then the nearest. */
static bool is_better(const GElf_Sym *a, const GElf_Sym *best, uint64_t addr, bool any)
{
	bool covers = addr - a->st_value < a->st_size;
	bool best_covers = any && addr - best->st_value < best->st_size;

	if (!any || covers != best_covers)
		return !any || covers;
	if (a->st_value != best->st_value)
		return a->st_value > best->st_value;
	return GELF_ST_BIND(a->st_info) == STB_GLOBAL && GELF_ST_BIND(best->st_info) != STB_GLOBAL;
}

bool binary_symbol(struct binary *b, uint64_t offset, char *ret, size_t size, uint64_t *ret_into,
		   bool *ret_debug)
{
	struct symbols w;
	GElf_Phdr ph;
	GElf_Sym best = {0};
	bool any = false;

	if (!find_segment(b->elf, offset, false, &ph) || !symbols_begin(b, &w))
		return false;
	uint64_t addr = offset - ph.p_offset + ph.p_vaddr;
	while (symbols_next(&w)) {
		if (w.sym.st_value > addr || w.sym.st_value < ph.p_vaddr)
			continue;
		if (!is_better(&w.sym, &best, addr, any))
			continue;
		best = w.sym;
		any = true;
		snprintf(ret, size, "%s", w.name);
	}
	*ret_into = any ? addr - best.st_value : 0;
	*ret_debug = any && w.of == b->debug;
	return any;
}

static struct binary_entry entry_of(struct binary *b, const struct symbols *w)
{
	unsigned type = GELF_ST_TYPE(w->sym.st_info);
	struct binary_entry e = {
		.name = w->name,
		.offset = UINT64_MAX,
		.size = w->sym.st_size,
		.kind = type == STT_OBJECT	? BINARY_VARIABLE
			: type == STT_GNU_IFUNC ? BINARY_CHOOSER
						: BINARY_FUNCTION,
		.global = GELF_ST_BIND(w->sym.st_info) != STB_LOCAL,
	};
	GElf_Phdr ph;

	if (find_segment(b->elf, w->sym.st_value, true, &ph))
		e.offset = w->sym.st_value - ph.p_vaddr + ph.p_offset;
	return e;
}

bool binary_walk(struct binary *b, void (*each)(void *arg, const struct binary_entry *e), void *arg)
{
	struct symbols w;

	if (!symbols_begin(b, &w))
		return false;
	w.variables = true;
	while (symbols_next(&w)) {
		struct binary_entry e = entry_of(b, &w);
		each(arg, &e);
	}
	return true;
}

bool binary_is_code(const struct binary *b, uint64_t offset)
{
	GElf_Phdr ph;

	return find_segment(b->elf, offset, false, &ph) && ph.p_flags & PF_X;
}
