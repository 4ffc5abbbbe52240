/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_USERSYMS_JIT_H
#define KONTEND_SYM_USERSYMS_JIT_H

#include "kontend/usersyms.h"
#include "symtab.h"

/*
 * What a compiler has written to jit-PID.dump, read as far as it has come: its functions go into a
 * table of symbols, and where their bytes stand is remembered. `= {0}` is a valid empty one. All
 * that is read is taken for hostile.
 */
struct jitdump_code {
	uint64_t addr, size, index; /* index: the compiler's number */
	uint64_t at;		    /* in the file; 0: the code is not there */
	uint32_t name;		    /* in the table's text */
};

struct jitdump {
	uint64_t read; /* bytes of whole records */
	bool damaged;  /* nothing more is read */
	struct jitdump_code *codes;
	size_t n, cap;
};

/*
 * Takes a piece of what the file, of @size bytes now, has more than before. *ret_more: there are
 * whole records left. 0, -ENOEXEC when it is none or damaged, -ENOMEM or -EFBIG.
 */
int jitdump_read(struct jitdump *d, struct symtab *t, int fd, uint64_t size, bool *ret_more);
/* Of the function at @addr that came last: where its bytes are from @addr on; false: not known. */
bool jitdump_place(const struct jitdump *d, uint64_t addr, uint64_t *ret_at, uint64_t *ret_len);
void jitdump_deinit(struct jitdump *d);

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
