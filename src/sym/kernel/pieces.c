// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report needs some hundred of the kernel's hundred thousand symbols. The lines of the kernel
 * image come first and are sorted by address (the kernel searches them so). One walk verifies that;
 * it reads only their addresses and notes the position of every LINES-th line: a piece goes from
 * there to the next. A lookup parses the lines of its piece, with the same code as for the whole
 * table. The lines from the first one out of order on, symbols of modules and the like, are parsed
 * at once and searched in addition to the pieces.
 * All lines of one address are in one piece, so the choice among them is made there. The arrays
 * have room for everything, so nothing moves and nothing is allocated later; memory that is not
 * written to costs nothing.
 */
#include "kallsyms.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"

enum {
	LINES = 32,	   /* least lines of a piece */
	WORTH = 128 << 10, /* bytes: shorter texts are parsed as a whole */
	ADDRESS = 16,	   /* digits */
	NAME_AT = ADDRESS + 3,
};

#define UNREAD UINT32_MAX

struct piece {
	uint64_t addr;	   /* of its first line */
	uint32_t at;	   /* of its first line in the source */
	uint32_t first, n; /* its entries; n is UNREAD before the first lookup */
};

struct sym_pieces {
	const char *source;
	size_t len, head; /* bytes; bytes in pieces */
	struct piece *pieces;
	size_t n, cap;
	size_t n_lines; /* in pieces */
	/* Parsed entries: first the sorted tail, then one piece after another. */
	struct kallsyms_load load;
	size_t n_tail;
	struct sym whole;
};

struct walk {
	uint64_t addr; /* of the previous line */
	uint64_t high; /* first half of its digits, and their value */
	uint64_t high_value;
};

/*
 * Parses the line's address. Most lines share the first half of their digits with the previous one.
 */
static inline bool address_of(const char *p, struct walk *w, uint64_t *ret)
{
	uint64_t high = kallsyms_eight(p), low;

	if (!kallsyms_hex8(p + 8, &low))
		return false;
	if (high != w->high) {
		if (!kallsyms_hex8(p, &w->high_value))
			return false;
		w->high = high;
	}
	*ret = w->high_value << 32 | low;
	return true;
}

/* True for "ffffffff81000000 t name". All other formats are left to kallsyms_take(). */
static inline bool is_usual(const char *p)
{
	return p[ADDRESS] == ' ' && kallsyms_is_letter(p[ADDRESS + 1]) && p[ADDRESS + 2] == ' ' &&
	       p[NAME_AT] != '\n';
}

/*
 * True for data symbols and possible section edges. Compares four characters at once: every fourth
 * name begins with an underscore, which defeats branch prediction.
 */
static inline bool is_notable(const struct sym_pieces *p, const char *line)
{
	const char type = line[ADDRESS + 1], *name = line + NAME_AT;

	return (!p->load.sym.has_data && (type == 'b' || type == 'd')) ||
	       !memcmp(name, "__sc", 4) || !memcmp(name, "__lo", 4);
}

static bool add_piece(struct sym_pieces *p, uint64_t addr, size_t at)
{
	if (mem_grow(&p->pieces, &p->cap, p->n, sizeof(*p->pieces)))
		return false;
	p->pieces[p->n++] = (struct piece){.addr = addr, .at = (uint32_t)at, .n = UNREAD};
	return true;
}

/* Finds the pieces and their end. False: out of memory. */
static bool walk(struct sym_pieces *p)
{
	const char *line = p->source, *end = line + p->len;
	struct walk w = {0};
	size_t in_piece = 0;

	while (end - line > NAME_AT + 4) {
		uint64_t addr;

		if (!address_of(line, &w, &addr) || !is_usual(line) || addr < w.addr)
			break;
		if (is_notable(p, line))
			kallsyms_note(&p->load, line, end);
		if (!p->n || (in_piece >= LINES && addr != w.addr)) {
			if (!add_piece(p, addr, (size_t)(line - p->source)))
				return false;
			in_piece = 0;
		}
		in_piece++;
		p->n_lines++;
		w.addr = addr;
		const char *eol = memchr(line + NAME_AT, '\n', (size_t)(end - line) - NAME_AT);
		line = eol ? eol + 1 : end;
	}
	p->head = (size_t)(line - p->source);
	return true;
}

/* Parses the lines after the pieces, then makes room for all entries of pieces. */
static bool read_tail(struct sym_pieces *p)
{
	struct sym *s = &p->load.sym;

	if (kallsyms_take(&p->load, p->source + p->head, p->len - p->head))
		return false;
	p->load.is_noted = true;
	if (s->n)
		kallsyms_sort(&p->load);
	p->n_tail = s->n;
	s->cap = s->n + p->n_lines;
	struct sym_entry *entries = mem_resize(s->entries, s->cap, sizeof(*entries));
	if (entries)
		s->entries = entries;
	return entries;
}

static const struct piece *read_piece(struct sym_pieces *p, size_t i)
{
	struct piece *piece = &p->pieces[i];
	struct sym *s = &p->load.sym;
	size_t end = i + 1 < p->n ? p->pieces[i + 1].at : p->head;

	if (piece->n != UNREAD)
		return piece;
	piece->first = (uint32_t)s->n;
	/* It cannot fail: there is room. */
	(void)kallsyms_take(&p->load, p->source + piece->at, end - piece->at);
	piece->n = (uint32_t)kallsyms_settle(s, s->entries + piece->first, s->n - piece->first);
	s->n = piece->first + piece->n;
	return piece;
}

struct sym_pieces *sym_pieces_new(const char *text, size_t len, struct sym *ret)
{
	struct sym_pieces *p =
		len < WORTH || len > UINT32_MAX / 2 ? NULL : mem_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->source = text;
	p->len = len;
	/* A table without any symbol has a state of its own, which only the full load sets. */
	if (kallsyms_load_init(&p->load, len) || !walk(p) || p->head < len / 4 || !read_tail(p) ||
	    !read_piece(p, 0)->n) {
		sym_pieces_free(p);
		return NULL;
	}
	*ret = p->load.sym;
	ret->entries = NULL;
	ret->n = ret->cap = ret->text_len = ret->text_cap = 0;
	ret->pieces = p;
	return p;
}

void sym_pieces_free(struct sym_pieces *p)
{
	if (!p)
		return;
	sym_deinit(&p->load.sym);
	sym_deinit(&p->whole);
	mem_free(p->pieces);
	mem_free(p);
}

static const struct sym_entry *last_until(const struct sym_entry *entries, size_t n, uint64_t addr)
{
	size_t i = BISECT(entries, n, addr, addr);

	return i ? &entries[i - 1] : NULL;
}

/* Goes back while a piece has no entry at or below @addr. */
static const struct sym_entry *find_in_pieces(struct sym_pieces *p, uint64_t addr)
{
	const struct sym_entry *found = NULL;

	for (size_t i = BISECT(p->pieces, p->n, addr, addr); i-- > 0 && !found;) {
		const struct piece *piece = read_piece(p, i);
		found = last_until(p->load.sym.entries + piece->first, piece->n, addr);
	}
	return found;
}

const struct sym_entry *sym_pieces_find(struct sym_pieces *p, uint64_t addr)
{
	const struct sym_entry *head = find_in_pieces(p, addr);
	const struct sym_entry *tail = last_until(p->load.sym.entries, p->n_tail, addr);

	if (!head || !tail)
		return head ? head : tail;
	if (head->addr != tail->addr)
		return head->addr > tail->addr ? head : tail;
	return kallsyms_is_better(&p->load.sym, tail, head) ? tail : head;
}

const struct sym *sym_pieces_whole(struct sym_pieces *p)
{
	if (!p->whole.n && sym_load(&p->whole, p->source, p->len, NULL))
		return NULL;
	return &p->whole;
}
