/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FIGURE_H
#define KONTEND_FIGURE_H

#include "kontend/table.h"

/*
 * A figure describes one field of a struct, as a column describes one of a table: what it is called
 * and of which type it is. Sums and short lists that are no tables are arrays of figures, which end
 * with one without key. Reports, screens and help loop over them, so none can forget one.
 */
struct figure {
	const char *key;   /* name in JSON */
	const char *csv;   /* name in CSV; NULL: the same */
	const char *title; /* name on the screen; NULL: it is not shown there */
	const char *words; /* what text reports say after the number; NULL: they do not have it */
	const char *help;  /* one or two sentences */
	uint8_t type;	   /* enum column_type */
	uint8_t flags;	   /* enum figure_flag */
	uint8_t size;	   /* of the field in bytes */
	uint8_t when_size; /* of the field that says whether it is known; 0: it is always known */
	uint16_t offset, when;
	uint32_t needs; /* not known where one of these bits is missing */
};

enum figure_flag {
	FIGURE_JSON = 1, /* not in CSV */
	FIGURE_CHARS = 2 /* a text in an array of the struct, where "" is not known */
};

#define FIGURE_END                                                                                 \
	{                                                                                          \
		.key = NULL                                                                        \
	}
/* Of a field of struct @S: e.g. {FIGURE("lost", COUNT, struct model_damage, lost)}. */
#define FIGURE(KEY, TYPE, S, FIELD)                                                                \
	.key = (KEY), .type = COLUMN_##TYPE, .offset = offsetof(S, FIELD),                         \
	.size = sizeof(((S *)NULL)->FIELD)
/* The same with when it is known: where field @WHEN is not 0. */
#define FIGURE_IF(KEY, TYPE, S, FIELD, WHEN)                                                       \
	FIGURE(KEY, TYPE, S, FIELD), .when = offsetof(S, WHEN),                                    \
				     .when_size = sizeof(((S *)NULL)->WHEN)
#define FIGURE_NEEDS(KEY, TYPE, S, FIELD, NEEDS) FIGURE(KEY, TYPE, S, FIELD), .needs = (NEEDS)

/*
 * Adds the figures of the struct at @base; @missing: bits that figures may need. A NULL text is not
 * known.
 */
struct value figure_value(const struct figure *f, const void *base, uint32_t missing);

#endif
