/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_USERSYMS_JIT_H
#define KONTEND_SYM_USERSYMS_JIT_H

#include "kontend/usersyms.h"
#include "symtab.h"

/*
 * Reads the complete records of a growing jit-PID.dump: its functions go into a symbol table, and
 * the positions of their bytes are kept. `= {0}` is a valid empty one. All input is untrusted.
 */
struct jitdump_code {
	uint64_t addr, size, index; /* index: number from the JIT compiler */
	uint64_t at;		    /* offset in the file; 0: no code */
	uint32_t name;		    /* in the table's text */
};

struct jitdump {
	uint64_t read; /* bytes of complete records */
	bool damaged;  /* no more reads */
	struct jitdump_code *codes;
	size_t n, cap;
};

/*
 * Reads a part of what was appended to the file, which has @size bytes now. *ret_more: there are
 * more complete records. 0, -ENOEXEC when it is no jitdump or damaged, -ENOMEM or -EFBIG.
 */
int jitdump_read(struct jitdump *d, struct symtab *t, int fd, uint64_t size, bool *ret_more);
/* The bytes of the latest function at @addr, from @addr on; false: not known. */
bool jitdump_place(const struct jitdump *d, uint64_t addr, uint64_t *ret_at, uint64_t *ret_len);
void jitdump_deinit(struct jitdump *d);

/* Code that a process compiled, as its JIT compiler reports it. */
struct usersym_jit {
	pid_t pid;
	bool asked;
	bool spoilt; /* the map has a part that is no text */
	enum usersym_answer answer;
	uint64_t used;
	uint64_t pause_ns, next_ns;	  /* next_ns: not searched before */
	uint64_t read, dev, ino;	  /* of the map */
	uint64_t written_ns;		  /* wall-clock time of the last write to either file */
	uint64_t mapped_from, mapped_end; /* mapping of the code read last */
	const char *dump_path;		  /* interned; NULL: no jitdump mapped */
	uint64_t dump_dev, dump_ino;
	struct jitdump dump;
	struct symtab table; /* functions of both files */
};

/* The JIT data of a process, created if new; NULL: no memory. */
struct usersym_jit *usersym_jit_of(struct usersyms *u, pid_t pid);
/* Reads code from the memory of its process. */
enum usersym_answer usersym_jit_memory(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr, void *ret, size_t n, size_t *ret_n);
/* Reads what was appended to the map and the jitdump. True: there are new names. */
bool usersym_jit_load(struct usersyms *u, struct usersym_jit *j);

#endif
