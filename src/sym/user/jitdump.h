/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_JITDUMP_H
#define KONTEND_SYM_JITDUMP_H

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

#endif
