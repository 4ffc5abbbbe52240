/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_HEATMAP_H
#define KONTEND_UI_WIDGETS_HEATMAP_H

#include "kontend/query-heatmap.h"
#include "kontend/screen.h"

/* Where the parts of a heat map go: a pure function of the room. None overlap; empty: no room. */
struct heatmap_place {
	struct rect lengths, map, now, times;
	uint32_t per_line; /* rows in a line of the map: two, drawn as half blocks, or one */
};

struct heatmap_place heatmap_place(struct rect r, bool letters);

/* A range of cells, both ends included. */
struct heatmap_range {
	uint32_t column, last_column, row, last_row;
};

struct heatmap_look {
	bool by_wait;
	bool has_range; /* the range is marked */
	struct heatmap_range range;
	uint32_t column, row; /* the cursor */
};

/* The map with lengths at the left, times below it, and what still waits at the right. */
void heatmap_draw(struct screen *s, const struct heatmap_place *p, const struct query_heatmap *h,
		  const struct heatmap_look *look);
/* The scale of colours: "1 ▄▄▄▄▄▄ 120"; where it fits. */
void heatmap_draw_scale(struct line *l, const struct query_heatmap *h, bool by_wait);
/* The cell at a place of the screen. False: there is none. */
bool heatmap_cell_at(const struct heatmap_place *p, const struct query_heatmap *h, int x, int y,
		     uint32_t *ret_column, uint32_t *ret_row);

#endif
