// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks, lines and marks as shapes. Fonts have them with gaps between the lines, in other widths
 * than letters, or not at all; as rectangles and triangles of whole units they join, everywhere.
 */
#include "kontend/picture.h"

#include <stddef.h>

enum { W = PICTURE_CELL_W, H = PICTURE_CELL_H, MID_X = W / 2, MID_Y = H / 2 };
enum { LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8 };

/* Up to two rectangles, or a triangle by its corners. */
static const struct shape_line {
	uint16_t ch;
	uint8_t arms;
} lines[] = {
	{0x2500, LEFT | RIGHT},
	{0x2502, UP | DOWN},
	{0x250c, RIGHT | DOWN},
	{0x2510, LEFT | DOWN},
	{0x2514, RIGHT | UP},
	{0x2518, LEFT | UP},
	{0x251c, UP | DOWN | RIGHT},
	{0x2524, UP | DOWN | LEFT},
	{0x252c, LEFT | RIGHT | DOWN},
	{0x2534, LEFT | RIGHT | UP},
	{0x253c, LEFT | RIGHT | UP | DOWN},
};

static const struct triangle {
	uint16_t ch;
	uint8_t x[3], y[3];
} triangles[] = {
	{0x25b2, {0, 9, 4}, {13, 13, 5}}, {0x25b4, {2, 7, 4}, {12, 12, 7}},
	{0x25b6, {1, 1, 9}, {5, 14, 9}},  {0x25b8, {3, 3, 7}, {6, 13, 9}},
	{0x25bc, {0, 9, 4}, {5, 5, 13}},  {0x25be, {2, 7, 4}, {7, 7, 12}},
	{0x25c0, {8, 8, 0}, {5, 14, 9}},
};

static const struct shape_line *find_line(uint32_t ch)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (lines[i].ch == ch)
			return &lines[i];
	return NULL;
}

static const struct triangle *find_triangle(uint32_t ch)
{
	for (size_t i = 0; i < sizeof(triangles) / sizeof(*triangles); i++)
		if (triangles[i].ch == ch)
			return &triangles[i];
	return NULL;
}

static void put_box(FILE *out, int x, int y, int w, int h)
{
	fprintf(out, "M%d %dh%dv%dh-%dz", x, y, w, h, w);
}

/* Counterclockwise in a clockwise one: a hole. */
static void put_hole(FILE *out, int x, int y, int w, int h)
{
	fprintf(out, "M%d %dv%dh%dv-%dz", x, y, h, w, h);
}

static void put_line(FILE *out, unsigned arms, int x, int y)
{
	int from_x = arms & LEFT ? 0 : MID_X, to_x = arms & RIGHT ? W : MID_X + 1;
	int from_y = arms & UP ? 0 : MID_Y, to_y = arms & DOWN ? H : MID_Y + 1;

	if (arms & (LEFT | RIGHT))
		put_box(out, x + from_x, y + MID_Y, to_x - from_x, 1);
	if (arms & (UP | DOWN))
		put_box(out, x + MID_X, y + from_y, 1, to_y - from_y);
}

static void put_triangle(FILE *out, const struct triangle *t, int x, int y)
{
	fprintf(out, "M%d %dL%d %dL%d %dz", x + t->x[0], y + t->y[0], x + t->x[1], y + t->y[1],
		x + t->x[2], y + t->y[2]);
}

/* Blocks: lower and left eighths, the upper and the right half. False: it is none. */
static bool put_block(FILE *out, uint32_t ch, int x, int y)
{
	int eighths = ch <= 0x2588 ? (int)ch - 0x2580 : 0x2590 - (int)ch;

	if (ch < 0x2580 || ch > 0x2590)
		return false;
	if (!out)
		return true;
	if (ch == 0x2580)
		put_box(out, x, y, W, H / 2);
	else if (ch == 0x2590)
		put_box(out, x + W / 2, y, W - W / 2, H);
	else if (ch <= 0x2588)
		put_box(out, x, y + H - (H * eighths + 4) / 8, W, (H * eighths + 4) / 8);
	else
		put_box(out, x, y, (W * eighths + 4) / 8, H);
	return true;
}

/* A full or empty square, points in the middle of the line. */
static bool put_mark(FILE *out, uint32_t ch, int x, int y)
{
	switch (ch) {
	case 0x25a0:
	case 0x25a1:
		if (out)
			put_box(out, x + 1, y + 6, 7, 7);
		if (out && ch == 0x25a1)
			put_hole(out, x + 2, y + 7, 5, 5);
		return true;
	case 0xb7:
		if (out)
			put_box(out, x + 4, y + 9, 2, 2);
		return true;
	case 0x2022:
		if (out)
			put_box(out, x + 3, y + 8, 4, 4);
		return true;
	default:
		return false;
	}
}

bool picture_shape(uint32_t ch)
{
	return find_line(ch) || find_triangle(ch) || put_block(NULL, ch, 0, 0) ||
	       put_mark(NULL, ch, 0, 0);
}

void picture_shape_put(FILE *out, uint32_t ch, int x, int y)
{
	const struct shape_line *line = find_line(ch);
	const struct triangle *triangle = find_triangle(ch);

	if (line)
		put_line(out, line->arms, x, y);
	else if (triangle)
		put_triangle(out, triangle, x, y);
	else if (!put_block(out, ch, x, y))
		put_mark(out, ch, x, y);
}
