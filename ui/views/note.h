/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_NOTE_H
#define KONTEND_UI_VIEWS_NOTE_H

#include "kontend/view.h"

/*
 * Views of snapshots show one moment, and not all ways of looking see all of it: what their first
 * lines say of that.
 */
struct view_moment {
	const char *method;   /* "bpf"; NULL: not known */
	const char *costs[2]; /* of looking, in words: the longer text first */
	uint64_t age_ns;
	uint32_t incomplete, dropped;
	const char *dropped_what;
	const char *missing, *reason; /* "" or what is not known, and why */
};

/*
 * How and when, at the right of the first line after the figures, which end at @x; below it what
 * is damaged or missing, why, and what gives it. Answers how many lines of @r that took; a part of
 * @r is left for rows.
 */
int view_draw_moment(struct view *v, struct screen *s, struct rect r, int x,
		     const struct view_moment *m);

#endif
