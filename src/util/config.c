// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the configuration line by line. It is strict: an invalid line is an error with its number,
 * since a setting that is silently ignored costs its writer more than a message. One section may be
 * lenient: kontend itself writes it, so an error there must not prevent its start.
 */
#include "kontend/config.h"
#include "kontend/textbuf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct parser {
	const char *path;
	unsigned line;
	char section[CONFIG_LINE];
	struct error *err;
};

static int complain(const struct parser *p, const char *what)
{
	return error_set(p->err, -EINVAL, "%s:%u: %s", p->path, p->line, what);
}

static bool is_word(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* Removes blanks at both ends, in place. */
static char *strip(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && strchr(" \t", s[n - 1]))
		s[--n] = '\0';
	return s;
}

static int take_section(struct parser *p, char *line)
{
	size_t n = strlen(line);

	if (line[n - 1] != ']')
		return complain(p, "a section ends with ']', as in [groups]");
	line[n - 1] = '\0';
	line = strip(line + 1);
	if (!is_word(line))
		return complain(p, "the name of a section has lower case letters, digits and '-'");
	memcpy(p->section, line, strlen(line) + 1);
	return 0;
}

static int take_setting(struct parser *p, char *line, const struct config_reader *r)
{
	char *equals = strchr(line, '=');
	struct error why = {0};
	int ret;

	if (!equals)
		return complain(p,
				"this is no setting: write KEY = VALUE, [SECTION], or # before a "
				"remark");
	if (!*p->section)
		return complain(p, "a setting belongs to a section: write [groups] above it");
	*equals = '\0';
	const struct config_line l = {p->section, strip(line), strip(equals + 1)};
	if (!is_word(l.key))
		return complain(p, "the name of a setting has lower case letters, digits and '-'");
	if (!*l.value)
		return complain(p, "there is nothing after '='");
	ret = r->take(r->ctx, &l, &why);
	return ret < 0 ? complain(p, why.text) : 0;
}

static bool is_lenient(const struct parser *p, const struct config_reader *r)
{
	return r->lenient && strcmp(p->section, r->lenient) == 0;
}

static int take_line(struct parser *p, char *line, const struct config_reader *r)
{
	line = strip(line);
	if (!*line || *line == '#')
		return 0;
	for (const char *s = line; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return complain(p, "there is a control character in this line");
	if (*line == '[')
		return take_section(p, line);
	if (!is_lenient(p, r))
		return take_setting(p, line, r);
	struct error why = {0};
	struct parser apart = *p;
	apart.err = &why;
	if (take_setting(&apart, line, r) < 0)
		r->warn(r->ctx, &why);
	return 0;
}

int config_parse(const char *text, size_t len, const char *path, const struct config_reader *r,
		 struct error *err)
{
	struct parser p = {.path = path, .err = err};
	const char *end = text + len;
	char line[CONFIG_LINE];

	for (int ret; text < end; text++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		p.line++;
		if (n >= sizeof(line))
			return complain(&p, "this line is too long");
		if (memchr(text, '\0', n))
			return complain(&p, "there is a zero byte: this is no text");
		memcpy(line, text, n);
		line[n] = '\0';
		ret = take_line(&p, line, r);
		if (ret < 0)
			return ret;
		text += n;
	}
	return 0;
}

/*
 * Writes one setting of a configuration: its line is replaced or removed, and a new one follows the
 * head of its section. Everything else is the user's and stays unchanged.
 */

struct place {
	size_t from, to; /* the setting's line, with its newline; both 0: none */
	size_t head;	 /* end of the section's head; 0: none */
};

/* The rest of a line. */
struct rest {
	const char *s;
	size_t n;
};

static void skip_blanks(struct rest *r)
{
	while (r->n && (*r->s == ' ' || *r->s == '\t')) {
		r->s++;
		r->n--;
	}
}

/* True if @word is next, between blanks and followed by @stop. */
static bool is_next(struct rest r, const char *word, char stop)
{
	size_t n = strlen(word);

	skip_blanks(&r);
	if (r.n < n || memcmp(r.s, word, n) != 0)
		return false;
	r = (struct rest){r.s + n, r.n - n};
	skip_blanks(&r);
	return r.n && *r.s == stop;
}

/* The name in a section's head and the text after it; without text: not a head. */
static struct rest name_of_head(struct rest r)
{
	skip_blanks(&r);
	if (!r.n || *r.s != '[')
		return (struct rest){0};
	return (struct rest){r.s + 1, r.n - 1};
}

static struct place find_place(const char *text, size_t len, const struct config_line *l)
{
	struct place p = {0};
	bool inside = false;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t next = end ? (size_t)(end - text) + 1 : len;
		const struct rest line = {text + at, next - at}, head = name_of_head(line);

		if (head.s) {
			inside = is_next(head, l->section, ']');
			p.head = inside ? next : p.head;
		} else if (inside && is_next(line, l->key, '=')) {
			p.from = at;
			p.to = next;
		}
		at = next;
	}
	return p;
}

static void put_setting(struct textbuf *b, const struct config_line *l)
{
	if (!l->value)
		return;
	textbuf_str(b, l->key);
	textbuf_str(b, " = ");
	textbuf_str(b, l->value);
	textbuf_char(b, '\n');
}

static void end_line(struct textbuf *b)
{
	if (textbuf_len(b) && b->at[-1] != '\n')
		textbuf_char(b, '\n');
}

int config_edit(const char *text, size_t len, const struct config_line *l, char *ret, size_t size,
		size_t *ret_len)
{
	const struct place p = find_place(text, len, l);
	struct textbuf b = textbuf_make(ret, size);
	size_t first = p.to ? p.from : p.head ? p.head : len;

	textbuf_bytes(&b, text, first);
	if (l->value)
		end_line(&b);
	if (l->value && !p.head) {
		textbuf_str(&b, len ? "\n[" : "[");
		textbuf_str(&b, l->section);
		textbuf_str(&b, "]\n");
	}
	put_setting(&b, l);
	first = p.to ? p.to : first;
	textbuf_bytes(&b, text + first, len - first);
	*ret_len = textbuf_len(&b);
	return b.at < b.end ? 0 : -EFBIG;
}
