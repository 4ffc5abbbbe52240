// SPDX-License-Identifier: GPL-2.0-only
/*
 * A JSON writer with no buffer of its own. `any` says whether a comma is due at the level at hand:
 * it is false after a bracket opens and true after anything that was written, a closed bracket
 * included. Inside a flat bracket, and in all that is nested in it, no line is broken. Numbers are
 * written digit by digit, since printf's decimal point follows the locale.
 */
#include "kontend/jsonw.h"
#include "kontend/text.h"

#include <inttypes.h>
#include <math.h>

static void new_line(struct jsonw *j)
{
	fputc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

static void put_escaped(FILE *out, uint32_t ch)
{
	if (ch == '"' || ch == '\\')
		fprintf(out, "\\%c", (char)ch);
	else if (ch == '\n')
		fputs("\\n", out);
	else if (ch == '\t')
		fputs("\\t", out);
	else
		fprintf(out, "\\u%04" PRIx32, ch);
}

/* Controls and what reorders or hides text: legal in JSON in part, but not on a terminal. */
static bool needs_escape(uint32_t ch)
{
	return ch < 0x20 || ch == '"' || ch == '\\' || (ch >= 0x7f && ch < 0xa0) ||
	       (ch >= 0x200b && ch <= 0x200f) || (ch >= 0x2028 && ch <= 0x202e) ||
	       (ch >= 0x2066 && ch <= 0x2069) || ch == 0xfeff || ch == 0x061c;
}

static void put_string(FILE *out, const char *s)
{
	char utf8[4];
	uint32_t ch;
	size_t len;

	fputc('"', out);
	while ((len = text_decode(s, &ch)) > 0) {
		s += len;
		if (needs_escape(ch))
			put_escaped(out, ch);
		else
			fwrite(utf8, 1, text_encode(utf8, ch), out);
	}
	fputc('"', out);
}

static void start(struct jsonw *j, const char *key)
{
	if (j->any)
		fputc(',', j->out);
	if (j->depth && !j->flat)
		new_line(j);
	else if (j->any)
		fputc(' ', j->out);
	j->any = true;
	if (key) {
		put_string(j->out, key);
		fputs(": ", j->out);
	}
}

void jsonw_begin(struct jsonw *j, const char *key, char bracket, bool flat)
{
	start(j, key);
	fputc(bracket, j->out);
	j->depth++;
	if (flat || j->flat)
		j->flat++;
	j->any = false;
}

void jsonw_end(struct jsonw *j, char bracket)
{
	j->depth--;
	if (j->flat)
		j->flat--;
	else if (j->any)
		new_line(j);
	fputc(bracket, j->out);
	j->any = true;
	if (j->depth == 0)
		fputc('\n', j->out);
}

void jsonw_str(struct jsonw *j, const char *key, const char *s)
{
	if (!s) {
		jsonw_null(j, key);
		return;
	}
	start(j, key);
	put_string(j->out, s);
}

void jsonw_u64(struct jsonw *j, const char *key, uint64_t v)
{
	start(j, key);
	fprintf(j->out, "%" PRIu64, v);
}

void jsonw_i64(struct jsonw *j, const char *key, int64_t v)
{
	start(j, key);
	fprintf(j->out, "%" PRId64, v);
}

void jsonw_fixed(char *buf, size_t size, double v)
{
	double a = fabs(v);
	uint64_t m;

	if (!isfinite(v) || a >= 1e15) {
		snprintf(buf, size, isfinite(v) ? "%.0f" : "null", v);
		return;
	}
	m = (uint64_t)(a * 1000 + 0.5);
	snprintf(buf, size, "%s%" PRIu64 ".%03" PRIu64, v < 0 && m ? "-" : "", m / 1000, m % 1000);
}

void jsonw_double(struct jsonw *j, const char *key, double v)
{
	char buf[340];

	jsonw_fixed(buf, sizeof(buf), v);
	start(j, key);
	fputs(buf, j->out);
}

void jsonw_bool(struct jsonw *j, const char *key, bool v)
{
	start(j, key);
	fputs(v ? "true" : "false", j->out);
}

void jsonw_null(struct jsonw *j, const char *key)
{
	start(j, key);
	fputs("null", j->out);
}

void jsonw_hex(struct jsonw *j, const char *key, uint64_t v)
{
	start(j, key);
	fprintf(j->out, "\"0x%" PRIx64 "\"", v);
}
