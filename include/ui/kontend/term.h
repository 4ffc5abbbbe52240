/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TERM_H
#define KONTEND_TERM_H

#include "kontend/display.h"

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

struct term_options {
	enum term_color color; /* AUTO: none when NO_COLOR is set and not empty */
	const char *theme;     /* see theme_name(); NULL = "default" */
	bool ascii;	       /* also when the locale is not UTF-8 */
	bool no_mouse;
};

/*
 * Takes the terminal on standard input and output until display->ops->free(). Fatal signals of the
 * program itself (SEGV, ABRT, BUS, FPE, ILL) give it back too. -ENOTTY, or -EINVAL for a TERM or a
 * theme that is unknown, each with its sentence in @err.
 */
int term_new(struct display **ret, const struct term_options *o, struct error *err);

int term_color_parse(const char *s, enum term_color *ret); /* auto always never: 0 or -EINVAL */

#endif
