// SPDX-License-Identifier: GPL-2.0-only
/*
 * "p:group/event /path/of/binary:0x0000000000001139(0x4010) arg1=%di:u64": a probe in
 * uprobe_events. The path may contain anything but its terminator. " /path event 12": the same
 * probe in uprobe_profile.
 */
#include "kontend/uprobe.h"

#include <stdlib.h>
#include <string.h>

/* Copies @len bytes of @from; false: they do not fit. */
static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (!len || len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* The ":0x" of the offset: the number that only a counter or arguments follow; NULL: none. */
static const char *find_offset(const char *at)
{
	while ((at = strstr(at, ":0x"))) {
		const char *end = at + 3 + strspn(at + 3, "0123456789abcdefABCDEF");
		if (end > at + 3 && (!*end || strchr(" (\n%", *end)))
			return at;
		at += 3;
	}
	return NULL;
}

bool uprobe_profile_parse(const char *text, const char *event, uint64_t *ret)
{
	const char *name = strstr(text, event), *at = strrchr(text, ' ');
	char *end;

	if (!*event || !name || !at || at < name || at[1] < '0' || at[1] > '9')
		return false;
	*ret = strtoull(at + 1, &end, 10);
	return !*end || *end == '\n';
}

bool uprobe_line_parse(const char *text, struct uprobe_line *ret)
{
	struct uprobe_line l = {.is_return = text[0] == 'r'};
	const char *name = text + 2, *slash, *path, *offset;
	char *end;

	if ((text[0] != 'p' && text[0] != 'r') || text[1] != ':')
		return false;
	slash = strchr(name, '/');
	path = slash ? strchr(slash, ' ') : NULL;
	offset = path ? find_offset(path) : NULL;
	if (!offset || !copy(l.group, sizeof(l.group), name, (size_t)(slash - name)) ||
	    !copy(l.event, sizeof(l.event), slash + 1, (size_t)(path - slash - 1)) ||
	    !copy(l.path, sizeof(l.path), path + 1, (size_t)(offset - path - 1)))
		return false;
	l.offset = strtoull(offset + 1, &end, 16);
	if (*end == '(')
		l.ref_ctr = strtoull(end + 1, NULL, 16);
	*ret = l;
	return true;
}
