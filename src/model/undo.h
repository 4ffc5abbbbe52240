/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_UNDO_H
#define KONTEND_SRC_MODEL_UNDO_H

#include "internal.h"

/* holds-undo.c: what @h, that is of a lock of @c, is charged with; the end of @w was lost. */
void holds_note(struct model *m, const struct hold *h, const struct cell *c, uint64_t end_ns);
void holds_take_back(struct model *m, const struct wait *w);
void holds_prune(struct model *m);	 /* what no wait in flight has a part in */
void holds_done_forget(struct model *m); /* that of until now stays as it is */
/* The begin of the oldest wait in flight with a part in the charges; now, if there is none. */
uint64_t holds_oldest(const struct model *m);

/* blame-undo.c: the end of @w, for which blame_over() is called next, was lost: undoes charges. */
void blame_gone(struct model *m, const struct wait *w);
void blame_take_back(struct model *m);

#endif
