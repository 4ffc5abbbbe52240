// SPDX-License-Identifier: GPL-2.0-only
/*
 * Themes are data: a style per role, each with a colour for 256, 16 and 8 colours and attributes
 * for terminals (or users) without colour. The background stays the terminal's own (-1) except
 * where a bar is drawn. `cvd` uses the blue-orange axis, which the common kinds of colour blindness
 * keep apart, in the place of green-yellow-red. No role is shown by colour alone: see mono_attrs,
 * and the letters and marks that widgets draw.
 */
#include "theme.h"

#include <string.h>

#define OWN                                                                                        \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}
#define C(a, b, c)                                                                                 \
	{                                                                                          \
		a, b, c                                                                            \
	}
#define B THEME_BOLD
#define D THEME_DIM
#define R THEME_REVERSE
#define U THEME_UNDERLINE

/* 8-colour numbers: 0 black 1 red 2 green 3 yellow 4 blue 5 magenta 6 cyan 7 white. */
static const struct theme themes[] = {
	{"default",
	 "for dark terminals",
	 {
		 [ROLE_NORMAL] = {OWN, OWN, 0, 0},
		 [ROLE_DIM] = {C(245, 8, 7), OWN, 0, D},
		 [ROLE_BOLD] = {OWN, OWN, B, B},
		 [ROLE_HEADER] = {C(117, 14, 6), OWN, B, B},
		 [ROLE_TITLE] = {C(0, 0, 0), C(109, 6, 6), 0, R},
		 [ROLE_SORTED] = {C(231, 15, 7), C(24, 4, 4), B, B | R},
		 [ROLE_SELECTED] = {C(231, 15, 7), C(24, 4, 4), B, R},
		 [ROLE_BAR] = {C(0, 0, 0), C(109, 6, 6), 0, R},
		 [ROLE_KEY] = {C(231, 15, 7), OWN, B, B},
		 [ROLE_WARN] = {C(220, 11, 3), OWN, B, B | U},
		 [ROLE_ERROR] = {C(203, 9, 1), OWN, B, B | U},
		 [ROLE_HEAT_LOW] = {C(114, 10, 2), OWN, 0, 0},
		 [ROLE_HEAT_MID] = {C(221, 11, 3), OWN, 0, 0},
		 [ROLE_HEAT_HIGH] = {C(203, 9, 1), OWN, B, B},
		 [ROLE_WAITING] = {C(215, 13, 5), OWN, 0, B},
		 [ROLE_NEW] = {C(159, 15, 6), OWN, B, B},
		 [ROLE_GRAPH] = {C(75, 12, 6), OWN, 0, 0},
		 [ROLE_MATCH] = {C(0, 0, 0), C(221, 11, 3), 0, R},
		 [ROLE_FRAME_NAME] = {C(231, 15, 7), C(240, 4, 4), 0, B},
		 [ROLE_FRAME_USER] = {C(0, 0, 0), C(108, 2, 2), 0, 0},
		 [ROLE_FRAME_KERNEL] = {C(0, 0, 0), C(179, 3, 3), 0, 0},
		 [ROLE_FRAME_LOCK] = {C(231, 15, 7), C(131, 1, 1), 0, B},
		 [ROLE_LESS_MOST] = {C(231, 15, 7), C(25, 4, 4), 0, D},
		 [ROLE_LESS] = {C(231, 15, 7), C(67, 4, 4), 0, D},
		 [ROLE_LESS_SOME] = {C(0, 0, 0), C(110, 6, 6), 0, D},
		 [ROLE_MORE_SOME] = {C(0, 0, 0), C(181, 3, 3), 0, B},
		 [ROLE_MORE] = {C(0, 0, 0), C(174, 9, 3), 0, B},
		 [ROLE_MORE_MOST] = {C(231, 15, 7), C(160, 1, 1), 0, B},
	 }},
	{"light",
	 "for light terminals",
	 {
		 [ROLE_NORMAL] = {OWN, OWN, 0, 0},
		 [ROLE_DIM] = {C(243, 8, 0), OWN, 0, D},
		 [ROLE_BOLD] = {OWN, OWN, B, B},
		 [ROLE_HEADER] = {C(24, 4, 4), OWN, B, B},
		 [ROLE_TITLE] = {C(231, 15, 7), C(24, 4, 4), 0, R},
		 [ROLE_SORTED] = {C(0, 0, 0), C(153, 14, 6), B, B | R},
		 [ROLE_SELECTED] = {C(0, 0, 0), C(153, 14, 6), B, R},
		 [ROLE_BAR] = {C(231, 15, 7), C(24, 4, 4), 0, R},
		 [ROLE_KEY] = {C(0, 0, 0), OWN, B, B},
		 [ROLE_WARN] = {C(130, 5, 5), OWN, B, B | U},
		 [ROLE_ERROR] = {C(160, 1, 1), OWN, B, B | U},
		 [ROLE_HEAT_LOW] = {C(28, 2, 2), OWN, 0, 0},
		 [ROLE_HEAT_MID] = {C(130, 5, 5), OWN, 0, 0},
		 [ROLE_HEAT_HIGH] = {C(160, 1, 1), OWN, B, B},
		 [ROLE_WAITING] = {C(90, 5, 5), OWN, 0, B},
		 [ROLE_NEW] = {C(25, 4, 4), OWN, B, B},
		 [ROLE_GRAPH] = {C(25, 4, 4), OWN, 0, 0},
		 [ROLE_MATCH] = {C(0, 0, 0), C(222, 11, 3), 0, R},
		 [ROLE_FRAME_NAME] = {C(231, 15, 7), C(240, 4, 4), 0, B},
		 [ROLE_FRAME_USER] = {C(0, 0, 0), C(151, 10, 2), 0, 0},
		 [ROLE_FRAME_KERNEL] = {C(0, 0, 0), C(223, 11, 3), 0, 0},
		 [ROLE_FRAME_LOCK] = {C(0, 0, 0), C(210, 9, 1), 0, B},
		 [ROLE_LESS_MOST] = {C(231, 15, 7), C(25, 4, 4), 0, D},
		 [ROLE_LESS] = {C(0, 0, 0), C(110, 12, 6), 0, D},
		 [ROLE_LESS_SOME] = {C(0, 0, 0), C(153, 14, 6), 0, D},
		 [ROLE_MORE_SOME] = {C(0, 0, 0), C(224, 11, 3), 0, B},
		 [ROLE_MORE] = {C(0, 0, 0), C(216, 9, 3), 0, B},
		 [ROLE_MORE_MOST] = {C(231, 15, 7), C(160, 1, 1), 0, B},
	 }},
	{"cvd",
	 "for colour blindness: blue and orange",
	 {
		 [ROLE_NORMAL] = {OWN, OWN, 0, 0},
		 [ROLE_DIM] = {C(245, 8, 7), OWN, 0, D},
		 [ROLE_BOLD] = {OWN, OWN, B, B},
		 [ROLE_HEADER] = {C(117, 14, 6), OWN, B, B},
		 [ROLE_TITLE] = {C(0, 0, 0), C(110, 6, 6), 0, R},
		 [ROLE_SORTED] = {C(231, 15, 7), C(25, 4, 4), B, B | R},
		 [ROLE_SELECTED] = {C(231, 15, 7), C(25, 4, 4), B, R},
		 [ROLE_BAR] = {C(0, 0, 0), C(110, 6, 6), 0, R},
		 [ROLE_KEY] = {C(231, 15, 7), OWN, B, B},
		 [ROLE_WARN] = {C(214, 11, 3), OWN, B | U, B | U},
		 [ROLE_ERROR] = {C(208, 11, 3), OWN, B | R, B | U},
		 [ROLE_HEAT_LOW] = {C(74, 12, 6), OWN, 0, 0},
		 [ROLE_HEAT_MID] = {C(187, 15, 7), OWN, 0, 0},
		 [ROLE_HEAT_HIGH] = {C(208, 11, 3), OWN, B, B},
		 [ROLE_WAITING] = {C(214, 11, 3), OWN, 0, B},
		 [ROLE_NEW] = {C(159, 15, 7), OWN, B, B},
		 [ROLE_GRAPH] = {C(74, 12, 6), OWN, 0, 0},
		 [ROLE_MATCH] = {C(0, 0, 0), C(214, 11, 3), 0, R},
		 [ROLE_FRAME_NAME] = {C(231, 15, 7), C(240, 8, 0), 0, B},
		 [ROLE_FRAME_USER] = {C(0, 0, 0), C(110, 6, 6), 0, 0},
		 [ROLE_FRAME_KERNEL] = {C(0, 0, 0), C(187, 7, 7), 0, 0},
		 [ROLE_FRAME_LOCK] = {C(0, 0, 0), C(208, 3, 3), 0, B},
		 [ROLE_LESS_MOST] = {C(231, 15, 7), C(25, 4, 4), 0, D},
		 [ROLE_LESS] = {C(231, 15, 7), C(67, 4, 4), 0, D},
		 [ROLE_LESS_SOME] = {C(0, 0, 0), C(110, 6, 6), 0, D},
		 [ROLE_MORE_SOME] = {C(0, 0, 0), C(223, 7, 7), 0, B},
		 [ROLE_MORE] = {C(0, 0, 0), C(215, 11, 3), 0, B},
		 [ROLE_MORE_MOST] = {C(0, 0, 0), C(208, 3, 3), 0, B},
	 }},
	{"mono",
	 "without colours",
	 {
		 [ROLE_DIM] = {OWN, OWN, D, D},
		 [ROLE_NORMAL] = {OWN, OWN, 0, 0},
		 [ROLE_BOLD] = {OWN, OWN, B, B},
		 [ROLE_HEADER] = {OWN, OWN, B, B},
		 [ROLE_SORTED] = {OWN, OWN, B | R, B | R},
		 [ROLE_TITLE] = {OWN, OWN, R, R},
		 [ROLE_SELECTED] = {OWN, OWN, R, R},
		 [ROLE_BAR] = {OWN, OWN, R, R},
		 [ROLE_KEY] = {OWN, OWN, B, B},
		 [ROLE_WARN] = {OWN, OWN, B | U, B | U},
		 [ROLE_ERROR] = {OWN, OWN, B | U, B | U},
		 [ROLE_HEAT_LOW] = {OWN, OWN, 0, 0},
		 [ROLE_HEAT_MID] = {OWN, OWN, 0, 0},
		 [ROLE_HEAT_HIGH] = {OWN, OWN, B, B},
		 [ROLE_WAITING] = {OWN, OWN, B, B},
		 [ROLE_NEW] = {OWN, OWN, B, B},
		 [ROLE_GRAPH] = {OWN, OWN, 0, 0},
		 [ROLE_MATCH] = {OWN, OWN, R, R},
		 [ROLE_FRAME_NAME] = {OWN, OWN, B, B},
		 [ROLE_FRAME_USER] = {OWN, OWN, 0, 0},
		 [ROLE_FRAME_KERNEL] = {OWN, OWN, 0, 0},
		 [ROLE_FRAME_LOCK] = {OWN, OWN, B, B},
		 [ROLE_LESS_MOST] = {OWN, OWN, D, D},
		 [ROLE_LESS] = {OWN, OWN, D, D},
		 [ROLE_LESS_SOME] = {OWN, OWN, D, D},
		 [ROLE_MORE_SOME] = {OWN, OWN, B, B},
		 [ROLE_MORE] = {OWN, OWN, B, B},
		 [ROLE_MORE_MOST] = {OWN, OWN, B, B},
	 }},
};

/*
 * Of heat maps, in the order of the themes: nothing, from little to much, nothing but marked. With
 * 8 colours they are of letters, which give the order: those are the ones that are seen best.
 */
static const struct theme_color maps[][MAP_LEVELS] = {
	{OWN, C(52, 4, 6), C(88, 5, 2), C(130, 1, 3), C(172, 9, 5), C(214, 11, 1), C(229, 15, 7),
	 C(24, 8, 0)},
	{OWN, C(223, 3, 6), C(216, 9, 3), C(209, 1, 2), C(202, 5, 1), C(160, 4, 5), C(88, 0, 0),
	 C(153, 7, 7)},
	{OWN, C(17, 4, 6), C(25, 12, 6), C(67, 14, 3), C(110, 7, 3), C(187, 11, 7), C(231, 15, 7),
	 C(94, 8, 0)},
	{OWN, OWN, OWN, OWN, OWN, OWN, OWN, OWN},
};

_Static_assert(sizeof(maps) / sizeof(*maps) == sizeof(themes) / sizeof(*themes),
	       "each theme has colours of maps, or none");

struct theme_style theme_style(const struct theme *t, int role)
{
	const struct theme_color *map = maps[t - themes];

	if (role < ROLE_MAP)
		return t->styles[role];
	const unsigned levels = (unsigned)(role - ROLE_MAP);
	return (struct theme_style){.fg = map[levels / MAP_LEVELS], .bg = map[levels % MAP_LEVELS]};
}

bool theme_has_map(const struct theme *t)
{
	return maps[t - themes][1].c256 >= 0;
}

const struct theme *theme_find(const char *name)
{
	for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++)
		if (!strcmp(themes[i].name, name))
			return &themes[i];
	return NULL;
}

const char *theme_name(size_t index)
{
	return index < sizeof(themes) / sizeof(themes[0]) ? themes[index].name : NULL;
}

const char *theme_help(size_t index)
{
	return index < sizeof(themes) / sizeof(themes[0]) ? themes[index].help : NULL;
}

int theme_pick(const struct theme_color *c, int colors)
{
	if (colors >= 256)
		return c->c256;
	if (colors >= 16)
		return c->c16;
	return c->c8;
}
