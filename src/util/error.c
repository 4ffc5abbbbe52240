// SPDX-License-Identifier: GPL-2.0-only
/*
 * The error message. The first one stays: the code where an error occurs knows what was tried, and
 * a caller that also sets a message cannot hide it. Parts of it come from outside (paths, kernel
 * messages), so it is cleaned as a whole.
 */
#include "kontend/error.h"
#include "kontend/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *fmt, ...)
{
	if (!err || err->code)
		return code;

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->code = code;
	text_clean(err->text, sizeof(err->text), err->text);
	return code;
}

const char *error_words(int code)
{
	return strerror(code == -KERNEL_ENOTSUPP ? ENOTSUP : -code);
}

int error_errno(struct error *err, int code, const char *fmt, ...)
{
	if (!err || err->code)
		return code;

	char head[sizeof(err->text)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	return error_set(err, code, "%s: %s", head, error_words(code));
}

int error_enomem(struct error *err, const char *what, ...)
{
	char text[sizeof(err->text) / 2];
	va_list ap;

	if (!err || err->code)
		return -ENOMEM;
	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	return error_set(err, -ENOMEM, "No memory for %s: end other programs", text);
}
