/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_USERSYMS_JIT_H
#define KONTEND_SYM_USERSYMS_JIT_H

#include "jitdump.h"
#include "kontend/usersyms.h"

/* Code that a process made, of which its compiler tells. */
struct usersym_jit {
	pid_t pid;
	bool asked;
	bool spoilt; /* a part of the map is no text */
	enum usersym_answer answer;
	uint64_t used;
	uint64_t pause_ns, next_ns; /* it is not looked for before */
	uint64_t read, dev, ino;    /* of the map */
	uint64_t written_ns; /* when the later one of both files was, by the clock of the wall */
	uint64_t mapped_from, mapped_end; /* code that was read last: its mapping */
	const char *dump_path;		  /* interned; NULL: it has mapped none */
	uint64_t dump_dev, dump_ino;
	struct jitdump dump;
	struct symtab table; /* of both */
};

/* What is known of a process's own code, made if new; NULL: no memory. */
struct usersym_jit *usersym_jit_of(struct usersyms *u, pid_t pid);
/* Bytes of code out of the memory of its process. */
enum usersym_answer usersym_jit_memory(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr, void *ret, size_t n, size_t *ret_n);
/* Reads what the map and the dump have more than before. True: names are there that were not. */
bool usersym_jit_load(struct usersyms *u, struct usersym_jit *j);

#endif
