/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CALLGRAPH_H
#define KONTEND_CALLGRAPH_H

#include "kontend/error.h"
#include <stdint.h>

/* How kontend gets the call chain in user space of a sample of the profile. */
enum callgraph_mode {
	CALLGRAPH_FP,	 /* the kernel follows frame pointers */
	CALLGRAPH_DWARF, /* from registers and a dump of the stack, by the tables of programs */
	CALLGRAPH_LBR,	 /* the CPU keeps the last calls (x86-64, on some) */
};

enum { CALLGRAPH_DUMP = 8192, CALLGRAPH_DUMP_MOST = 65528 };

struct callgraph {
	enum callgraph_mode mode;
	uint32_t dump_bytes; /* of the stack; 0 but for CALLGRAPH_DWARF */
};

/*
 * "fp", "dwarf", "dwarf,SIZE" or "lbr", as perf has them. -EINVAL with @err: another word, or a
 * size that the kernel does not accept.
 */
int callgraph_parse(const char *text, struct callgraph *ret, struct error *err);
/*
 * The user registers that a dump needs, in perf's numbers: all that perf takes on this
 * architecture, and not only those that unwinding needs, as readers of perf expect them. 0: none
 * here.
 */
uint64_t callgraph_registers(void);

#endif
