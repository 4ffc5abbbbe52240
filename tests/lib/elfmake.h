/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_ELFMAKE_H
#define KONTEND_TESTS_ELFMAKE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Small ELF files for tests: one executable segment, file offset 0x1000 at address 0x401000, 4 KiB
 * of it, which is the section .text (index 1); and whatever tables a test asks for.
 */
enum { ELFMAKE_TEXT = 0x1000, ELFMAKE_ADDR = 0x401000, ELFMAKE_LEN = 0x1000 };

struct elfmake_symbol {
	const char *name;
	uint64_t addr, size;
	uint8_t info;	  /* ELF64_ST_INFO() */
	uint16_t section; /* 1: .text, 0: undefined */
};

struct elfmake {
	uint8_t build_id[20];
	size_t build_id_len;
	const struct elfmake_symbol *symtab, *dynsym;
	size_t n_symtab, n_dynsym;
	const char *link; /* .gnu_debuglink */
	uint32_t link_sum;
	const void *packed; /* .gnu_debugdata */
	size_t packed_len;
	size_t n_stubs; /* .plt.sec: stub i calls dynsym i; in .text's last bytes */
};

/* The file's bytes, free() them. */
uint8_t *elfmake(const struct elfmake *m, size_t *ret_len);
/* As a file; fails the program when it cannot. */
void elfmake_file(const struct elfmake *m, const char *path);
uint32_t elfmake_sum(const uint8_t *p, size_t n);

#endif
