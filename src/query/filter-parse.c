// SPDX-License-Identifier: GPL-2.0-only
/*
 * Combines terms of the filter language: adjacent terms must all hold, one of those separated by
 * "|" or "or" must hold, "!" negates a term or a group, and parentheses make groups. The text is
 * parsed once, by recursive descent of bounded depth, into operators in postfix order, which run
 * with a stack of bits. A parenthesis opens a group only where a term may begin, so that "78 (vm"
 * needs quotes only for its blank; in a regular expression "|" belongs to the expression. Words,
 * terms and operators are in the caller's arena.
 */
#include "filter.h"
#include "internal.h"

#include <errno.h>
#include <string.h>

enum { DEEPEST = 16 }; /* two bits of the stack for each */

static int parse_any(struct filter_parser *p);

static int emit(struct filter_parser *p, enum filter_do what)
{
	p->f->ops[p->f->n++] = (struct filter_op){what, (uint32_t)p->f->n_terms};
	return 0;
}

static void skip_blanks(struct filter_parser *p)
{
	p->at += strspn(p->at, " \t");
}

static bool is_or_word(const char *s)
{
	return s[0] == 'o' && s[1] == 'r' && strchr(" \t(", s[2]);
}

static bool is_or(const struct filter_parser *p)
{
	return *p->at == '|' || is_or_word(p->at);
}

static bool is_end(const struct filter_parser *p)
{
	return !*p->at || (*p->at == ')' && p->depth);
}

/* Does a term go on with the next character? @open: parentheses that opened in it. */
static bool goes_on(const struct filter_parser *p, bool regex, int open)
{
	char c = *p->at;

	if (!c || c == ' ' || c == '\t' || (c == '|' && !regex))
		return false;
	return c != ')' || open > 0 || !p->depth;
}

/* Cuts the next term off without its quotes; what they hold is not looked into. */
static const char *take_term(struct filter_parser *p, size_t *ret_op)
{
	char *start = p->room, *to = start;
	bool quoted = false;
	int open = 0;

	*ret_op = SIZE_MAX;
	for (; *p->at && (quoted || goes_on(p, *ret_op != SIZE_MAX && start[*ret_op] == '~', open));
	     p->at++) {
		if (*p->at == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted)
			open += (*p->at == '(') - (*p->at == ')');
		if (!quoted && *ret_op == SIZE_MAX && strchr(":=<>~", *p->at))
			*ret_op = (size_t)(to - start);
		*to++ = *p->at;
	}
	*to++ = '\0';
	p->room = to;
	return start;
}

static int parse_term(struct filter_parser *p)
{
	bool quoted = *p->at == '"';
	size_t op;
	const char *text = take_term(p, &op);
	struct filter *f = p->f;

	if (!*text && quoted)
		return emit(p, FILTER_TRUE);
	int r = filter_term_parse(p, &f->terms[f->n_terms], text, op);
	if (r < 0)
		return r;
	emit(p, FILTER_TERM);
	f->n_terms++;
	return 0;
}

static int parse_group(struct filter_parser *p)
{
	if (p->depth == DEEPEST)
		return error_set(p->err, -EINVAL, "filter: at most %d parentheses in each other",
				 DEEPEST);
	p->at++;
	p->depth++;
	int r = parse_any(p);
	if (r < 0)
		return r;
	if (*p->at != ')')
		return error_set(p->err, -EINVAL,
				 "filter: a ')' is missing; quote a '(' that is text");
	p->at++;
	p->depth--;
	return 0;
}

static int parse_factor(struct filter_parser *p)
{
	bool negate = false;

	while (*p->at == '!') {
		negate = !negate;
		p->at++;
		if (!*p->at || *p->at == ' ' || *p->at == '\t' || *p->at == '|' || is_end(p))
			return error_set(p->err, -EINVAL,
					 "filter term '!': what to leave out must follow the '!'");
	}
	int r = *p->at == '(' ? parse_group(p) : parse_term(p);
	return r == 0 && negate ? emit(p, FILTER_NOT) : r;
}

static int parse_all(struct filter_parser *p)
{
	size_t n = 0;

	for (skip_blanks(p); !is_end(p) && !is_or(p); skip_blanks(p)) {
		int r = parse_factor(p);
		if (r == 0 && n++)
			r = emit(p, FILTER_AND);
		if (r < 0)
			return r;
	}
	return n ? 0
		 : error_set(p->err, -EINVAL, "filter: a term is missing before '%s'",
			     *p->at ? p->at : "the end");
}

static int parse_any(struct filter_parser *p)
{
	int r = parse_all(p);

	while (r == 0 && !is_end(p) && is_or(p)) {
		p->at += *p->at == '|' ? 1 : 2;
		r = parse_all(p);
		if (r == 0)
			r = emit(p, FILTER_OR);
	}
	return r;
}

/* Each term takes a byte at least; so does each '!' and each '|', and an AND a blank or a '('. */
static int make_room(struct filter_parser *p, const char *text)
{
	size_t n = strlen(text);

	p->room = arena_alloc(p->arena, 2 * n + 2);
	p->f->terms = arena_alloc(p->arena, (n + 1) * sizeof(*p->f->terms));
	p->f->ops = arena_alloc(p->arena, (2 * n + 2) * sizeof(*p->f->ops));
	return p->room && p->f->terms && p->f->ops ? 0 : query_enomem(p->err, "filter");
}

int filter_parse(struct filter *f, struct arena *a, const char *text, const struct column *columns,
		 size_t n_columns, struct error *err)
{
	struct filter_parser p = {
		.f = f, .arena = a, .columns = columns, .n_columns = n_columns, .err = err};

	*f = (struct filter){0};
	p.at = text ? text : "";
	skip_blanks(&p);
	if (!*p.at)
		return 0;
	int r = make_room(&p, text);
	return r < 0 ? r : parse_any(&p);
}

void filter_deinit(struct filter *f)
{
	for (size_t i = 0; i < f->n_terms; i++)
		if (f->terms[i].regex)
			regfree(f->terms[i].regex);
	*f = (struct filter){0};
}

int query_filter_check(const char *filter, const struct table_kind *kind, struct error *err)
{
	struct arena a = {0};
	struct filter f;
	int r = filter_parse(&f, &a, filter, kind->columns, kind->n_columns, err);

	filter_deinit(&f);
	arena_deinit(&a);
	return r;
}

bool filter_holds(const struct filter *f, bool (*holds)(void *ctx, uint32_t term), void *ctx)
{
	uint64_t stack = 1; /* the last answer is its lowest bit */

	for (size_t i = 0; i < f->n; i++) {
		uint64_t top = stack & 1;

		switch (f->ops[i].what) {
		case FILTER_TERM:
			stack = stack << 1 | holds(ctx, f->ops[i].term);
			break;
		case FILTER_TRUE:
			stack = stack << 1 | 1;
			break;
		case FILTER_NOT:
			stack ^= 1;
			break;
		case FILTER_AND:
			stack = stack >> 1 & (~1ull | top);
			break;
		case FILTER_OR:
			stack = stack >> 1 | top;
			break;
		}
	}
	return stack & 1;
}

struct row {
	const struct filter *f;
	const struct column *columns;
	size_t n_columns;
	const struct value *v;
};

static bool row_has(void *ctx, uint32_t term)
{
	const struct row *r = ctx;

	return filter_term_match(&r->f->terms[term], r->columns, r->n_columns, r->v);
}

bool filter_match(const struct filter *f, const struct column *columns, size_t n_columns,
		  const struct value *v)
{
	struct row r = {f, columns, n_columns, v};

	return filter_holds(f, row_has, &r);
}
