/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CFISET_H
#define KONTEND_CFISET_H

#include "kontend/cfisnap.h"
#include "kontend/maps.h"

/* All tables for unwinding in a recording. Shared by the copies of a model, as funcset.h. */
struct cfiset {
	struct cfisnap *items;
	size_t n, cap;
	size_t bytes; /* of tables */
	unsigned refs;
};

enum { CFISET_MOST = 256, CFISET_BYTES = 64 << 20 };

struct cfiset *cfiset_new(void); /* NULL: no memory; with one reference */
struct cfiset *cfiset_ref(struct cfiset *s);
void cfiset_unref(struct cfiset *s); /* NULL is fine */

/* The payload of a SNAPSHOT_TABLES; known ones change nothing. 0 or negative, -ENOSPC: too many. */
int cfiset_take(struct cfiset *s, const void *payload, size_t len);
/* Of the file that @o is; NULL: there are none. Until the next one is taken. */
const struct cfisnap *cfiset_find(const struct cfiset *s, const struct map_object *o);

#endif
