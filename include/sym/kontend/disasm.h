/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DISASM_H
#define KONTEND_DISASM_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Disassembler, one instruction at a time: x86-64 in AT&T syntax, as kernel developers read it, and
 * arm64. Bytes that are no known instruction make a line, too.
 */
enum disasm_machine { DISASM_OTHER, DISASM_X86_64, DISASM_ARM64 };

/* Loads the library at once instead of at first use, for a process that cannot load it later. */
void disasm_prepare(void);

enum disasm_kind {
	DISASM_PLAIN,
	DISASM_JUMP, /* conditional or not */
	DISASM_CALL,
	DISASM_RETURN,
	DISASM_UNKNOWN, /* "(bad)" */
};

enum { DISASM_BYTES = 16 };

struct disasm_line {
	uint32_t offset; /* from the first byte */
	uint8_t length;	 /* 1 to DISASM_BYTES */
	uint8_t bytes[DISASM_BYTES];
	enum disasm_kind kind;
	bool has_target; /* a jump or call with a known target */
	bool has_data;	 /* an operand is at a fixed address: x86-64, relative to %rip */
	uint64_t target, data;
	/* Mnemonic and operands, without control characters: "lock cmpxchgq %rdx,(%rdi)". */
	char text[160];
	uint8_t operands; /* offset of the operands in text; the length of text: no operands */
};

struct disasm;

/* The machine we run on. */
static inline enum disasm_machine disasm_machine_here(void)
{
#if defined(__x86_64__)
	return DISASM_X86_64;
#elif defined(__aarch64__)
	return DISASM_ARM64;
#else
	return DISASM_OTHER;
#endif
}

/* 0; -ENOTSUP: built without capstone, or it does not know the machine; -ENOMEM. */
int disasm_open(struct disasm **ret, enum disasm_machine m, struct error *err);
void disasm_close(struct disasm *d); /* NULL is fine */
/*
 * Decodes the instruction at offset @at of @n bytes from @address. It uses at least one byte.
 * False: @at is the end.
 */
bool disasm_line(struct disasm *d, const void *bytes, size_t n, size_t at, uint64_t address,
		 struct disasm_line *ret);

#endif
