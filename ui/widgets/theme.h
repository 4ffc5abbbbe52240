/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_THEME_H
#define KONTEND_UI_WIDGETS_THEME_H

#include "kontend/display.h"

#include <stdbool.h>

enum {
	THEME_BOLD = 1,
	THEME_DIM = 2,
	THEME_REVERSE = 4,
	THEME_UNDERLINE = 8,
};

/* A colour for terminals with 256, 16 and 8 colours; -1 is the terminal's own. */
struct theme_color {
	int16_t c256, c16, c8;
};

struct theme_style {
	struct theme_color fg, bg;
	uint8_t attrs;	    /* with colours */
	uint8_t mono_attrs; /* without */
};

struct theme {
	const char *name;
	const char *help;
	struct theme_style styles[ROLE_MAP];
};

/* Of any role, those of heat maps, too. */
struct theme_style theme_style(const struct theme *t, int role);
/* Has it colours for heat maps? Else letters are in their place. */
bool theme_has_map(const struct theme *t);

/* "default", "light", "mono", "cvd": NULL when unknown. */
const struct theme *theme_find(const char *name);
const char *theme_name(size_t index); /* NULL after the last */
const char *theme_help(size_t index); /* the same */
/* The colour for a terminal of @colors colours. */
int theme_pick(const struct theme_color *c, int colors);

#endif
