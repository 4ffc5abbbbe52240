/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_ROTATION_H
#define KONTEND_UI_VIEWS_ROTATION_H

#include "kontend/query-rotation-phases.h"
#include "kontend/query-rotation.h"
#include "kontend/screen.h"

/* The contents of the page of one CPU. */
struct rotation_page {
	struct query_rotation_row row;
	struct query_rotation_costs costs;
	struct query_rotation_phases phases;
};

/* Panels of it, each with a rule as its first line. */
void rotation_draw_scatter(const struct rotation_page *p, struct screen *s, struct rect r);
void rotation_draw_switches(const struct rotation_page *p, struct screen *s, struct rect r);
void rotation_draw_tick(const struct rotation_page *p, struct screen *s, struct rect r);

#endif
