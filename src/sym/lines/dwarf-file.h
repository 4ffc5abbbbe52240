/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LINES_DWARF_FILE_H
#define KONTEND_SYM_LINES_DWARF_FILE_H

/* Debug information of one file, in the worker: dwarf.c opens it, dwarf-members.c reads variables.
 */
#include "internal.h"

#include <elfutils/libdw.h>

struct dwarf_part {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
};

/* The entry of a variable that is always in memory. */
struct dwarf_variable {
	uint64_t addr;
	Dwarf_Off entry, function; /* function: that it is within; 0: none */
};

/* All variables of one kind, by address, from one walk through the file. */
struct dwarf_variables {
	struct dwarf_variable *items;
	size_t n, cap;
	bool read;
};

enum {
	DWARF_OUTSIDE, /* of functions */
	DWARF_INSIDE,
	DWARF_SCOPES,
};

struct dwarf_file {
	struct dwarf_part main, alt;
	Dwarf_Die unit, function;
	bool has_unit, has_function;
	long steps;
	struct dwarf_variables variables[DWARF_SCOPES];
};

void dwarf_variables_deinit(struct dwarf_file *d);

#endif
