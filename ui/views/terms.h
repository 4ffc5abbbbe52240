/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TERMS_H
#define KONTEND_TERMS_H

#include "kontend/view.h"

/* A word of the lines above a view's table, and what it means. */
struct term {
	const char *word, *meaning;
};

/* Those of that view, in the order of the screen, ended by a word of NULL. */
const struct term *terms_of(const struct view_ops *view);
/* Words of the rows, that are not above the table. */
bool terms_are_of_rows(const struct view_ops *view);

#endif
