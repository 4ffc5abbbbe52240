/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_OVERVIEW_PLACE_H
#define KONTEND_UI_VIEWS_OVERVIEW_PLACE_H

#include "kontend/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of the overview's tables, and lines of programs that the verdict is about, one at most. */
struct overview_place_rows {
	size_t types, cpus, locks, waiters, places;
};

/* The parts of the page: figures, and tables with a rule and titles; h 0: without a place. */
struct overview_place {
	struct rect now, types, cpus, locks, waiters;
	bool has_places; /* below the first line of `now` is one for these */
};

enum {
	OVERVIEW_PLACE_WHY = 1,			     /* line of the cause, the first of all */
	OVERVIEW_PLACE_NOW = OVERVIEW_PLACE_WHY + 3, /* with the figures */
	OVERVIEW_PLACE_ALL = OVERVIEW_PLACE_NOW + 2, /* slots, events; mmap_locks, uprobes, ... */
	OVERVIEW_PLACE_LOCKS = 10,		     /* so many come before types and CPUs */
};

struct overview_place overview_place(struct rect r, const struct overview_place_rows *rows);
/* CPUs for which there is room at most. */
size_t overview_place_cpus(struct rect r);

/* The most rows of each table lately: a table that has been longer keeps its room. `= {0}` */
struct overview_place_seen {
	struct overview_place_rows now, before; /* of this period, and of the one before */
	uint64_t tick;
	struct rect r;
};

struct overview_place_rows overview_place_see(struct overview_place_seen *s, struct rect r,
					      const struct overview_place_rows *rows,
					      uint64_t tick);

#endif
