/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_KALLSYMS_H
#define KONTEND_SYM_KALLSYMS_H

#include "kontend/load.h"
#include "kontend/sym.h"
#include "lockfn.h"
#include <endian.h>
#include <string.h>

/* A text of kallsyms being parsed, as a whole or in pieces. */
struct kallsyms_load {
	struct sym sym;
	const char *last_module; /* in the input: modules come in runs */
	size_t last_module_len;
	uint32_t last_module_at;
	size_t n_lines;
	struct lockfn_filter filter;
	bool is_noted; /* the results of kallsyms_note() are known */
};

/* Replaces @s by @with, which it takes over. */
void sym_replace(struct sym *s, const struct sym *with);
/* Prepares for texts of @len bytes in all. 0 or -ENOMEM; sym_deinit() `sym` in any case. */
int kallsyms_load_init(struct kallsyms_load *load, size_t len);
/* Appends the symbols of the lines of @text. 0 or -ENOMEM. */
int kallsyms_take(struct kallsyms_load *load, const char *text, size_t len);
/* Notes properties of the whole table from the line at @p, which ends before @end. */
void kallsyms_note(struct kallsyms_load *load, const char *p, const char *end);
/* Sorts all parsed symbols, one per address. There is at least one. */
void kallsyms_sort(struct kallsyms_load *load);
/* Keeps one per address of @n sorted entries and sets their roles. Returns their number. */
size_t kallsyms_settle(const struct sym *s, struct sym_entry *entries, size_t n);
/* True if @a is a better name than @b for their common address; false on a tie. */
bool kallsyms_is_better(const struct sym *s, const struct sym_entry *a, const struct sym_entry *b);

/* Loads eight characters, the first one lowest. */
static inline uint64_t kallsyms_eight(const char *p)
{
	return le64toh(load_u64(p));
}

/* Parses eight lower-case hex digits into *@v; false: they are others. */
static inline bool kallsyms_hex8(const char *p, uint64_t *v)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t c = kallsyms_eight(p), letter = c >> 6 & ones;
	uint64_t x = (c & ones * 15) + letter * 9;

	/* Check that the characters match these values: letters are 10 to 15, digits below. */
	uint64_t odd = x | ((x + ones * 6) ^ letter << 4);
	if (c != x + ones * '0' + letter * ('a' - '9' - 1) || odd & ones * 0xf0)
		return false;
	/* Combine pairs, fours, all: the first character is the highest. */
	x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
	x = (x << 8 | x >> 16) & 0x0000ffff0000ffff;
	*v = (x << 16 | x >> 32) & 0xffffffff;
	return true;
}

static inline bool kallsyms_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

#endif
