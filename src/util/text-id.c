// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names with a common part: tasks are "name/812", maybe followed by more as in "name/812 W 3ms
 * ago", files "/some/folder/name", unnamed locks "function …356c". If there is no room, the part
 * before the end is cut, and the distinguishing part stays.
 */
#include "kontend/text.h"

#include <string.h>

enum { LEAST_NAME = 4 /* columns, with the mark of the cut */ };

static const char mark[] = "…";

/* Start and length of "/812" in @s; NULL: none. */
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

/* The same for any distinguishing end: an id, a file's name, the end of an address. */
static const char *find_end(const char *s, size_t *ret_len)
{
	const char *end = find_id(s, ret_len);
	const char *slash = strrchr(s, '/'), *path = strchr(s, '/');

	if (!end && slash && slash > path && !strchr(slash, ' '))
		end = slash;
	if (!end && (end = strstr(s, " …")))
		end++;
	if (end && end != find_id(s, ret_len))
		*ret_len = strlen(end);
	return end;
}

/* Number of bytes of @s, before @end, that fit into @width columns. */
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
	const char *id = find_end(s, &id_len);

	if (!id || text_width(s) <= width)
		return false;
	int left = width - text_width(id);

	if (left < LEAST_NAME) /* cut the text after the id, too */
		left = width - (int)id_len - (id[id_len] ? 1 : 0);
	if (left < LEAST_NAME)
		return false;
	bool marked = strncmp(id, mark, mark_len) == 0;
	name_len = fitting(s, id, left);
	if (name_len == (size_t)(id - s) || marked)
		mark_len = 0;
	else
		name_len = fitting(s, id, left - 1);
	while (marked && name_len && s[name_len - 1] == ' ')
		name_len--;
	if (name_len + mark_len + strlen(id) >= size)
		return false;
	memcpy(dst, s, name_len);
	memcpy(dst + name_len, mark, mark_len);
	strcpy(dst + name_len + mark_len, id);
	return true;
}
