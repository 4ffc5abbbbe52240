// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the syntax of a tracefs format file before libtraceevent sees it. Formats come from
 * recordings as well as from the kernel, and libtraceevent was written for the kernel's: given
 * other text it leaks memory and worse. The accepted subset is safe to parse. The print format,
 * which takes most of its parser and is not used, is not passed on.
 */
#include "trace-text.h"
#include <string.h>

struct line {
	const char *at, *end;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The next line, without its newline; false at the end. */
static bool next_line(const char **pos, const char *end, struct line *ret)
{
	if (*pos >= end)
		return false;
	const char *nl = memchr(*pos, '\n', (size_t)(end - *pos));
	*ret = (struct line){.at = *pos, .end = nl ? nl : end};
	*pos = nl ? nl + 1 : end;
	return true;
}

static bool skip_text(struct line *l, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n) != 0)
		return false;
	l->at += n;
	return true;
}

static bool skip_number(struct line *l, uint32_t *ret)
{
	uint32_t v = 0;
	unsigned n = 0;

	for (; l->at < l->end && *l->at >= '0' && *l->at <= '9' && n < 9; l->at++, n++)
		v = v * 10 + (uint32_t)(*l->at - '0');
	if (ret)
		*ret = v;
	return n > 0;
}

static size_t skip_word(struct line *l)
{
	const char *from = l->at;

	while (l->at < l->end && is_word(*l->at))
		l->at++;
	return (size_t)(l->at - from);
}

static void skip_blanks(struct line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '*'))
		l->at++;
}

/*
 * "unsigned int flags", "const char * name", "char comm[16]": two words or more, maybe a length.
 * Texts of variable length have one form only.
 */
static bool skip_declaration(struct line *l)
{
	unsigned words = 0;

	if (skip_text(l, "__data_loc char[] "))
		return skip_word(l) > 0;
	while (skip_word(l)) {
		words++;
		skip_blanks(l);
	}
	if (words < 2 || !is_word(l->at[-1]))
		return false;
	if (!skip_text(l, "["))
		return true;
	return skip_number(l, NULL) && skip_text(l, "]");
}

static bool is_field(struct line l)
{
	return skip_text(&l, "\tfield:") && skip_declaration(&l) && skip_text(&l, ";\toffset:") &&
	       skip_number(&l, NULL) && skip_text(&l, ";\tsize:") && skip_number(&l, NULL) &&
	       skip_text(&l, ";\tsigned:") && skip_number(&l, NULL) && skip_text(&l, ";") &&
	       l.at == l.end;
}

static bool scan_head(const char **pos, const char *end, struct trace_text *ret)
{
	struct line l;

	if (!next_line(pos, end, &l) || !skip_text(&l, "name: "))
		return false;
	ret->name = l.at;
	ret->name_len = skip_word(&l);
	if (!ret->name_len || l.at != l.end || !next_line(pos, end, &l) || !skip_text(&l, "ID: ") ||
	    !skip_number(&l, &ret->id) || l.at != l.end)
		return false;
	return next_line(pos, end, &l) && skip_text(&l, "format:") && l.at == l.end;
}

bool trace_text_scan(const char *text, size_t len, struct trace_text *ret)
{
	const char *pos = text, *end = text + len;
	struct line l;

	*ret = (struct trace_text){0};
	if (!scan_head(&pos, end, ret))
		return false;
	ret->fields_end = (size_t)(pos - text);
	while (next_line(&pos, end, &l)) {
		if (l.at == l.end)
			continue;
		if (!is_field(l)) {
			ret->is_plain = skip_text(&l, "print fmt:");
			return true;
		}
		ret->fields_end = (size_t)(pos - text);
	}
	ret->is_plain = true;
	return true;
}
