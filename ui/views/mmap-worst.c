// SPDX-License-Identifier: GPL-2.0-only
/* The line of the overview about mmap_locks: those where most is waited now. */
#include "mmap.h"
#include "widgets/line.h"

static void put_value(struct line *l, enum role role, const struct table *t, size_t row,
		      const char *key, const char *after)
{
	size_t col = table_column(t, key);
	char buf[64];

	if (col == SIZE_MAX)
		return;
	line_put(l, role,
		 table_format(&t->columns[col], table_value(t, row, col), false, buf, sizeof(buf)));
	line_put(l, ROLE_NORMAL, after);
}

void view_mmap_worst(const struct table *t, int y, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	line_put(&l, ROLE_DIM, "mmap_lock ");
	for (size_t i = 0; i < t->n_rows; i++) {
		put_value(&l, ROLE_NORMAL, t, i, "process", " ");
		put_value(&l, ROLE_NORMAL, t, i, "mode", " ");
		put_value(&l, ROLE_BOLD, t, i, "wait_ns_per_s", "/s");
		line_put(&l, ROLE_DIM, " p99 ");
		put_value(&l, ROLE_NORMAL, t, i, "p99_ns", i + 1 < t->n_rows ? "  " : "");
	}
}
