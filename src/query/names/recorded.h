/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_RECORDED_H
#define KONTEND_QUERY_RECORDED_H

#include "../internal.h"
#include "kontend/funcsnap.h"

/*
 * Functions that the recording itself describes, for readers without their files. All answers are
 * borrowed until the next query_sync().
 */

/* The function that @frame is in; NULL: it does not say, or q->cache->failed. */
const struct funcsnap_func *recorded_func(struct query *q, uint64_t frame);
const char *recorded_name(const struct query *q, const struct funcsnap_func *f);
/* The code of the function that begins at @start. */
bool recorded_bytes(struct query *q, uint64_t start, const uint8_t **ret, size_t *ret_n);
void query_recorded_deinit(struct query *q);

#endif
