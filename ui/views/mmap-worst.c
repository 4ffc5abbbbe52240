// SPDX-License-Identifier: GPL-2.0-only
/*
 * The line of the overview about mmap_locks: those where most is waited now. A figure that is cut
 * would be another one: where one of them has no room as a whole its P99 is left out, then it is.
 */
#include "kontend/text.h"
#include "mmap.h"
#include "widgets/line.h"

enum { PROCESS, MODE, RATE, P99, PARTS, TEXT = 64 };

static const struct {
	const char *key, *before, *after;
	enum role role;
} parts[PARTS] = {
	[PROCESS] = {"process", "", " ", ROLE_NORMAL},
	[MODE] = {"mode", "", " ", ROLE_NORMAL},
	[RATE] = {"wait_ns_per_s", "", "", ROLE_BOLD},
	[P99] = {"p99_ns", " p99 ", "", ROLE_NORMAL},
};

static int width_of(char text[PARTS][TEXT], int n)
{
	int width = 0;

	for (int i = 0; i < n; i++)
		width += text_width(parts[i].before) + text_width(text[i]) +
			 text_width(parts[i].after);
	return width;
}

/* False: there is no room for it. */
static bool put_row(struct line *l, const struct table *t, size_t row)
{
	char text[PARTS][TEXT];
	int n = PARTS;

	for (int i = 0; i < PARTS; i++) {
		size_t col = table_column(t, parts[i].key);
		if (col == SIZE_MAX)
			return false;
		table_format(&t->columns[col], table_value(t, row, col), false, text[i], TEXT);
	}
	while (n > RATE && l->x + width_of(text, n) > l->r.w)
		n--;
	for (int i = 0; i < n && n > RATE; i++) {
		line_put(l, ROLE_DIM, parts[i].before);
		line_put(l, parts[i].role, text[i]);
		line_put(l, ROLE_NORMAL, parts[i].after);
	}
	return n > RATE;
}

void view_mmap_worst(const struct table *t, struct line *l)
{
	line_put(l, ROLE_DIM, "mmap_lock ");
	if (!t->n_rows)
		line_put(l, ROLE_NORMAL, "·  ");
	for (size_t i = 0; i < t->n_rows && put_row(l, t, i); i++)
		line_put(l, ROLE_NORMAL, "  ");
}
