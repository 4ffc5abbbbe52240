// SPDX-License-Identifier: GPL-2.0-only
/* One section after the other is laid into a buffer that is large enough for any of these files. */
#include "elfmake.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20, SECTIONS = 16 };

struct making {
	uint8_t *p;
	size_t at;
	Elf64_Shdr sections[SECTIONS];
	size_t n;
	char names[512];
	size_t names_len;
};

static Elf64_Shdr *add_section(struct making *k, const char *name, uint32_t type, const void *data,
			       size_t len)
{
	Elf64_Shdr *s = &k->sections[k->n++];

	k->at = (k->at + 7) & ~(size_t)7;
	if (k->n >= SECTIONS || k->at + len > ROOM / 2)
		abort();
	if (len)
		memcpy(k->p + k->at, data, len);
	*s = (Elf64_Shdr){.sh_name = (Elf64_Word)k->names_len,
			  .sh_type = type,
			  .sh_offset = k->at,
			  .sh_size = len};
	strcpy(k->names + k->names_len, name);
	k->names_len += strlen(name) + 1;
	k->at += len;
	return s;
}

static size_t add_symbols(struct making *k, const char *name, uint32_t type, const char *names,
			  const struct elfmake_symbol *from, size_t n)
{
	Elf64_Sym *s = calloc(n + 1, sizeof(*s));
	char *text = calloc(1, ROOM / 2);
	size_t len = 1, index = k->n;

	for (size_t i = 0; i < n; i++) {
		s[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)len,
				       .st_info = from[i].info,
				       .st_shndx = from[i].section,
				       .st_value = from[i].addr,
				       .st_size = from[i].size};
		strcpy(text + len, from[i].name);
		len += strlen(from[i].name) + 1;
	}
	Elf64_Shdr *sh = add_section(k, name, type, s, (n + 1) * sizeof(*s));
	sh->sh_entsize = sizeof(*s);
	sh->sh_link = (Elf64_Word)k->n;
	add_section(k, names, SHT_STRTAB, text, len);
	free(s);
	free(text);
	return index;
}

static void add_build_id(struct making *k, const struct elfmake *m)
{
	struct {
		Elf64_Nhdr h;
		char name[4];
		uint8_t id[20];
	} note = {{4, (Elf64_Word)m->build_id_len, NT_GNU_BUILD_ID}, "GNU", {0}};

	memcpy(note.id, m->build_id, m->build_id_len);
	add_section(k, ".note.gnu.build-id", SHT_NOTE, &note, 16 + m->build_id_len);
}

static void add_link(struct making *k, const struct elfmake *m)
{
	char data[256] = {0};
	size_t at = (strlen(m->link) + 4) & ~(size_t)3;

	strcpy(data, m->link);
	memcpy(data + at, &m->link_sum, sizeof(m->link_sum));
	add_section(k, ".gnu_debuglink", SHT_PROGBITS, data, at + sizeof(m->link_sum));
}

static void add_stubs(struct making *k, const struct elfmake *m, size_t dynsym)
{
	Elf64_Rela *r = calloc(m->n_stubs, sizeof(*r));

	for (size_t i = 0; i < m->n_stubs; i++)
		r[i].r_info = ELF64_R_INFO(i + 1, R_X86_64_JUMP_SLOT);
	add_section(k, ".rela.plt", SHT_RELA, r, m->n_stubs * sizeof(*r))->sh_link =
		(Elf64_Word)dynsym;
	free(r);
	Elf64_Shdr *s = add_section(k, ".plt.sec", SHT_PROGBITS, "", 0);
	s->sh_size = m->n_stubs * 16;
	s->sh_offset = ELFMAKE_TEXT + ELFMAKE_LEN - s->sh_size;
	s->sh_addr = ELFMAKE_ADDR + ELFMAKE_LEN - s->sh_size;
}

static void begin(struct making *k)
{
	Elf64_Phdr ph = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = ELFMAKE_TEXT,
			 .p_vaddr = ELFMAKE_ADDR,
			 .p_filesz = ELFMAKE_LEN,
			 .p_memsz = ELFMAKE_LEN};

	memcpy(k->p + sizeof(Elf64_Ehdr), &ph, sizeof(ph));
	add_section(k, "", SHT_NULL, "", 0);
	k->sections[0] = (Elf64_Shdr){0};
	Elf64_Shdr *text = add_section(k, ".text", SHT_PROGBITS, "", 0);
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	text->sh_addr = ELFMAKE_ADDR;
	text->sh_offset = ELFMAKE_TEXT;
	text->sh_size = ELFMAKE_LEN;
	k->at = ELFMAKE_TEXT + ELFMAKE_LEN;
}

uint8_t *elfmake(const struct elfmake *m, size_t *ret_len)
{
	struct making k = {.p = calloc(1, ROOM)};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr)};
	size_t dynsym = 0;

	begin(&k);
	if (m->build_id_len)
		add_build_id(&k, m);
	if (m->symtab)
		add_symbols(&k, ".symtab", SHT_SYMTAB, ".strtab", m->symtab, m->n_symtab);
	if (m->dynsym)
		dynsym = add_symbols(&k, ".dynsym", SHT_DYNSYM, ".dynstr", m->dynsym, m->n_dynsym);
	if (m->link)
		add_link(&k, m);
	if (m->packed)
		add_section(&k, ".gnu_debugdata", SHT_PROGBITS, m->packed, m->packed_len);
	if (m->n_stubs)
		add_stubs(&k, m, dynsym);
	h.e_shstrndx = (Elf64_Half)k.n;
	Elf64_Shdr *names = add_section(&k, ".shstrtab", SHT_STRTAB, "", 0);
	names->sh_size = k.names_len;
	memcpy(k.p + names->sh_offset, k.names, k.names_len);
	h.e_shoff = (names->sh_offset + k.names_len + 7) & ~(size_t)7;
	h.e_shnum = (Elf64_Half)k.n;
	memcpy(k.p + h.e_shoff, k.sections, k.n * sizeof(k.sections[0]));
	memcpy(k.p, &h, sizeof(h));
	*ret_len = h.e_shoff + k.n * sizeof(k.sections[0]);
	return k.p;
}

void elfmake_file(const struct elfmake *m, const char *path)
{
	size_t len;
	uint8_t *p = elfmake(m, &len);
	FILE *f = fopen(path, "we");

	if (!f || fwrite(p, 1, len, f) != len || fclose(f)) {
		perror(path);
		abort();
	}
	free(p);
}

uint32_t elfmake_sum(const uint8_t *p, size_t n)
{
	uint32_t sum = ~0u;

	for (size_t i = 0; i < n; i++) {
		sum ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}
