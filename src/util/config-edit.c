// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes one setting of a configuration: its line is replaced or removed, and a new one follows the
 * head of its section. Everything else is the user's and stays unchanged.
 */
#include "kontend/config.h"
#include "kontend/textbuf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

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
