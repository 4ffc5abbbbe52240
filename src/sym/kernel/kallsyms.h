/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_KALLSYMS_H
#define KONTEND_SYM_KALLSYMS_H

#include "kontend/load.h"
#include "kontend/sym.h"
#include <endian.h>
#include <string.h>

/* lockfn.c */
static inline bool sym_type_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/*
 * Index range of the table's names for each pair of first two letters. Few functions share these
 * pairs, so one lookup rejects most of a kernel's hundred thousand functions.
 */
struct lockfn_filter {
	uint8_t from[32 * 32], to[32 * 32];
};
void lockfn_filter_init(struct lockfn_filter *f);

/* Role of a function by its name, of which @len characters precede a compiler's suffix. */
enum sym_lockfn lockfn_by_name(const struct lockfn_filter *f, const char *name, size_t len);

/* Marks functions between the table's section labels, too, among @n of its sorted entries. */
void lockfn_mark_ranges(const struct sym *s, struct sym_entry *entries, size_t n);

/* kallsyms.c */

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

/* pieces.c */

/*
 * A text of kallsyms whose lines are parsed only when an address is looked up. The text must stay
 * until sym_pieces_free(). NULL: not worthwhile, or out of memory. Properties of the whole table go
 * to @ret, with its names, whose memory belongs to the pieces.
 */
struct sym_pieces *sym_pieces_new(const char *text, size_t len, struct sym *ret);
void sym_pieces_free(struct sym_pieces *p);
/* The entry with the highest address that is not above @addr, or NULL. */
const struct sym_entry *sym_pieces_find(struct sym_pieces *p, uint64_t addr);
/* The fully parsed table; NULL: out of memory. */
const struct sym *sym_pieces_whole(struct sym_pieces *p);

#endif
