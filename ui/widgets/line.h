/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_LINE_H
#define KONTEND_UI_WIDGETS_LINE_H

#include "kontend/screen.h"

/* One line of words in several roles; stops at the end of the line. */
struct line {
	struct screen *s;
	struct rect r;
	int x, y;
};

void line_put(struct line *l, enum role role, const char *text);
void line_printf(struct line *l, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same if all of it fits: a figure that is cut would be another one. */
bool line_whole(struct line *l, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A bracket that does not fit is left out with what follows it; half of one says nothing. */
void line_put_brackets(struct line *l, enum role role, const char *text);

#endif
