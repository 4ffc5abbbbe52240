/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PICTURE_H
#define KONTEND_PICTURE_H

#include "kontend/screen.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A screen for who has no terminal at hand: a picture, its text, or text in a terminal's colours.
 */
enum picture_format { PICTURE_SVG, PICTURE_TEXT, PICTURE_ANSI };

struct picture {
	const struct screen *screen;
	const char *theme; /* its name; NULL = the first one */
	const char *title; /* what it shows, for who cannot see it */
};

/* svg text ansi: 0 or -EINVAL. */
int picture_format_parse(const char *name, enum picture_format *ret);
/* By the ending of a file's name: .svg, .ansi, else text. */
enum picture_format picture_format_of(const char *path);
/* -EINVAL: no theme is called so. Whether all could be written is known to @out (ferror()). */
int picture_write(const struct picture *p, enum picture_format format, FILE *out);
/* The same in memory. -ENOMEM as well. */
int picture_text(const struct picture *p, enum picture_format format, char **ret /* mem_free() */);

/* A cell of a picture, in its units: three fifths of the size of letters, as their advance is. */
enum { PICTURE_CELL_W = 9, PICTURE_CELL_H = 18, PICTURE_FONT = 15, PICTURE_BASE = 14 };

/* Is the character drawn, and no letter of a font? */
bool picture_shape(uint32_t ch);
/* Writes what it is, in the cell whose corner is at (x, y), as commands of an SVG path. */
void picture_shape_put(FILE *out, uint32_t ch, int x, int y);

#endif
