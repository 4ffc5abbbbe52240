// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pen that writes word after word into one line, each in its role, and stops where the line ends.
 * The place of the next word follows from the width of the last one, so that a line can be put
 * together from parts that are there or not.
 */
#include "line.h"
#include "kontend/text.h"

#include <stdarg.h>
#include <stdio.h>

void line_put(struct line *l, enum role role, const char *text)
{
	l->x = screen_put(l->s, l->r, l->x, l->y, role, text);
}

void line_printf(struct line *l, enum role role, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	line_put(l, role, buf);
}

bool line_whole(struct line *l, enum role role, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (l->x + text_width(buf) > l->r.w)
		return false;
	line_put(l, role, buf);
	return true;
}
