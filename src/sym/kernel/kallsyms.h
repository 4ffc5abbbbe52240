/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_KALLSYMS_H
#define KONTEND_SYM_KALLSYMS_H

#include "kontend/load.h"
#include "kontend/sym.h"
#include "lockfn.h"
#include <endian.h>
#include <string.h>

/* A text of kallsyms on its way into the table, all of it or by pieces. */
struct kallsyms_load {
	struct sym sym;
	const char *last_module; /* in the input: modules come in runs */
	size_t last_module_len;
	uint32_t last_module_at;
	size_t n_lines;
	struct lockfn_filter filter;
	bool is_noted; /* what kallsyms_note() finds is known */
};

/* @s takes over what @with has. */
void sym_replace(struct sym *s, const struct sym *with);
/* For texts of @len bytes in all. 0 or -ENOMEM; sym_deinit() `sym` in any case. */
int kallsyms_load_init(struct kallsyms_load *load, size_t len);
/* Appends the symbols of the lines of @text. 0 or -ENOMEM. */
int kallsyms_take(struct kallsyms_load *load, const char *text, size_t len);
/* Notes what the line at @p, which ends before @end, says of the table as a whole. */
void kallsyms_note(struct kallsyms_load *load, const char *p, const char *end);
/* Sorts all symbols that were taken, one an address. There is one. */
void kallsyms_sort(struct kallsyms_load *load);
/* Of @n of them, which are sorted, one an address, and what they are. Answers how many. */
size_t kallsyms_settle(const struct sym *s, struct sym_entry *entries, size_t n);
/* Is @a the better name of the address that both have? Of equal ones it is not. */
bool kallsyms_is_better(const struct sym *s, const struct sym_entry *a, const struct sym_entry *b);

/* Eight characters, the first one lowest. */
static inline uint64_t kallsyms_eight(const char *p)
{
	return le64toh(load_u64(p));
}

/* Eight digits in lower case to *@v; false: they are not. */
static inline bool kallsyms_hex8(const char *p, uint64_t *v)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t c = kallsyms_eight(p), letter = c >> 6 & ones;
	uint64_t x = (c & ones * 15) + letter * 9;

	/* Are these the characters of those values? Letters are of 10 to 15, digits below. */
	uint64_t odd = x | ((x + ones * 6) ^ letter << 4);
	if (c != x + ones * '0' + letter * ('a' - '9' - 1) || odd & ones * 0xf0)
		return false;
	/* Pairs, fours, all: the first character is the highest. */
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
