// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stubs of .plt and .plt.sec, named after the functions that they call. Stub n of the section
 * belongs to relocation n of .rela.plt; .plt begins with one that is common to all (x86-64: 16
 * bytes, arm64: 32). Linkers differ in what else they put there, so nothing is named unless the
 * size is the one that this makes.
 */
#include "internal.h"

#include "kontend/mem.h"
#include <elf.h>
#include <errno.h>
#include <string.h>

enum { STUB_SIZE = 16, STUBS_MOST = 1 << 20 };

/* What is needed at once: relocations, the symbols they speak of, and their names. */
struct stubs {
	Elf64_Rela *relocs;
	uint8_t *symbols;
	char *names;
	size_t n, symbols_len, names_len, symbol_size;
};

static void stubs_deinit(struct stubs *s)
{
	mem_free(s->relocs);
	mem_free(s->symbols);
	mem_free(s->names);
}

static int stubs_read(const struct elfimg *e, const struct elfimg_section *rela, struct stubs *s)
{
	const struct elfimg_section *symbols = elfimg_linked(e, rela, SHT_DYNSYM);
	const struct elfimg_section *names = symbols ? elfimg_linked(e, symbols, SHT_STRTAB) : NULL;
	size_t most = STUBS_MOST * sizeof(Elf64_Rela), len;
	void *p;

	if (!names)
		return -ENOEXEC;
	int code = elfimg_load(e, rela, most, &p, &len);
	if (code < 0)
		return code;
	s->relocs = p;
	s->n = len / sizeof(Elf64_Rela);
	code = elfimg_load(e, symbols, most, &p, &s->symbols_len);
	if (code < 0)
		return code;
	s->symbols = p;
	code = elfimg_load(e, names, SYMTAB_TEXT_MOST, &p, &s->names_len);
	if (code < 0)
		return code;
	s->names = p;
	s->names[s->names_len - 1] = '\0';
	s->symbol_size = elfimg_symbol_size(e);
	return 0;
}

static const char *stub_name(const struct elfimg *e, const struct stubs *s, size_t i)
{
	uint64_t index = ELF64_R_SYM(s->relocs[i].r_info);
	struct elfimg_symbol sym;

	if (!index || index >= s->symbols_len / s->symbol_size)
		return NULL;
	elfimg_symbol(e, s->symbols + index * s->symbol_size, &sym);
	return sym.name < s->names_len && s->names[sym.name] ? s->names + sym.name : NULL;
}

static int add_stubs(const struct elfimg *e, const struct stubs *s,
		     const struct elfimg_section *plt, uint64_t head, struct symtab *t)
{
	if (plt->size != head + s->n * STUB_SIZE)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		const char *name = stub_name(e, s, i);
		struct symtab_entry x = {
			.addr = plt->addr + head + i * STUB_SIZE, .size = STUB_SIZE, .plt = true};
		int code = name ? symtab_add_text(t, &x, name, strlen(name)) : 0;
		if (code < 0)
			return code;
	}
	return 0;
}

int usersym_stubs(const struct elfimg *e, struct symtab *t)
{
	const struct elfimg_section *rela = elfimg_find(e, ".rela.plt");
	const struct elfimg_section *plt = elfimg_find(e, ".plt");
	const struct elfimg_section *second = elfimg_find(e, ".plt.sec");
	bool is_arm = e->machine == EM_AARCH64;
	struct stubs s = {0};
	int code = 0;

	if (!e->is_64 || !rela || (e->machine != EM_X86_64 && !is_arm))
		return 0;
	code = stubs_read(e, rela, &s);
	if (!code && plt)
		code = add_stubs(e, &s, plt, is_arm ? 32 : STUB_SIZE, t);
	if (!code && second)
		code = add_stubs(e, &s, second, 0, t);
	stubs_deinit(&s);
	return code == -ENOEXEC ? 0 : code;
}
