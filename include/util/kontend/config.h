/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CONFIG_H
#define KONTEND_CONFIG_H

#include "kontend/error.h"
#include <stddef.h>

/*
 * A configuration: lines "[section]" and "key = value"; empty lines and lines that begin with '#'
 * are ignored. Keys and sections have lower-case letters, digits and '-'. A value is the rest of
 * the line without blanks around it, and not empty.
 */
struct config_line {
	const char *section, *key, *value; /* borrowed until the next one */
};

/* take() returns 0, or -EINVAL with a message in @err, without the file and line. */
struct config_reader {
	int (*take)(void *ctx, const struct config_line *l, struct error *err);
	void *ctx;
	/* An invalid line of section @lenient is passed to warn() and skipped; NULL: no such
	 * section. */
	const char *lenient;
	void (*warn)(void *ctx, const struct error *why);
};

enum { CONFIG_LINE = 1024, CONFIG_BYTES = 1 << 16 };

/*
 * Passes each setting of @text to @r. -EINVAL with @err, "PATH:LINE: ...", for a line that is no
 * setting, or that @r rejects.
 */
int config_parse(const char *text, size_t len, const char *path, const struct config_reader *r,
		 struct error *err);

/*
 * Sets @l in @text, or removes it if it has no value; all other bytes stay. @text must be valid. 0,
 * or -EFBIG: @ret is too small.
 */
int config_edit(const char *text, size_t len, const struct config_line *l, char *ret, size_t size,
		size_t *ret_len);

#endif
