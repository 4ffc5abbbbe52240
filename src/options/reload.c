// SPDX-License-Identifier: GPL-2.0-only
/*
 * Applies a configuration that was read again to a running process. A column of the table marks the
 * options that can change at run time; the user is informed about all others, which need a restart.
 */
#include "internal.h"
#include "kontend/textbuf.h"

#include <string.h>

/* Number of texts of the field; 0: a number or a flag. */
static size_t texts_of(const struct opts_info *i)
{
	switch (i->kind) {
	case OPTS_PRESET:
	case OPTS_TEXT:
	case OPTS_CHOICE:
	case OPTS_PERCENT:
		return 1;
	case OPTS_LIST:
		return OPTS_LIST_MAX;
	default:
		return 0;
	}
}

static size_t size_of(const struct opts_info *i)
{
	if (texts_of(i))
		return texts_of(i) * sizeof(const char *);
	return i->kind == OPTS_FLAG ? sizeof(bool) : sizeof(uint64_t);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct opts_info *i, const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	if (!texts_of(i))
		return memcmp(a, b, size_of(i)) == 0;
	for (size_t k = 0; k < texts_of(i); k++)
		if (!is_same_text(x[k], y[k]))
			return false;
	return true;
}

void opts_reload(struct opts *o, const struct opts *new, char *ret_rest, size_t size)
{
	struct textbuf rest = textbuf_make(ret_rest, size);

	for (const struct opts_info *i = opts_table; i->name; i++) {
		void *to = (char *)o + i->offset;
		const void *from = (const char *)new + i->offset;

		if (!(i->verbs & 1u << o->verb))
			continue;
		/* Copies equal texts, too: the old ones may be freed. */
		if (i->reloads) {
			memcpy(to, from, size_of(i));
			continue;
		}
		if (is_same(i, to, from))
			continue;
		if (textbuf_len(&rest))
			textbuf_str(&rest, ", ");
		textbuf_str(&rest, i->name);
	}
	textbuf_end(&rest);
}
