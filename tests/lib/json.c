// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader works on a copy of the text, in which strings are decoded in place (they only get
 * shorter) and numbers cut off by a NUL where the byte after them has been looked at already. There
 * are never more values than commas and opening brackets plus one, so that one array of nodes,
 * allocated at the start, holds them all, and pointers between them stay valid.
 */
#include "json.h"

#include "kontend/mem.h"
#include "kontend/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 64 };

struct reader {
	struct json_doc *doc;
	char *p, *end; /* *end is a NUL */
	unsigned depth;
};

static struct json *read_value(struct reader *r);

static void skip_space(struct reader *r)
{
	while (*r->p && strchr(" \t\r\n", *r->p))
		r->p++;
}

static bool accept(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* Four hex digits at @p, or -1. */
static int32_t hex4(const char *p)
{
	int32_t v = 0;

	for (int k = 0; k < 4; k++) {
		const char *digits = "0123456789abcdef";
		const char *at =
			p[k] ? strchr(digits, p[k] >= 'A' && p[k] <= 'F' ? p[k] + 32 : p[k]) : NULL;

		if (!at)
			return -1;
		v = v * 16 + (int32_t)(at - digits);
	}
	return v;
}

/* The part after "\u", surrogate pairs joined; a lone surrogate and U+0000 are refused. */
static bool read_unicode(struct reader *r, char **out)
{
	int32_t ch = hex4(r->p), low;
	char buf[4];
	size_t n;

	if (ch <= 0 || (ch >= 0xdc00 && ch < 0xe000))
		return false;
	r->p += 4;
	if (ch >= 0xd800 && ch < 0xdc00) {
		if (r->p[0] != '\\' || r->p[1] != 'u')
			return false;
		low = hex4(r->p + 2);
		if (low < 0xdc00 || low >= 0xe000)
			return false;
		r->p += 6;
		ch = 0x10000 + ((ch - 0xd800) << 10) + (low - 0xdc00);
	}
	n = text_encode(buf, (uint32_t)ch);
	memcpy(*out, buf, n);
	*out += n;
	return true;
}

static bool read_escape(struct reader *r, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (*r->p == 'u') {
		r->p++;
		return read_unicode(r, out);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return false;
	r->p++;
	*(*out)++ = to[at - from];
	return true;
}

/* After the opening quote; the decoded text, or NULL. */
static const char *read_string(struct reader *r)
{
	char *start = r->p, *out = r->p;

	while (r->p < r->end && *r->p != '"') {
		uint32_t ch;
		size_t n;

		if (*r->p == '\\') {
			r->p++;
			if (!read_escape(r, &out))
				return NULL;
			continue;
		}
		n = text_decode(r->p, &ch);
		if (!n || ch < 0x20 || (ch == 0xfffd && n != 3))
			return NULL;
		memmove(out, r->p, n);
		out += n;
		r->p += n;
	}
	if (r->p == r->end)
		return NULL;
	r->p++;
	*out = '\0';
	return start;
}

static size_t read_digits(struct reader *r)
{
	size_t n = strspn(r->p, "0123456789");

	r->p += n;
	return n;
}

static bool read_number(struct reader *r, struct json *v)
{
	char *start = r->p;
	char *digits;

	r->p += *r->p == '-';
	digits = r->p;
	if (!read_digits(r) || (*digits == '0' && r->p - digits > 1))
		return false;
	if (*r->p == '.') {
		r->p++;
		if (!read_digits(r))
			return false;
	}
	if (*r->p == 'e' || *r->p == 'E') {
		r->p++;
		r->p += *r->p == '+' || *r->p == '-';
		if (!read_digits(r))
			return false;
	}
	v->type = JSON_NUMBER;
	v->text = start;
	return true;
}

static bool read_word(struct reader *r, struct json *v)
{
	static const struct {
		const char *word;
		enum json_type type;
		bool truth;
	} words[] = {
		{"null", JSON_NULL, false}, {"true", JSON_BOOL, true}, {"false", JSON_BOOL, false}};

	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
		size_t n = strlen(words[k].word);

		if (strncmp(r->p, words[k].word, n))
			continue;
		v->type = words[k].type;
		v->truth = words[k].truth;
		r->p += n;
		return true;
	}
	return false;
}

static const char *read_key(struct reader *r, const struct json *object)
{
	const char *key = accept(r, '"') ? read_string(r) : NULL;

	if (!key || json_get(object, key) || !accept(r, ':'))
		return NULL;
	return key;
}

/* After the opening bracket, up to and with the closing one. */
static bool read_elements(struct reader *r, struct json *v, char close)
{
	const struct json **link = &v->first;

	if (accept(r, close))
		return true;
	do {
		const char *key = NULL;
		struct json *e;

		if (v->type == JSON_OBJECT) {
			key = read_key(r, v);
			if (!key)
				return false;
		}
		e = read_value(r);
		if (!e)
			return false;
		e->key = key;
		*link = e;
		link = &e->next;
		v->n++;
	} while (accept(r, ','));
	return accept(r, close);
}

static struct json *read_value(struct reader *r)
{
	struct json *v = &r->doc->nodes[r->doc->n++];
	bool good;

	skip_space(r);
	if (++r->depth > JSON_DEPTH)
		return NULL;
	if (accept(r, '{')) {
		v->type = JSON_OBJECT;
		good = read_elements(r, v, '}');
	} else if (accept(r, '[')) {
		v->type = JSON_ARRAY;
		good = read_elements(r, v, ']');
	} else if (accept(r, '"')) {
		v->type = JSON_STRING;
		v->text = read_string(r);
		good = v->text != NULL;
	} else {
		good = read_word(r, v) || read_number(r, v);
	}
	r->depth--;
	return good ? v : NULL;
}

int json_parse(struct json_doc *d, const char *text, size_t len, size_t *ret_at)
{
	struct reader r = {.doc = d};
	size_t n = 2;

	for (size_t k = 0; k < len; k++)
		n += text[k] == ',' || text[k] == '[' || text[k] == '{';
	*d = (struct json_doc){0};
	d->nodes = mem_calloc(n, sizeof(*d->nodes));
	d->text = mem_calloc(len + 1, 1);
	if (!d->nodes || !d->text) {
		json_deinit(d);
		return -ENOMEM;
	}
	memcpy(d->text, text, len);
	r.p = d->text;
	r.end = d->text + len;
	if (read_value(&r)) {
		skip_space(&r);
		if (r.p == r.end)
			return 0;
	}
	*ret_at = (size_t)(r.p - d->text);
	json_deinit(d);
	return -EINVAL;
}

void json_deinit(struct json_doc *d)
{
	mem_free(d->nodes);
	mem_free(d->text);
	*d = (struct json_doc){0};
}

const struct json *json_root(const struct json_doc *d)
{
	return d->nodes;
}

const struct json *json_get(const struct json *object, const char *key)
{
	const struct json *v = json_is(object, JSON_OBJECT) ? object->first : NULL;

	while (v && strcmp(v->key, key))
		v = v->next;
	return v;
}

const struct json *json_path(const struct json *object, const char *path)
{
	char key[64];

	while (object && *path) {
		size_t n = strcspn(path, ".");

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		object = json_get(object, key);
		path += n + (path[n] == '.');
	}
	return object;
}

const struct json *json_at(const struct json *array, size_t k)
{
	const struct json *v = json_is(array, JSON_ARRAY) ? array->first : NULL;

	while (v && k--)
		v = v->next;
	return v;
}

size_t json_len(const struct json *v)
{
	return v ? v->n : 0;
}

const char *json_text(const struct json *v)
{
	return json_is(v, JSON_STRING) ? v->text : "";
}

double json_number(const struct json *v)
{
	return json_is(v, JSON_NUMBER) ? strtod(v->text, NULL) : 0;
}

uint64_t json_u64(const struct json *v)
{
	return json_is(v, JSON_NUMBER) ? strtoull(v->text, NULL, 10) : 0;
}

bool json_is(const struct json *v, enum json_type type)
{
	return v && v->type == type;
}
