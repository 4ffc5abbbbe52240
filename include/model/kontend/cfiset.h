/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CFISET_H
#define KONTEND_CFISET_H

#include <stddef.h>

struct cfisnap;
struct map_object;

/* All tables for unwinding in a recording. Shared by the copies of a model, as funcset.h. */
struct cfiset;

struct cfiset *cfiset_new(void); /* NULL: no memory; with one reference */
struct cfiset *cfiset_ref(struct cfiset *s);
void cfiset_unref(struct cfiset *s); /* NULL is fine */

/* The payload of a SNAPSHOT_CFI; known ones change nothing. 0 or negative, -ENOSPC: too many. */
int cfiset_take(struct cfiset *s, const void *payload, size_t len);
/* The number of tables; it only grows. */
size_t cfiset_count(const struct cfiset *s);
/* The tables of the file @o; NULL: none. Valid until the next one is added. */
const struct cfisnap *cfiset_find(const struct cfiset *s, const struct map_object *o);

#endif
