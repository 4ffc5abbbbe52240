/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_BLAME_INT_H
#define KONTEND_SRC_MODEL_BLAME_INT_H

#include "internal.h"

/* blame-pool.c: entries that are free or new, zeroed; 0: no memory. */
uint32_t blame_new_node(struct blame *b);
uint32_t blame_new_class(struct blame *b);
uint32_t blame_new_hold(struct blame *b);
void blame_put_node(struct blame *b, uint32_t node); /* with its classes */
void blame_put_hold(struct blame *b, uint32_t hold);

/* blame-cell.c: so much is charged. */
void blame_charge(struct model *m, const struct blame_key *key, uint64_t ns, uint64_t time_ns);

/* blame.c: what is waited for the lock until now goes to its holders. */
void blame_settle(struct model *m, uint32_t node);
/* What the task does from now on, whatever it has. */
void blame_change(struct model *m, uint32_t task, uint32_t state, uint32_t why);
void blame_drop_holds(struct model *m, uint32_t node);

#endif
