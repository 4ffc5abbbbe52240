/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_BLAME_INT_H
#define KONTEND_SRC_MODEL_BLAME_INT_H

#include "holds-int.h"
#include "kontend/blame.h"

/* blame-pool.c: entries that are free or new, zeroed; 0: no memory. */
uint32_t blame_new_node(struct blame *b);
uint32_t blame_new_class(struct blame *b);
uint32_t blame_new_hold(struct blame *b);
void blame_put_node(struct blame *b, uint32_t node); /* with its classes */
void blame_put_hold(struct blame *b, uint32_t hold);

/* Waited, by all; for how long by a clock; what it cost. */
struct blame_sum {
	uint64_t ns, time_ns;
	struct blame_cost cost;
};

/* That of @part of @whole. */
static inline struct blame_cost blame_cost_part(const struct blame_cost *c, uint64_t part,
						uint64_t whole)
{
	struct blame_cost r = *c;

	if (part == whole)
		return r;
	r.lost_ns = blame_part(c->lost_ns, part, whole);
	r.par_ns = blame_part(c->par_ns, part, whole);
	r.par_of_ns = blame_part(c->par_of_ns, part, whole);
	return r;
}

static inline void blame_cost_less(struct blame_cost *from, const struct blame_cost *c)
{
	from->lost_ns -= c->lost_ns;
	from->par_ns -= c->par_ns;
	from->par_of_ns -= c->par_of_ns;
}

/* blame-cell.c: so much is charged. To which cell; BLAME_NO_CELL: there is no memory for it. */
#define BLAME_NO_CELL UINT32_MAX
uint32_t blame_charge(struct model *m, const struct blame_key *key, const struct blame_sum *s);
/* blame-undo.c: what is charged next is of one lock; it is of that class, in which was so much. */
void blame_done_event(struct blame *b);
void blame_done(struct model *m, const struct blame_done *d);
void blame_done_prune(struct model *m);	 /* what no wait in flight has a part in */
void blame_done_forget(struct model *m); /* that of until now stays as it is */
/* Marks what the `why` of a key names. */
void blame_mark_why(struct model *m, uint32_t state, uint32_t why);

/* blame.c: what is waited for the lock until now goes to its holders. */
void blame_settle(struct model *m, uint32_t node);
/* A share is a part of BLAME_WHOLE of the sum there. */
enum { BLAME_WHOLE = 1 << 16 };
void blame_charge_part(struct model *m, uint32_t node, uint32_t part);
void blame_charge_unknown(struct model *m, uint32_t node);
/* That of a lock; its class of those who wait for @lock in @stack. 0: there is no memory. */
uint32_t blame_node_of(struct model *m, uint32_t lock);
uint32_t blame_class_of(struct model *m, uint32_t node, uint32_t lock, uint32_t stack);
void blame_advance(struct model *m, struct blame_class *c);

/* blame-holds.c: the task has it from now on; 0: it is one of many, or there is no memory. */
uint32_t blame_add_hold(struct model *m, uint32_t node, uint32_t task, uint32_t lock);
void blame_take_off(struct model *m, uint32_t hold); /* what has added up stays */
void blame_drop_holds(struct model *m, uint32_t node);
/* blame-wait.c: its hold, which is dropped next, had it before @next. */
void blame_note_before(struct model *m, uint32_t node, uint32_t next);
bool blame_has_hold(const struct model *m, uint32_t node, uint32_t task);
/* The hold's task waits at that node from now on; 0: it does not. */
void blame_link(struct model *m, uint32_t hold, uint32_t blocked);
/* The node that it waits for, other than in @but; 0: none. */
uint32_t blame_waited_for(struct model *m, const struct blame_hold *h, const struct wait *but);
void blame_open_circles(struct model *m); /* after links have gone */
/* The new state of the task, for all its holds. */
void blame_change(struct model *m, uint32_t task, uint32_t state, uint32_t why);
/* The same by a snapshot, of a task that records do not follow: all its locks are of files or
 * programs. */
void blame_see_holder(struct model *m, uint32_t task, uint32_t state, uint32_t why);

static inline struct blame_node *blame_at(struct model *m, uint32_t node)
{
	return &m->blame->nodes[node];
}

bool blame_is_reader(const struct model *m, uint32_t lock); /* the wait is to read */

#endif
