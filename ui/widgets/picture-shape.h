/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_PICTURE_SHAPE_H
#define KONTEND_UI_WIDGETS_PICTURE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A cell of a picture, in its units: three fifths of the size of letters, as their advance is. */
enum { PICTURE_CELL_W = 9, PICTURE_CELL_H = 18, PICTURE_FONT = 15, PICTURE_BASE = 14 };

/* Is the character drawn, and no letter of a font? */
bool picture_shape(uint32_t ch);
/* Writes what it is, in the cell whose corner is at (x, y), as commands of an SVG path. */
void picture_shape_put(FILE *out, uint32_t ch, int x, int y);

#endif
