/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_STACKSHOT_H
#define KONTEND_TESTS_STACKSHOT_H

#include "kontend/unwind.h"

/*
 * A sample of this program with registers and a dump of the stack, taken by itself within some
 * functions that call each other, and that note their return addresses.
 */
enum { STACKSHOT_MOST = 65528, STACKSHOT_DEPTH = 2000, STACKSHOT_MAPS = 64 };

struct stackshot {
	uint64_t regs[33], mask;
	uint8_t stack[STACKSHOT_MOST];
	size_t len;
	uint64_t truth[STACKSHOT_DEPTH]; /* innermost first */
	size_t n;
	struct unwind_map maps[STACKSHOT_MAPS];
	size_t n_maps;
};

/* @depth functions deep; the mappings are of objects of @files. False: not on this machine. */
bool stackshot_take(struct stackshot *s, struct usersyms *files, unsigned depth);
struct unwind_sample stackshot_sample(const struct stackshot *s);

#endif
