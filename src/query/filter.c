// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terms of the filter language: how one is read by the columns of its table, and whether a row
 * has it. A term is a word, looked for in every text column, or KEY and an operator and a word.
 * "rwsem:W" is a word although it holds a colon, since it begins with a lock type; whatever else
 * names an unknown column is an error, unless it is quoted. Expressions are bounded and have no
 * back references, which glibc would take exponential time for. A value that is not known fails
 * every comparison, so that it passes the negated one.
 */
#include "filter.h"
#include "kontend/locktype.h"
#include "kontend/number.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { REGEX_LONGEST = 128, REGEX_REPEATS = 100 };

/* By its key; else by the title that the screen shows, in any case: MAX>5ms. @text: texts only. */
static size_t column_of(const struct filter_parser *p, const char *key, size_t len, bool text)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct column *c = &p->columns[i];
		if (c->flags && strlen(c->key) == len && memcmp(c->key, key, len) == 0 &&
		    (!text || c->type == COLUMN_TEXT))
			return i;
	}
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct column *c = &p->columns[i];
		if (c->flags & COLUMN_SCREEN && strlen(c->title) == len &&
		    strncasecmp(c->title, key, len) == 0 && (!text || c->type == COLUMN_TEXT))
			return i;
	}
	return SIZE_MAX;
}

static int parse_decimal(const char *s, double *ret)
{
	return number_take_decimal(&s, ret) < 0 || *s ? -EINVAL : 0;
}

static int parse_hex(const char *s, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n = 0;

	s += strncasecmp(s, "0x", 2) == 0 ? 2 : 0;
	for (; s[n]; n++) {
		const char *digits = "0123456789abcdef";
		const char *d = strchr(digits, s[n] | (s[n] > '9' ? 0x20 : 0));
		if (!d || n == 16)
			return -EINVAL;
		v = v << 4 | (uint64_t)(d - digits);
	}
	*ret = v;
	return n ? 0 : -EINVAL;
}

static int parse_bool(const char *s, uint64_t *ret)
{
	*ret = strcasecmp(s, "yes") == 0;
	return *ret || strcasecmp(s, "no") == 0 ? 0 : -EINVAL;
}

/* "1.5k" as well as "0.5". */
static int parse_rate(const char *s, double *ret)
{
	uint64_t n;
	int r = parse_decimal(s, ret);

	if (r == 0)
		return 0;
	r = units_parse_count(s, &n);
	if (r == 0)
		*ret = (double)n;
	return r;
}

static int parse_operand(const struct column *c, struct filter_term *t)
{
	int r;

	switch (c->type) {
	case COLUMN_COUNT:
	case COLUMN_INT:
		return units_parse_count(t->word, &t->u);
	case COLUMN_NS:
		return units_parse_ns(t->word, &t->u);
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
		r = units_parse_ns(t->word, &t->u);
		t->d = (double)t->u;
		return r;
	case COLUMN_RATE:
	case COLUMN_PCT:
		return parse_rate(t->word, &t->d);
	case COLUMN_ADDR:
		return parse_hex(t->word, &t->u);
	case COLUMN_BOOL:
		return parse_bool(t->word, &t->u);
	default:
		return -EINVAL;
	}
}

static const char *operand_hint(uint8_t type)
{
	switch (type) {
	case COLUMN_NS:
	case COLUMN_NSDIFF:
		return "a duration such as 5ms or 1.5s";
	case COLUMN_NSRATE:
		return "a number of tasks such as 0.5, or a duration a second such as 5ms";
	case COLUMN_ADDR:
		return "a hexadecimal address";
	case COLUMN_BOOL:
		return "yes or no";
	case COLUMN_TEXT:
		return "':' or '=' and a word, since it is text";
	case COLUMN_SERIES:
		return "nothing: it is a series and cannot be compared";
	default:
		return "a number such as 12 or 1.5k";
	}
}

const char *column_names(const struct column *c, size_t n, char *buf, size_t size)
{
	struct textbuf b = textbuf_make(buf, size);
	const char *sep = "";

	for (size_t i = 0; i < n; i++) {
		if (!c[i].flags)
			continue;
		textbuf_str(&b, sep);
		textbuf_str(&b, c[i].key);
		sep = ", ";
	}
	return textbuf_end(&b);
}

static int no_column(const struct filter_parser *p, const char *text, size_t key_len)
{
	char names[512];

	return error_set(
		p->err, -EINVAL, "filter term '%s': there is no column '%.*s'%s; columns: %s", text,
		(int)key_len, text, text[key_len] == ':' ? " (quote the term if it is text)" : "",
		column_names(p->columns, p->n_columns, names, sizeof(names)));
}

/* Repetitions multiply the size of the automaton: one, of few, is enough. */
static const char *too_much(const char *s)
{
	unsigned braces = 0, n = 0;

	if (strlen(s) > REGEX_LONGEST)
		return "it is too long";
	for (; *s; s++) {
		if (*s == '\\' && s[1] >= '0' && s[1] <= '9')
			return "back references are not taken";
		if (*s == '\\' && s[1]) {
			s++;
			continue;
		}
		braces += *s == '{';
		n = braces && *s >= '0' && *s <= '9' ? n * 10 + (unsigned)(*s - '0') : 0;
		if (braces > 1 || n > REGEX_REPEATS)
			return "one {} of at most 100 is taken";
	}
	return NULL;
}

static int parse_regex(const struct filter_parser *p, struct filter_term *t, const char *text)
{
	const char *why = too_much(t->word);
	char reason[128];
	int r;

	t->regex = why ? NULL : arena_alloc(p->arena, sizeof(*t->regex));
	if (!why && !t->regex)
		return error_enomem(p->err, "an expression of a filter");
	if (!why) {
		r = regcomp(t->regex, t->word, REG_EXTENDED | REG_ICASE | REG_NOSUB | REG_NEWLINE);
		if (r == 0)
			return 0;
		regerror(r, t->regex, reason, sizeof(reason));
		t->regex = NULL;
		why = reason;
	}
	return error_set(p->err, -EINVAL,
			 "filter term '%s': the expression after '~' is refused: %s", text, why);
}

static int term_text(const struct filter_parser *p, struct filter_term *t, const char *text,
		     size_t key_len)
{
	size_t col = column_of(p, text, key_len, true);

	t->col = col == SIZE_MAX ? t->col : col;
	if (p->columns[t->col].type != COLUMN_TEXT)
		return error_set(p->err, -EINVAL, "filter term '%s': column '%s' wants %s", text,
				 p->columns[t->col].key, operand_hint(p->columns[t->col].type));
	return t->op == '~' ? parse_regex(p, t, text) : 0;
}

/* The column with the type of a lock, of tables that have one. */
static size_t column_of_kind(const struct filter_parser *p)
{
	size_t col = column_of(p, "kind", strlen("kind"), true);

	if (col == SIZE_MAX && column_of(p, "lock", strlen("lock"), false) != SIZE_MAX)
		col = column_of(p, "type", strlen("type"), true);
	return col != SIZE_MAX && strcmp(p->columns[col].title, "TYPE") == 0 ? col : SIZE_MAX;
}

/* "world:user": no column, but known wherever there is the type of a lock. */
static bool is_world(const struct filter_parser *p, const struct filter_term *t, const char *text,
		     size_t key_len)
{
	return t->col == SIZE_MAX && key_len == strlen("world") &&
	       strncmp(text, "world", key_len) == 0 && column_of_kind(p) != SIZE_MAX;
}

static int term_world(const struct filter_parser *p, struct filter_term *t, const char *text)
{
	static const char *const worlds[] = {"kernel", "user", "file"};

	t->world = true;
	t->col = column_of_kind(p);
	t->op = text[strlen("world")];
	t->word = text + strlen("world") + 1;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++)
		if ((t->op == ':' || t->op == '=') && strcasecmp(t->word, worlds[i]) == 0)
			return 0;
	return error_set(p->err, -EINVAL,
			 "filter term '%s': give world:kernel, world:user or world:file", text);
}

static int term_compare(const struct filter_parser *p, struct filter_term *t, const char *text,
			size_t key_len)
{
	const struct column *c;

	t->col = column_of(p, text, key_len, false);
	if (is_world(p, t, text, key_len))
		return term_world(p, t, text);
	if (t->col == SIZE_MAX)
		return no_column(p, text, key_len);
	c = &p->columns[t->col];
	t->op = text[key_len];
	t->word = text + key_len + 1;
	if (t->op == '~' || t->op == ':')
		return term_text(p, t, text, key_len);
	if (c->type == COLUMN_TEXT && t->op == '=')
		return 0;
	if (c->type == COLUMN_SERIES || c->type == COLUMN_TEXT || parse_operand(c, t) < 0)
		return error_set(p->err, -EINVAL, "filter term '%s': column '%s' wants %s", text,
				 c->key, operand_hint(c->type));
	return 0;
}

/* "rwsem" of "rwsem:W", in any case. */
static bool is_lock_type(const char *s, size_t len)
{
	for (int i = 0; i < LOCK_TYPES; i++) {
		const char *base = locktype_base((enum lock_type)i);
		if (strlen(base) == len && strncasecmp(base, s, len) == 0)
			return true;
	}
	return false;
}

/* The index at which a key ends; SIZE_MAX: the term is a word. "~vm_mmap", as tables show it, is a
 * word. */
static size_t key_of(const struct filter_parser *p, const char *text, size_t op)
{
	if (op == SIZE_MAX || (op == 0 && (*text == '~' || *text == ':')))
		return SIZE_MAX;
	if (text[op] == ':' && is_lock_type(text, op) && column_of(p, text, op, false) == SIZE_MAX)
		return SIZE_MAX;
	return op;
}

static uint64_t all_text(const struct filter_parser *p)
{
	uint64_t want = 0;

	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].type == COLUMN_TEXT && p->columns[i].flags)
			want |= table_bit(i);
	return want;
}

int filter_term_parse(const struct filter_parser *p, struct filter_term *t, const char *text,
		      size_t op)
{
	size_t key = key_of(p, text, op);
	int r = 0;

	*t = (struct filter_term){.col = SIZE_MAX, .op = ':', .word = text};
	if (key != SIZE_MAX)
		r = term_compare(p, t, text, key);
	if (r == 0)
		p->f->want |= t->col == SIZE_MAX ? all_text(p) : table_bit(t->col);
	return r;
}

static bool word_in_row(const char *word, const struct column *columns, size_t n_columns,
			const struct value *v)
{
	for (size_t i = 0; i < n_columns; i++)
		if (columns[i].type == COLUMN_TEXT && columns[i].flags && v[i].known &&
		    text_contains(v[i].s, word))
			return true;
	return false;
}

/* Is it @s, or one of its lines? */
static bool is_line_of(const char *word, const char *s)
{
	for (size_t len = strlen(word), n;; s += n + 1) {
		n = strcspn(s, "\n");
		if (n == len && strncasecmp(s, word, n) == 0)
			return true;
		if (!s[n])
			return false;
	}
}

static bool compare_text(const struct filter_term *t, const char *s)
{
	const char *world = t->world ? locktype_world_of(s) : NULL;

	if (t->world)
		return world && strcasecmp(world, t->word) == 0;
	if (t->op == '~')
		return regexec(t->regex, s, 0, NULL, 0) == 0;
	return t->op == '=' ? is_line_of(t->word, s) : text_contains(s, t->word);
}

static bool compare_u(char op, uint64_t a, uint64_t b)
{
	return op == '<' ? a < b : op == '>' ? a > b : a == b;
}

static bool compare_i(char op, int64_t a, int64_t b)
{
	return op == '<' ? a < b : op == '>' ? a > b : a == b;
}

static bool compare_d(char op, double a, double b)
{
	return op == '<' ? a < b : op == '>' ? a > b : fabs(a - b) < 1e-9;
}

bool filter_term_match(const struct filter_term *t, const struct column *columns, size_t n_columns,
		       const struct value *row)
{
	const struct value *v;

	if (t->col == SIZE_MAX)
		return word_in_row(t->word, columns, n_columns, row);
	v = &row[t->col];
	if (!v->known)
		return false;
	switch (columns[t->col].type) {
	case COLUMN_TEXT:
		return compare_text(t, v->s);
	case COLUMN_INT:
		return compare_i(t->op, v->i, (int64_t)t->u);
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		return compare_d(t->op, v->d, t->d);
	default:
		return compare_u(t->op, v->u, t->u);
	}
}
