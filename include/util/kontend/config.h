/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CONFIG_H
#define KONTEND_CONFIG_H

#include "kontend/error.h"
#include <stddef.h>

/*
 * A configuration: lines "[section]" and "key = value"; blank ones, and those that begin with '#',
 * say nothing. Keys and sections are of lower case letters, digits and '-'. A value is the rest of
 * the line without blanks around it, and not empty.
 */
struct config_line {
	const char *section, *key, *value; /* borrowed until the next one */
};

/* take() answers 0, or -EINVAL with @err saying what is wrong, without the place. */
struct config_reader {
	int (*take)(void *ctx, const struct config_line *l, struct error *err);
	void *ctx;
	/* A faulty line of section @lenient is handed to warn(), and left out; NULL: none is. */
	const char *lenient;
	void (*warn)(void *ctx, const struct error *why);
};

enum { CONFIG_LINE = 1024, CONFIG_BYTES = 1 << 16 };

/*
 * Hands each setting of @text to @r. -EINVAL with @err, "PATH:LINE: ...", for a line that is no
 * setting, or that @r refuses.
 */
int config_parse(const char *text, size_t len, const char *path, const struct config_reader *r,
		 struct error *err);

/*
 * Sets @l in @text, or takes it out where it has no value; all else stays as it is. What is in
 * @text parses. 0, or -EFBIG: @ret has no room for it.
 */
int config_edit(const char *text, size_t len, const struct config_line *l, char *ret, size_t size,
		size_t *ret_len);

#endif
