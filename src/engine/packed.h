/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_PACKED_H
#define KONTEND_SRC_ENGINE_PACKED_H

#include "kontend/cell.h"
#include "kontend/engine-pack.h"
#include "kontend/model.h"

enum { ENGINE_PACKED_REST = 35 };

struct engine_packed_array {
	void *data;
	size_t bytes, stored;
};

/* A table, and the arrays that its elements point to. n 0: it is in the model. */
struct engine_packed_nested {
	struct engine_packed_array elements, arrays;
	size_t n;
};

/* A copy of a model of which the large arrays are packed. */
struct engine_packed {
	struct model model;	 /* without cells and large arrays */
	struct cell_table cells; /* sizes only */
	struct engine_packed_array
		arrays[5]; /* cells, their sums, histograms, what is recent, by time and length */
	struct engine_packed_array rest[ENGINE_PACKED_REST];
	struct engine_packed_nested locks, queues;
	size_t bytes;
};

int engine_packed_make(struct engine_packed *ret, const struct model *m, struct engine_pack *p);
/* As model_copy(). 0, -ENOMEM or -EBADMSG. */
int engine_packed_copy(struct model *dst, const struct engine_packed *from, struct engine_pack *p);
void engine_packed_deinit(struct engine_packed *m);

#endif
