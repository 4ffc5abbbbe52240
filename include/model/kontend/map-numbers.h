/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAP_NUMBERS_H
#define KONTEND_MAP_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_objects;

/*
 * A number for each object of the model, 0 where none was given yet. Objects may get other indices;
 * then all numbers are forgotten. `= {0}` is empty.
 */
struct map_numbers {
	uint32_t *v; /* by index of the object */
	size_t n;
	const struct map_objects *objects; /* whose they are, as they were then: */
	uint32_t epoch, again;
};

/* That of the object at @index, which is one of @all; NULL: no memory. */
uint32_t *map_numbers_at(struct map_numbers *m, const struct map_objects *all, uint32_t index);
/* True: objects have got other indices since the last time, and all numbers were forgotten. */
bool map_numbers_renew(struct map_numbers *m, const struct map_objects *all);
void map_numbers_forget(struct map_numbers *m);
void map_numbers_deinit(struct map_numbers *m);

#endif
