/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_MERGE_H
#define KONTEND_SRC_ENGINE_MERGE_H

#include "kontend/engine.h"

/*
 * Gives a record to decoder and merge, before the model gets it. Positive: the merge holds it now;
 * 0: it is the caller's; a negative errno.
 */
int merge_take(struct decode *d, struct order *o, const struct record *r, struct error *err);
/* Is it a round or a tick? Then *ret is up to when events may leave the merge. */
bool merge_until(const struct record *r, uint64_t *ret);
/* How far the merge is; without the source's mark. */
void merge_look(const struct decode *d, const struct order *o, struct engine_merged *ret);

#endif
