/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_PACK_H
#define KONTEND_SRC_ENGINE_ENGINE_PACK_H

#include "kontend/model.h"

/* Contexts of libzstd, which live on from one use to the next. */
struct engine_pack {
	void *pack, *unpack;
};

int engine_pack_init(struct engine_pack *p); /* 0 or -ENOMEM */
void engine_pack_deinit(struct engine_pack *p);
size_t engine_pack_bound(size_t len);
/* Bytes put into @buf; 0: no memory. */
size_t engine_pack(struct engine_pack *p, const void *data, size_t len, void *buf, size_t room);
/* 0 or -EBADMSG */
int engine_unpack(struct engine_pack *p, const void *data, size_t stored, void *buf, size_t len);

/* model-pack.c: a copy of a model of which the large arrays are packed. */
struct engine_packed {
	struct model model;	 /* with almost no cells */
	struct cell_table cells; /* sizes only */
	struct engine_packed_array {
		void *data;
		size_t stored;
	} arrays[4]; /* cells, their sums, histograms, what is recent */
	size_t bytes;
};

int engine_packed_make(struct engine_packed *ret, const struct model *m, struct engine_pack *p);
/* As model_copy(). 0, -ENOMEM or -EBADMSG. */
int engine_packed_copy(struct model *dst, const struct engine_packed *from, struct engine_pack *p);
void engine_packed_deinit(struct engine_packed *m);

#endif
