// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kallsyms as an array sorted by address, with all names in one text: some 70,000 functions
 * in about 3 MB, found by bisection without any allocation. The symbols of the kernel image are
 * sorted in the file; only those that follow, of modules and BPF programs, need sorting. Of several
 * names at one address, the one that a reader expects is kept (kallsyms_rank()). A line is "ADDRESS
 * TYPE NAME[\t[MODULE]]"; other lines are skipped, so that a newer format or a truncated text costs
 * only the lines it damages. Padding in front of functions (__pfx_) is no function.
 */
#include "kallsyms.h"
#include "kontend/mem.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KALLSYMS_NAME = 512 }; /* KSYM_NAME_LEN */

/* A parsed line; its texts are in the input and not terminated. */
struct kallsyms_line {
	uint64_t addr;
	const char *name, *module;
	size_t name_len, module_len;
	char type;
	bool is_dirty; /* contains control or non-ASCII characters */
	bool has_dot;  /* a compiler's suffix may follow the dot */
};

static inline const char *kallsyms_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/*
 * Skips plain characters at @p, eight at a time. Stops at a blank or control character, at any
 * other character that is not plain, or where fewer than eight are left.
 */
static inline const char *kallsyms_plain(const char *p, const char *end, bool *ret_dot)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;

	for (; end - p >= 8; p += 8) {
		uint64_t v = kallsyms_eight(p), dots = v ^ ones * '.';
		/* The top bits are exact up to the lowest one set. */
		uint64_t blank = (v - ones * (' ' + 1)) & ~v & tops;
		uint64_t before = blank ? (blank & -blank) - 1 : UINT64_MAX;

		if ((v | (v + ones)) & tops & before)
			break;
		*ret_dot |= (dots - ones) & ~dots & tops & before;
		if (blank)
			return p + __builtin_ctzll(blank) / 8;
	}
	return p;
}

/* Skips the word at @p, which ends at a blank or at the end of the line. */
static inline const char *kallsyms_word(const char *p, const char *end, struct kallsyms_line *l)
{
	for (p = kallsyms_plain(p, end, &l->has_dot); p < end; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || !c))
			break;
		l->is_dirty |= c <= ' ' || c >= 0x7f;
		l->has_dot |= c == '.';
	}
	return p;
}

/*
 * Parses and skips the number at @p; NULL: no number. Uses a table, as digits defeat branch
 * prediction.
 */
static inline const char *kallsyms_hex(const char *p, const char *end, uint64_t *ret)
{
	uint64_t high, low;

	/* The kernel's format: 16 digits. */
	if (end - p >= 16 && kallsyms_hex8(p, &high) && kallsyms_hex8(p + 8, &low)) {
		*ret = high << 32 | low;
		return p + 16;
	}
	static const uint8_t digits[256] = {
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
		['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};
	const char *from = p, *most = end - p < 16 ? end : p + 16;
	uint64_t v = 0;
	uint8_t digit;

	for (; p < most && (digit = digits[(unsigned char)*p]) != 0; p++)
		v = v << 4 | (digit - 1u);
	*ret = v;
	return p > from ? p : NULL;
}

/* Parses address and type. Returns the start of the name; NULL: no line of kallsyms. */
static inline const char *kallsyms_head(const char *p, const char *end, struct kallsyms_line *l)
{
	p = kallsyms_hex(kallsyms_blanks(p, end), end, &l->addr);
	if (!p || end - p < 4 || (*p != ' ' && *p != '\t'))
		return NULL;
	p = kallsyms_blanks(p, end);
	if (end - p < 3 || !kallsyms_is_letter(*p) || (p[1] != ' ' && p[1] != '\t'))
		return NULL;
	l->type = *p;
	p = kallsyms_blanks(p + 1, end);
	return p < end && *p != '\n' ? p : NULL;
}

/* Parses the rest of the line, from the name on; false: not a valid name. */
static inline bool kallsyms_tail(const char **pos, const char *end, struct kallsyms_line *l)
{
	const char *p = *pos, *word;

	l->is_dirty = l->has_dot = false;
	l->module = NULL;
	l->module_len = 0;
	l->name = p;
	p = kallsyms_word(p, end, l);
	l->name_len = (size_t)(p - l->name);
	word = kallsyms_blanks(p, end);
	*pos = p = kallsyms_word(word, end, l);
	if (p - word > 2 && p - word < KALLSYMS_NAME && *word == '[' && p[-1] == ']') {
		l->module = word + 1;
		l->module_len = (size_t)(p - word) - 2;
	}
	return l->name_len && l->name_len < KALLSYMS_NAME;
}

static bool kallsyms_is(const struct kallsyms_line *l, const char *name)
{
	return l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

static bool kallsyms_begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool kallsyms_ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && !memcmp(name + n - m, with, m);
}

/*
 * True for a label that the linker puts at the edge of a section: no object has that name. Among
 * functions only well-known labels count, since many tracepoints are called "..._start".
 */
static bool kallsyms_is_label(const char *name, char type)
{
	static const char *const whole[] = {"_text", "_stext", "_etext", "_sinittext",
					    "_einittext"};

	if (name[0] != '_')
		return false;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	if (sym_type_is_code(type))
		return kallsyms_ends(name, "_text_start") || kallsyms_ends(name, "_text_end");
	return kallsyms_begins(name, "__start_") || kallsyms_begins(name, "__stop_") ||
	       kallsyms_ends(name, "_start") || kallsyms_ends(name, "_begin") ||
	       kallsyms_ends(name, "_end") || kallsyms_ends(name, "_stop");
}

/* Of several names at one address the lowest rank wins; on a tie, fewer leading underscores. */
static int kallsyms_rank(const struct sym *s, const struct sym_entry *e)
{
	const char *name = sym_text(s, e);
	int rank = (int)strspn(name, "_");

	if (kallsyms_begins(name, "__pi_") || kallsyms_begins(name, "__ia32_"))
		rank += 10;
	if (e->type == 'w' || e->type == 'W' || e->type == 'v' || e->type == 'V')
		rank += 100;
	if (islower((unsigned char)e->type))
		rank += 200;
	if (kallsyms_is_label(name, e->type))
		rank += 1000;
	return rank;
}

/* Appends a text with a NUL, cleaned if needed. Returns its offset; the caller made room. */
static uint32_t kallsyms_keep(struct sym *s, const char *text, size_t len, bool is_dirty)
{
	uint32_t at = (uint32_t)s->text_len;
	char *to = s->text + at;

	memcpy(to, text, len);
	for (size_t i = 0; is_dirty && i < len; i++)
		to[i] = (char)(text[i] > 0x20 && text[i] < 0x7f ? text[i] : '?');
	to[len] = '\0';
	s->text_len += len + 1;
	return at;
}

static void kallsyms_note_line(struct sym *s, const struct kallsyms_line *l)
{
	static const char *const names[] = {"__sched_text_start", "__sched_text_end",
					    "__lock_text_start", "__lock_text_end"};
	uint64_t *const ends[] = {&s->sched_text[0], &s->sched_text[1], &s->lock_text[0],
				  &s->lock_text[1]};

	s->has_data |= l->type == 'b' || l->type == 'd';
	if (l->name_len < 2 || memcmp(l->name, "__", 2) != 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (kallsyms_is(l, names[i]))
			*ends[i] = l->addr;
}

/*
 * False for compilers' labels and function padding, which on some kernels are every other line.
 * Absolute symbols are per-CPU offsets and other small numbers, not addresses.
 */
static bool kallsyms_is_wanted(const struct kallsyms_line *l, const char *name, const char *end)
{
	if (!l->addr || *name == '$' || (end - name >= 6 && !memcmp(name, "__pfx_", 6)))
		return false;
	return (l->type != 'a' && l->type != 'A') || l->addr >> 63;
}

/* The length is known here, and most names have no suffix. */
static inline enum sym_lockfn kallsyms_lockfn(const struct kallsyms_load *load,
					      const struct kallsyms_line *l)
{
	const char *dot;

	if (!sym_type_is_code(l->type))
		return SYM_LOCKFN_NOT;
	dot = l->has_dot ? memchr(l->name, '.', l->name_len) : NULL;
	return lockfn_by_name(&load->filter, l->name, dot ? (size_t)(dot - l->name) : l->name_len);
}

static void kallsyms_add(struct kallsyms_load *load, const struct kallsyms_line *l)
{
	struct sym *s = &load->sym;

	if (l->module && (l->module_len != load->last_module_len ||
			  memcmp(l->module, load->last_module, l->module_len) != 0)) {
		load->last_module = l->module;
		load->last_module_len = l->module_len;
		load->last_module_at = kallsyms_keep(s, l->module, l->module_len, l->is_dirty);
	}
	if (!load->is_noted)
		kallsyms_note_line(s, l);
	s->entries[s->n++] = (struct sym_entry){
		.addr = l->addr,
		.name = kallsyms_keep(s, l->name, l->name_len, l->is_dirty),
		.module = l->module ? load->last_module_at : 0,
		.type = l->type,
		.lockfn = (uint8_t)kallsyms_lockfn(load, l),
	};
}

static int kallsyms_compare(const void *a, const void *b)
{
	const struct sym_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

bool kallsyms_is_better(const struct sym *s, const struct sym_entry *a, const struct sym_entry *b)
{
	return kallsyms_rank(s, a) < kallsyms_rank(s, b);
}

/* Keeps one entry per address: the one of lowest rank, on a tie the first. */
static size_t kallsyms_merge(const struct sym *s, struct sym_entry *entries, size_t n_entries)
{
	size_t n = n_entries ? 1 : 0;
	int rank = -1; /* rank of the last kept entry; -1: not computed */

	for (size_t i = 1; i < n_entries; i++) {
		struct sym_entry *last = &entries[n - 1], *e = &entries[i];

		if (last->addr != e->addr) {
			entries[n++] = *e;
			rank = -1;
			continue;
		}
		int other = kallsyms_rank(s, e);
		if (rank < 0)
			rank = kallsyms_rank(s, last);
		if (other >= rank)
			continue;
		*last = *e;
		rank = other;
	}
	return n;
}

size_t kallsyms_settle(const struct sym *s, struct sym_entry *entries, size_t n)
{
	n = kallsyms_merge(s, entries, n);
	for (size_t i = 0; i < n; i++)
		entries[i].label = kallsyms_is_label(sym_text(s, &entries[i]), entries[i].type);
	lockfn_mark_ranges(s, entries, n);
	return n;
}

/* Sorts the entries after the first @n, which are sorted, and merges them in. */
static void kallsyms_sort_tail(struct sym *s, size_t n)
{
	size_t n_tail = s->n - n, to = s->n;
	struct sym_entry *tail = mem_dup(s->entries + n, n_tail, sizeof(*tail));

	if (!tail) {
		qsort(s->entries, s->n, sizeof(*s->entries), kallsyms_compare);
		return;
	}
	qsort(tail, n_tail, sizeof(*tail), kallsyms_compare);
	/* Merges from the end. At equal addresses entries of the tail come last, as in the input.
	 */
	while (n_tail) {
		bool is_last = !n || s->entries[n - 1].addr <= tail[n_tail - 1].addr;
		s->entries[--to] = is_last ? tail[--n_tail] : s->entries[--n];
	}
	mem_free(tail);
}

void kallsyms_sort(struct kallsyms_load *load)
{
	struct sym *s = &load->sym;
	size_t n = 1;

	while (n < s->n && s->entries[n - 1].addr <= s->entries[n].addr)
		n++;
	if (n < s->n)
		kallsyms_sort_tail(s, n);
	s->n = kallsyms_settle(s, s->entries, s->n);
}

/* Returns unused memory after doubling; if shrinking fails, the old block stays. */
static void kallsyms_trim(struct sym *s)
{
	void *p = mem_resize(s->entries, s->n, sizeof(*s->entries));

	if (p) {
		s->entries = p;
		s->cap = s->n;
	}
	p = mem_resize(s->text, s->text_len, 1);
	if (p) {
		s->text = p;
		s->text_cap = s->text_len;
	}
}

/* Parses the line at @p. Returns the start of the next line; NULL: out of memory. */
static const char *kallsyms_take_line(struct kallsyms_load *load, const char *p, const char *end)
{
	struct kallsyms_line line;
	const char *name = kallsyms_head(p, end, &line);

	if (name) {
		p = name;
		load->n_lines++;
	}
	if (name && kallsyms_is_wanted(&line, name, end) && kallsyms_tail(&p, end, &line)) {
		struct sym *s = &load->sym;

		if (s->n == s->cap && mem_grow(&s->entries, &s->cap, s->n, sizeof(*s->entries)))
			return NULL;
		kallsyms_add(load, &line);
	}
	if (p < end && *p != '\n')
		p = memchr(p, '\n', (size_t)(end - p));
	return p && p < end ? p + 1 : end;
}

int kallsyms_take(struct kallsyms_load *load, const char *text, size_t len)
{
	const char *end = len ? text + len : text;

	for (const char *p = text; p != end;) {
		p = kallsyms_take_line(load, p, end);
		if (!p)
			return -ENOMEM;
	}
	return 0;
}

void kallsyms_note(struct kallsyms_load *load, const char *p, const char *end)
{
	struct kallsyms_line line;
	const char *name = kallsyms_head(p, end, &line);

	if (name && kallsyms_is_wanted(&line, name, end) && kallsyms_tail(&name, end, &line))
		kallsyms_note_line(&load->sym, &line);
}

/* Names with their NULs are never longer than their lines. */
int kallsyms_load_init(struct kallsyms_load *load, size_t len)
{
	struct sym *s = &load->sym;

	*load = (struct kallsyms_load){0};
	lockfn_filter_init(&load->filter);
	s->text = mem_resize(NULL, len + 1, 1);
	if (!s->text)
		return -ENOMEM;
	s->text_cap = len + 1;
	/* Offset 0 means "no module", so keep it unused. */
	kallsyms_keep(s, "", 0, false);
	return 0;
}

int sym_load(struct sym *s, const char *text, size_t len, struct error *err)
{
	struct kallsyms_load load;

	/* Offsets have 32 bits; names are never longer than their source. */
	if (len > UINT32_MAX / 2)
		return error_set(err, -EFBIG,
				 "'/proc/kallsyms' has %zu bytes: more than 2 GiB is no symbol "
				 "table; kernel "
				 "functions have no names",
				 len);
	int r = kallsyms_load_init(&load, len);
	if (!r)
		r = kallsyms_take(&load, text, len);
	if (r) {
		sym_deinit(&load.sym);
		return error_set(
			err, r,
			"No memory for the kernel's symbols (%zu bytes of '/proc/kallsyms'): "
			"free some and start again",
			len);
	}
	if (load.sym.n) {
		kallsyms_sort(&load);
		kallsyms_trim(&load.sym);
		load.sym.state = SYM_OK;
	} else {
		sym_deinit(&load.sym);
		load.sym.state = load.n_lines ? SYM_WITHHELD : SYM_UNREADABLE;
	}
	sym_replace(s, &load.sym);
	return 0;
}
