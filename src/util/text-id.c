// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks are "name/812", perhaps with more behind it: "name/812 W 3ms ago". Many have the same name,
 * so where there is no room it is the name that is cut, and the id that stays.
 */
#include "kontend/text.h"

#include <string.h>

enum { LEAST_NAME = 4 /* columns, with the mark of the cut */ };

static const char mark[] = "…";

/* Where "/812" begins in @s, and its length; NULL: there is none. */
static const char *find_id(const char *s, size_t *ret_len)
{
	for (const char *p = strchr(s, '/'); p; p = strchr(p + 1, '/')) {
		size_t n = 1 + strspn(p + 1, "0123456789");

		if (p == s || n == 1 || (p[n] != '\0' && p[n] != ' ' && p[n] != '@'))
			continue;
		*ret_len = n + strcspn(p + n, " "); /* "/812@host" */
		return p;
	}
	return NULL;
}

/* The bytes of @s, up to @end, that are at most @width columns. */
static size_t fitting(const char *s, const char *end, int width)
{
	const char *p = s;
	uint32_t ch;

	for (size_t n; p < end && (n = text_decode(p, &ch)) > 0; p += n) {
		width -= text_char_width(ch);
		if (width < 0)
			break;
	}
	return (size_t)(p - s);
}

bool text_keep_id(char *dst, size_t size, const char *s, int width)
{
	size_t id_len, name_len, mark_len = sizeof(mark) - 1;
	const char *id = find_id(s, &id_len);

	if (!id || text_width(s) <= width)
		return false;
	int left = width - text_width(id);

	if (left < LEAST_NAME) /* what stands behind the id is cut as well */
		left = width - (int)id_len - (id[id_len] ? 1 : 0);
	if (left < LEAST_NAME)
		return false;
	name_len = fitting(s, id, left);
	if (name_len == (size_t)(id - s))
		mark_len = 0;
	else
		name_len = fitting(s, id, left - 1);
	if (name_len + mark_len + strlen(id) >= size)
		return false;
	memcpy(dst, s, name_len);
	memcpy(dst + name_len, mark, mark_len);
	strcpy(dst + name_len + mark_len, id);
	return true;
}
