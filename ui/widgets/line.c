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
#include <string.h>

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

/* The last bracket that is open at the end of what fits into @room columns; NULL: none is. */
static char *open_bracket(char *text, int room)
{
	char *end = text + strlen(text), *bracket;

	while (end > text && text_width(text) > room)
		*--end = '\0';
	bracket = strrchr(text, '(');
	return bracket && !strchr(bracket, ')') ? bracket : NULL;
}

void line_put_brackets(struct line *l, enum role role, const char *text)
{
	char buf[256];
	int room = l->r.w - l->x;

	snprintf(buf, sizeof(buf), "%s", text);
	char *bracket = text_width(buf) > room ? open_bracket(buf, room) : NULL;
	if (!bracket) {
		line_put(l, role, text);
		return;
	}
	while (bracket > buf && bracket[-1] == ' ')
		bracket--;
	*bracket = '\0';
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
