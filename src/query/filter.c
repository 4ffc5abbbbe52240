// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter language: terms split at blanks, all of which must hold. A term is a word, looked for
 * in every text column, or KEY and an operator and a word. "rwsem:W" stays a word although it holds
 * a colon, since "rwsem" is no column; with = < > an unknown key is an error, as no lock, task or
 * function is called so. Double quotes keep blanks together. A value that is not known fails every
 * comparison, so that it passes the negated one. Words and terms lie in the query's arena.
 */
#include "internal.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

struct filter_parser {
	struct filter *f;
	struct arena *arena;
	const struct column *columns;
	size_t n_columns;
	struct error *err;
};

/* By its key; else by the title that the screen shows, in any case: MAX>5ms. */
static size_t column_of(const struct filter_parser *p, const char *key, size_t len)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct column *c = &p->columns[i];
		if (c->flags && strlen(c->key) == len && memcmp(c->key, key, len) == 0)
			return i;
	}
	for (size_t i = 0; i < p->n_columns; i++) {
		const struct column *c = &p->columns[i];
		if (c->flags & COLUMN_SCREEN && strlen(c->title) == len &&
		    strncasecmp(c->title, key, len) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* Digits and at most one point: strtod() would follow the locale. */
static int parse_decimal(const char *s, double *ret)
{
	double v = 0, scale = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s == '.' && scale == 0) {
			scale = 1;
		} else if (*s >= '0' && *s <= '9') {
			v = v * 10 + (*s - '0');
			scale *= 10;
		} else {
			return -EINVAL;
		}
	}
	*ret = scale > 0 ? v / scale : v;
	return 0;
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
	case COLUMN_NSRATE:
		return "a duration such as 5ms or 1.5s";
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

static int term_compare(struct filter_parser *p, struct filter_term *t, const char *text,
			size_t key_len)
{
	const struct column *c;

	t->col = column_of(p, text, key_len);
	if (t->col == SIZE_MAX)
		return error_set(p->err, -EINVAL,
				 "filter term '%s': there is no column '%.*s' here; the help lists "
				 "the columns of this table",
				 text, (int)key_len, text);
	c = &p->columns[t->col];
	t->op = text[key_len];
	t->word = text + key_len + 1;
	if (c->type == COLUMN_TEXT && (t->op == ':' || t->op == '='))
		return 0;
	if (c->type == COLUMN_SERIES || c->type == COLUMN_TEXT || parse_operand(c, t) < 0)
		return error_set(p->err, -EINVAL, "filter term '%s': column '%s' wants %s", text,
				 c->key, operand_hint(c->type));
	return 0;
}

static int term_parse(struct filter_parser *p, struct filter_term *t, char *text)
{
	size_t op;

	*t = (struct filter_term){.col = SIZE_MAX, .op = ':'};
	if (text[0] == '!') {
		t->negate = true;
		text++;
	}
	if (!*text)
		return error_set(p->err, -EINVAL,
				 "filter term '!': a word to leave out must follow the '!'");
	t->word = text;
	op = strcspn(text, ":=<>");
	if (!text[op] || (text[op] == ':' && column_of(p, text, op) == SIZE_MAX))
		return 0;
	return term_compare(p, t, text, op);
}

/* Cuts the next term off *@s; quotes are taken out, and what they hold is not split. */
static char *next_term(char **s)
{
	char *from = *s + strspn(*s, " \t"), *to = from, *start = from;
	bool quoted = false;

	if (!*from)
		return NULL;
	for (; *from && (quoted || (*from != ' ' && *from != '\t')); from++) {
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*s = *from ? from + 1 : from;
	*to = '\0';
	return start;
}

static uint64_t all_text(const struct filter_parser *p)
{
	uint64_t want = 0;

	for (size_t i = 0; i < p->n_columns; i++)
		if (p->columns[i].type == COLUMN_TEXT && p->columns[i].flags)
			want |= 1ull << i;
	return want;
}

int filter_parse(struct filter *f, struct arena *a, const char *text, const struct column *columns,
		 size_t n_columns, struct error *err)
{
	struct filter_parser p = {f, a, columns, n_columns, err};
	char *copy, *term;
	int r;

	*f = (struct filter){0};
	if (!text || !*text)
		return 0;
	copy = arena_strndup(a, text, strlen(text));
	f->terms = arena_alloc(a, (strlen(text) / 2 + 1) * sizeof(*f->terms));
	if (!copy || !f->terms)
		return query_enomem(err, "filter");
	while ((term = next_term(&copy))) {
		struct filter_term *t = &f->terms[f->n];
		if (!*term)
			continue;
		r = term_parse(&p, t, term);
		if (r < 0)
			return r;
		f->want |= t->col == SIZE_MAX ? all_text(&p) : 1ull << t->col;
		f->n++;
	}
	return 0;
}

int query_filter_check(const char *filter, const struct table_kind *kind, struct error *err)
{
	struct arena a = {0};
	struct filter f;
	int r = filter_parse(&f, &a, filter, kind->columns, kind->n_columns, err);

	arena_deinit(&a);
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

static bool compare_text(const struct filter_term *t, const char *s)
{
	return t->op == '=' ? strcasecmp(s, t->word) == 0 : text_contains(s, t->word);
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

static bool term_match(const struct filter_term *t, const struct column *columns, size_t n_columns,
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
	case COLUMN_PCT:
		return compare_d(t->op, v->d, t->d);
	default:
		return compare_u(t->op, v->u, t->u);
	}
}

bool filter_match(const struct filter *f, const struct column *columns, size_t n_columns,
		  const struct value *v)
{
	for (size_t i = 0; i < f->n; i++)
		if (term_match(&f->terms[i], columns, n_columns, v) == f->terms[i].negate)
			return false;
	return true;
}
