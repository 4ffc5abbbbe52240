/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DISASM_H
#define KONTEND_DISASM_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Machine code as text, an instruction at a time: x86-64 in the syntax of AT&T, as kernel people
 * read it, and arm64. Bytes that are no instruction we know of are a line, too.
 */
enum disasm_machine { DISASM_OTHER, DISASM_X86_64, DISASM_ARM64 };

/* Loads what is loaded when it is used, for whoever cannot do so later. */
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
	bool has_target; /* of a jump or call that says where to */
	bool has_data;	 /* an operand is at a fixed place: x86-64, relative to %rip */
	uint64_t target, data;
	/* "lock cmpxchgq %rdx,(%rdi)": mnemonic and operands, clean. */
	char text[160];
	uint8_t operands; /* where these begin in text; its length: there are none */
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

/* 0; -ENOTSUP: built without capstone, or not that machine; -ENOMEM. */
int disasm_open(struct disasm **ret, enum disasm_machine m, struct error *err);
void disasm_close(struct disasm *d); /* NULL is fine */
/*
 * The instruction at @at of @n bytes that lie at @address. At least one byte is used. False: @at is
 * the end.
 */
bool disasm_line(struct disasm *d, const void *bytes, size_t n, size_t at, uint64_t address,
		 struct disasm_line *ret);

#endif
