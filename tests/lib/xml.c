// SPDX-License-Identifier: GPL-2.0-only
#include "xml.h"

#include "kontend/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 32, NAME = 32, ATTRIBUTES = 16 };

struct xml {
	const char *s;
	char open[DEEPEST][NAME];
	size_t depth, roots;
};

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == ':' || c == '_';
}

static int take_name(struct xml *x, char *ret)
{
	size_t n = 0;

	while (is_name(x->s[n]))
		n++;
	if (!n || n >= NAME || isdigit((unsigned char)*x->s))
		return -EINVAL;
	memcpy(ret, x->s, n);
	ret[n] = '\0';
	x->s += n;
	return 0;
}

/* One character of text or of a value. */
static int take_character(struct xml *x)
{
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	uint32_t ch;
	size_t n = text_decode(x->s, &ch);

	for (size_t i = 0; *x->s == '&' && i < sizeof(entities) / sizeof(*entities); i++) {
		if (strncmp(x->s, entities[i], strlen(entities[i])) == 0) {
			x->s += strlen(entities[i]);
			return 0;
		}
	}
	if (*x->s == '&' || *x->s == '<' || ch == 0xfffd || ch == 0xfffe || ch == 0xffff)
		return -EINVAL;
	if (ch < ' ' && ch != '\n' && ch != '\t')
		return -EINVAL;
	x->s += n;
	return 0;
}

static int take_attribute(struct xml *x, char *name)
{
	char quote;

	if (take_name(x, name) < 0 || *x->s++ != '=')
		return -EINVAL;
	quote = *x->s++;
	if (quote != '"' && quote != '\'')
		return -EINVAL;
	while (*x->s && *x->s != quote)
		if (take_character(x) < 0)
			return -EINVAL;
	return *x->s++ == quote ? 0 : -EINVAL;
}

static int take_attributes(struct xml *x)
{
	char names[ATTRIBUTES][NAME];
	size_t n = 0;

	while (*x->s == ' ') {
		x->s++;
		if (n == ATTRIBUTES || take_attribute(x, names[n]) < 0)
			return -EINVAL;
		for (size_t i = 0; i < n; i++)
			if (strcmp(names[i], names[n]) == 0)
				return -EINVAL;
		n++;
	}
	return 0;
}

static int take_begin(struct xml *x)
{
	x->s++;
	if (x->depth == DEEPEST || take_name(x, x->open[x->depth]) < 0 || take_attributes(x) < 0)
		return -EINVAL;
	x->roots += x->depth == 0;
	if (x->s[0] == '/' && x->s[1] == '>') {
		x->s += 2;
		return 0;
	}
	x->depth++;
	return *x->s++ == '>' ? 0 : -EINVAL;
}

static int take_end(struct xml *x)
{
	char name[NAME];

	x->s += 2;
	if (!x->depth || take_name(x, name) < 0 || strcmp(name, x->open[--x->depth]) != 0)
		return -EINVAL;
	return *x->s++ == '>' ? 0 : -EINVAL;
}

static int take_cdata(struct xml *x)
{
	const char *end = strstr(x->s, "]]>");

	if (!x->depth || !end)
		return -EINVAL;
	x->s = end + 3;
	return 0;
}

static int take_declaration(struct xml *x)
{
	x->s += 5;
	if (take_attributes(x) < 0 || strncmp(x->s, "?>", 2) != 0)
		return -EINVAL;
	x->s += 2;
	return 0;
}

static int take_token(struct xml *x)
{
	if (strncmp(x->s, "<![CDATA[", 9) == 0)
		return take_cdata(x);
	if (x->s[0] == '<' && x->s[1] == '/')
		return take_end(x);
	if (x->s[0] == '<')
		return take_begin(x);
	return x->depth || *x->s == '\n' ? take_character(x) : -EINVAL;
}

int xml_check(const char *text, size_t *ret_at)
{
	struct xml x = {.s = text};
	int r = strncmp(text, "<?xml", 5) == 0 ? take_declaration(&x) : 0;

	while (r == 0 && *x.s)
		r = take_token(&x);
	if (r == 0 && (x.depth || x.roots != 1))
		r = -EINVAL;
	*ret_at = (size_t)(x.s - text);
	return r;
}
