/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_JSON_H
#define KONTEND_TESTS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A strict reader of JSON (RFC 8259), for tests of what we write: no trailing commas, no comments,
 * no duplicate keys, valid UTF-8, nothing after the value. Functions on values take NULL and wrong
 * types, and answer NULL, 0 or "" then, so that a path can be walked without asking at each step.
 */
enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	enum json_type type;
	const char *key;  /* NULL unless a member of an object */
	const char *text; /* JSON_STRING: decoded; JSON_NUMBER: begins with it */
	bool truth;
	size_t n; /* elements or members */
	const struct json *first, *next;
};

struct json_doc {
	struct json *nodes;
	char *text;
	size_t n;
};

/* 0, -ENOMEM, or -EINVAL with *ret_at the offset of the first byte that is wrong. */
int json_parse(struct json_doc *d, const char *text, size_t len, size_t *ret_at);
void json_deinit(struct json_doc *d);

const struct json *json_root(const struct json_doc *d);
const struct json *json_get(const struct json *object, const char *key);
/* "views.locks.rows": members by name, through objects. */
const struct json *json_path(const struct json *object, const char *path);
const struct json *json_at(const struct json *array, size_t k);
size_t json_len(const struct json *v);
const char *json_text(const struct json *v);
double json_number(const struct json *v);
uint64_t json_u64(const struct json *v); /* exact for whole numbers */
bool json_is(const struct json *v, enum json_type type);

#endif
