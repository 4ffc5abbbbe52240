// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses BINARY:FUNCTION+BYTES%return. The last colon separates: paths may have colons, names of
 * functions in symbol tables have none.
 */
#include "kontend/uprobe-spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int malformed(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--probe '%s': give BINARY:FUNCTION, BINARY:FUNCTION+BYTES, "
			 "BINARY:FUNCTION%%return or BINARY:OFFSET",
			 text);
}

static bool copy(char *to, size_t size, const char *from, size_t n)
{
	if (!n || n >= size)
		return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

/* A number that takes all @n characters. */
static bool parse_number(const char *text, size_t n, uint64_t *ret)
{
	char buf[24], *end;

	if (!copy(buf, sizeof(buf), text, n) || *buf < '0' || *buf > '9')
		return false;
	errno = 0;
	*ret = strtoull(buf, &end, strncmp(buf, "0x", 2) ? 10 : 16);
	return !*end && !errno;
}

/* The part after the colon, @n characters without %return. */
static bool parse_place(const char *text, size_t n, struct uprobe_spec *ret)
{
	const char *plus = memchr(text, '+', n);
	size_t name = plus ? (size_t)(plus - text) : n;

	if (*text >= '0' && *text <= '9')
		return parse_number(text, n, &ret->offset);
	if (plus && !parse_number(plus + 1, n - name - 1, &ret->offset))
		return false;
	return copy(ret->function, sizeof(ret->function), text, name);
}

int uprobe_spec_parse(const char *text, struct uprobe_spec *ret, struct error *err)
{
	static const char suffix[] = "%return";
	const char *colon = strrchr(text, ':');
	size_t n = colon ? strlen(colon + 1) : 0;

	*ret = (struct uprobe_spec){0};
	if (n >= sizeof(suffix) - 1 && !strcmp(colon + 1 + n - (sizeof(suffix) - 1), suffix)) {
		ret->is_return = true;
		n -= sizeof(suffix) - 1;
	}
	if (!n || !copy(ret->binary, sizeof(ret->binary), text, (size_t)(colon - text)) ||
	    !parse_place(colon + 1, n, ret))
		return malformed(text, err);
	if (ret->is_return && ret->offset && *ret->function)
		return error_set(err, -EINVAL,
				 "--probe '%s': %%return is for whole functions, without "
				 "+BYTES",
				 text);
	return 0;
}
