// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts about probes. The kernel writes "p:group/event /path/of/binary:0x0000000000001139(0x4010)
 * arg1=%di:u64" into uprobe_events, where the path may contain anything but the form of the offset,
 * and " /path event 12" into uprobe_profile. Users give BINARY:FUNCTION+BYTES%return: there the
 * last colon separates, since paths may have colons and names of functions in symbol tables have
 * none.
 */
#include "kontend/number.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <string.h>

/* Copies @len bytes of @from; false: they do not fit. */
static bool copy_text(char *to, size_t size, const char *from, size_t len)
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

	if (!*event || !name || !at || at++ < name || number_take(&at, UINT64_MAX, ret) < 0)
		return false;
	return !*at || *at == '\n';
}

bool uprobe_line_parse(const char *text, struct uprobe_line *ret)
{
	struct uprobe_line l = {.is_return = text[0] == 'r'};
	const char *name = text + 2, *slash, *path, *offset;

	if ((text[0] != 'p' && text[0] != 'r') || text[1] != ':')
		return false;
	slash = strchr(name, '/');
	path = slash ? strchr(slash, ' ') : NULL;
	offset = path ? find_offset(path) : NULL;
	if (!offset || !copy_text(l.group, sizeof(l.group), name, (size_t)(slash - name)) ||
	    !copy_text(l.event, sizeof(l.event), slash + 1, (size_t)(path - slash - 1)) ||
	    !copy_text(l.path, sizeof(l.path), path + 1, (size_t)(offset - path - 1)))
		return false;
	offset++;
	if (number_take_hex(&offset, &l.offset) < 0)
		return false;
	if (*offset++ == '(' && number_take_hex(&offset, &l.ref_ctr) < 0)
		return false;
	*ret = l;
	return true;
}

static int bad_spec(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--probe '%s': give BINARY:FUNCTION, BINARY:FUNCTION+BYTES, "
			 "BINARY:FUNCTION%%return or BINARY:OFFSET",
			 text);
}

/* A decimal number, or a hexadecimal one after "0x", that takes all @n characters. */
static bool parse_offset(const char *text, size_t n, uint64_t *ret)
{
	const char *at = text;

	return number_take_any(&at, ret) == 0 && at == text + n;
}

/* The part after the colon, @n characters without %return. */
static bool parse_place(const char *text, size_t n, struct uprobe_spec *ret)
{
	const char *plus = memchr(text, '+', n);
	size_t name = plus ? (size_t)(plus - text) : n;

	if (*text >= '0' && *text <= '9')
		return parse_offset(text, n, &ret->offset);
	if (plus && !parse_offset(plus + 1, n - name - 1, &ret->offset))
		return false;
	return copy_text(ret->function, sizeof(ret->function), text, name);
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
	if (!n || !copy_text(ret->binary, sizeof(ret->binary), text, (size_t)(colon - text)) ||
	    !parse_place(colon + 1, n, ret))
		return bad_spec(text, err);
	if (ret->is_return && ret->offset && *ret->function)
		return error_set(err, -EINVAL,
				 "--probe '%s': %%return is for whole functions, without "
				 "+BYTES",
				 text);
	return 0;
}
