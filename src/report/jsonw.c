// SPDX-License-Identifier: GPL-2.0-only
/*
 * A JSON writer whose only buffer holds the current field: a field is passed to the stream in one
 * piece unless it is long. `any` says whether the current level needs a comma first: it is false
 * after an opening bracket and true after anything else, closing brackets included. There are no
 * line breaks inside a flat bracket nor inside brackets nested in it. Numbers are written digit by
 * digit, since the decimal point of printf depends on the locale.
 */
#include "kontend/jsonw.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"

#include <math.h>

enum { FIELD = 256 };

struct field {
	FILE *out;
	struct textbuf b;
	char mem[FIELD];
};

static void field_flush(struct field *f)
{
	fwrite_unlocked(f->b.from, 1, textbuf_len(&f->b), f->out);
	f->b.at = f->b.from;
}

static void put_bytes(struct field *f, const char *s, size_t len)
{
	if (len > (size_t)(f->b.end - f->b.at))
		field_flush(f);
	if (len > FIELD)
		fwrite_unlocked(s, 1, len, f->out);
	else
		textbuf_bytes(&f->b, s, len);
}

static void put_char(struct field *f, char c)
{
	put_bytes(f, &c, 1);
}

static void new_line(struct field *f, const struct jsonw *j)
{
	put_char(f, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		put_bytes(f, "  ", 2);
}

static void put_escaped(struct field *f, uint32_t ch)
{
	char code[16];

	if (ch == '"' || ch == '\\') {
		put_char(f, '\\');
		put_char(f, (char)ch);
	} else if (ch == '\n') {
		put_bytes(f, "\\n", 2);
	} else if (ch == '\t') {
		put_bytes(f, "\\t", 2);
	} else {
		put_bytes(f, code, (size_t)snprintf(code, sizeof(code), "\\u%04x", (unsigned)ch));
	}
}

/* Control characters, and characters that reorder or hide text: JSON allows some of them, but they
 * must not reach a terminal. */
static bool needs_escape(uint32_t ch)
{
	return ch < 0x20 || ch == '"' || ch == '\\' || (ch >= 0x7f && ch < 0xa0) ||
	       (ch >= 0x200b && ch <= 0x200f) || (ch >= 0x2028 && ch <= 0x202e) ||
	       (ch >= 0x2066 && ch <= 0x2069) || ch == 0xfeff || ch == 0x061c;
}

/* The number of bytes from @s on that need no escape. */
static size_t plain_span(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void put_string(struct field *f, const char *s)
{
	char utf8[4];
	uint32_t ch;
	size_t len;

	put_char(f, '"');
	for (;;) {
		size_t plain = plain_span(s);

		put_bytes(f, s, plain);
		s += plain;
		len = text_decode(s, &ch);
		if (!len)
			break;
		s += len;
		if (needs_escape(ch))
			put_escaped(f, ch);
		else
			put_bytes(f, utf8, text_encode(utf8, ch));
	}
	put_char(f, '"');
}

static void start(struct field *f, struct jsonw *j, const char *key)
{
	f->out = j->out;
	f->b = textbuf_make(f->mem, sizeof(f->mem));
	if (j->any)
		put_char(f, ',');
	if (j->depth && !j->flat)
		new_line(f, j);
	else if (j->any && !j->tight)
		put_char(f, ' ');
	j->any = true;
	if (key) {
		put_string(f, key);
		put_bytes(f, ": ", j->tight ? 1 : 2);
	}
}

void jsonw_begin(struct jsonw *j, const char *key, char bracket, bool flat)
{
	struct field f;

	start(&f, j, key);
	put_char(&f, bracket);
	field_flush(&f);
	j->depth++;
	if (flat || j->flat)
		j->flat++;
	j->any = false;
}

void jsonw_end(struct jsonw *j, char bracket)
{
	struct field f = {.out = j->out};

	f.b = textbuf_make(f.mem, sizeof(f.mem));
	j->depth--;
	if (j->flat)
		j->flat--;
	else if (j->any)
		new_line(&f, j);
	put_char(&f, bracket);
	j->any = true;
	if (j->depth == 0)
		put_char(&f, '\n');
	field_flush(&f);
}

/* A value that needs no escapes. */
static void put_word(struct jsonw *j, const char *key, const char *word)
{
	struct field f;

	start(&f, j, key);
	put_bytes(&f, word, strlen(word));
	field_flush(&f);
}

void jsonw_str(struct jsonw *j, const char *key, const char *s)
{
	struct field f;

	if (!s) {
		jsonw_null(j, key);
		return;
	}
	start(&f, j, key);
	put_string(&f, s);
	field_flush(&f);
}

void jsonw_u64(struct jsonw *j, const char *key, uint64_t v)
{
	char number[TEXTBUF_NUMBER + 1];
	struct textbuf b = textbuf_make(number, sizeof(number));

	textbuf_u64(&b, v);
	put_word(j, key, textbuf_end(&b));
}

void jsonw_i64(struct jsonw *j, const char *key, int64_t v)
{
	char number[TEXTBUF_NUMBER + 2];
	struct textbuf b = textbuf_make(number, sizeof(number));

	textbuf_i64(&b, v);
	put_word(j, key, textbuf_end(&b));
}

void jsonw_millis(struct jsonw *j, const char *key, uint64_t ns)
{
	enum { MILLI = 1000000 };
	char number[TEXTBUF_NUMBER + 8];
	struct textbuf b = textbuf_make(number, sizeof(number));

	textbuf_u64(&b, ns / MILLI);
	textbuf_char(&b, '.');
	for (uint64_t rest = ns % MILLI, digit = MILLI / 10; digit; digit /= 10)
		textbuf_char(&b, (char)('0' + rest / digit % 10));
	put_word(j, key, textbuf_end(&b));
}

void jsonw_fixed(char *buf, size_t size, double v)
{
	struct textbuf b = textbuf_make(buf, size);
	double a = fabs(v);
	uint64_t m;

	if (!isfinite(v) || a >= 1e15) {
		snprintf(buf, size, isfinite(v) ? "%.0f" : "null", v);
		return;
	}
	m = (uint64_t)(a * 1000 + 0.5);
	if (v < 0 && m)
		textbuf_char(&b, '-');
	textbuf_u64(&b, m / 1000);
	textbuf_char(&b, '.');
	textbuf_u64_zeros(&b, m % 1000, 3);
	textbuf_end(&b);
}

void jsonw_double(struct jsonw *j, const char *key, double v)
{
	char buf[340];

	jsonw_fixed(buf, sizeof(buf), v);
	put_word(j, key, buf);
}

void jsonw_bool(struct jsonw *j, const char *key, bool v)
{
	put_word(j, key, v ? "true" : "false");
}

void jsonw_null(struct jsonw *j, const char *key)
{
	put_word(j, key, "null");
}

void jsonw_hex(struct jsonw *j, const char *key, uint64_t v)
{
	char number[TEXTBUF_NUMBER + 3];
	struct textbuf b = textbuf_make(number, sizeof(number));

	textbuf_char(&b, '"');
	textbuf_hex(&b, v);
	textbuf_char(&b, '"');
	put_word(j, key, textbuf_end(&b));
}
