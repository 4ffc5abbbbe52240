// SPDX-License-Identifier: GPL-2.0-only
/*
 * The causes of waits. A lock, both modes of it, is a node; sure waits for it are counted in
 * classes by (mode, call chain), which add up their time. A task that is known to have the lock at
 * this moment is a hold. The sum is charged to the holds whenever one of them changes: to the state
 * of the holder; but where the holder waits for a lock itself, to that node, as a class of it. So
 * each nanosecond goes to the root of its moment, at a cost that does not grow with the number of
 * tasks that wait. Before anything of a node changes, the nodes whose holders wait there are
 * settled.
 *
 * A task that got a lock while others waited is its holder, until the next one gets it, or another
 * holder is reported. A lock that was taken without waiting has a holder only from snapshots,
 * owners and the records that follow holders; then it is charged with all time since the last
 * waiter got the lock. Readers have a lock together and share, in equal parts, the time waited
 * until the last of them is known to have released it: some of them are kept, the others are one
 * hold. Time waited without a known holder is charged to BLAME_UNKNOWN when the next one gets the
 * lock.
 *
 * Readers that wait after no writer have been given the lock, and wait for a CPU: no holder is
 * known.
 *
 * A wait holds up those locks that its task had before it began, but for the one that it is for:
 * that it has let go of. Where each of some holders waits for the next one it stays with the one
 * that closed the circle.
 *
 * A wait counts as long as it continues, and after its end. If its end was lost, its charges are
 * taken out again: see blame-undo.c.
 */
#include "kontend/blame.h"
#include "blame-int.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/model.h"
#include "kontend/stack.h"
#include "kontend/wait.h"

enum {
	CLASSES_MOST = 24, /* of a node; others count as of no known place */
	DEPTH_MOST = 32,   /* of a chain that is charged at once: more stays where it is */
};

/* That of the lock; 0: there is no memory for it. */
uint32_t blame_node_of(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock];

	if (l->blame)
		return l->blame;
	if (l->twin)
		l->blame = m->locks->locks[l->twin].blame;
	if (!l->blame)
		l->blame = blame_new_node(m->blame);
	if (l->blame)
		blame_at(m, l->blame)->refs++;
	return l->blame;
}

void blame_forget_lock(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock];
	uint32_t node = l->blame;

	l->blame = 0;
	if (!node || --blame_at(m, node)->refs)
		return;
	blame_drop_holds(m, node);
	blame_put_node(m->blame, node);
}

/* The class of a node; what has none of its own is in one without a place, or is lost. */
uint32_t blame_class_of(struct model *m, uint32_t node, uint32_t lock, uint32_t stack)
{
	struct blame *b = m->blame;
	uint32_t n = 0;

	for (uint32_t i = blame_at(m, node)->classes; i; i = b->classes[i].next, n++)
		if (b->classes[i].lock == lock && b->classes[i].stack == stack)
			return i;
	if (n >= CLASSES_MOST && stack != STACK_OTHER)
		return blame_class_of(m, node, lock, STACK_OTHER);
	if (n >= CLASSES_MOST + LOCK_TYPES && lock >= LOCK_TYPES)
		return blame_class_of(m, node, m->locks->locks[lock].type, STACK_OTHER);
	uint32_t i = blame_new_class(b);
	if (!i)
		return 0;
	b->classes[i] = (struct blame_class){.lock = lock,
					     .stack = stack,
					     .next = blame_at(m, node)->classes,
					     .reported_ns = m->now_ns,
					     .idle_ns = m->waits->lost.ns};
	blame_at(m, node)->classes = i;
	return i;
}

void blame_advance(struct model *m, struct blame_class *c)
{
	uint64_t idle_ns = m->waits->lost.ns;

	if (m->now_ns > c->reported_ns) {
		c->ns += c->n * (m->now_ns - c->reported_ns);
		c->cost.is_lost |= c->n_lost && idle_ns;
		c->cost.unlost |= c->n != c->n_lost || !idle_ns;
	}
	if (c->idle_ns && idle_ns > c->idle_ns)
		c->cost.lost_ns += c->n_lost * (idle_ns - c->idle_ns);
	c->reported_ns = m->now_ns;
	c->idle_ns = idle_ns;
}

/* The class that is charged, as it was before, and all that had added up in it. */
struct source {
	uint32_t class;
	uint64_t all;
	struct blame_class c;
};

static void note_done(struct model *m, const struct source *of, uint64_t ns, uint64_t held_ns,
		      enum blame_to how, uint32_t to)
{
	blame_done(m, &(const struct blame_done){.time_ns = m->now_ns,
						 .ns = ns,
						 .all = of->all,
						 .held_ns = held_ns,
						 .class = of->class,
						 .to = to,
						 .event = m->blame->event,
						 .how = how});
}

/* Hands the time waited at @node on to @to. */
static void hand_up(struct model *m, uint32_t to, const struct source *of,
		    const struct blame_sum *s)
{
	uint32_t i = blame_class_of(m, to, of->c.lock, of->c.stack);

	if (i) {
		m->blame->classes[i].ns += s->ns;
		blame_cost_add(&m->blame->classes[i].cost, &s->cost);
	} else {
		m->blame->lost_ns += s->ns;
	}
	note_done(m, of, s->ns, 0, i ? BLAME_TO_CLASS : BLAME_TO_NONE, i);
}

static void charge_cell(struct model *m, const struct blame_key *key, const struct source *of,
			const struct blame_sum *s)
{
	uint32_t cell = blame_charge(m, key, s);
	enum blame_to how = key->state == BLAME_PASSED ? BLAME_TO_PASSED : BLAME_TO_CELL;

	if (cell != BLAME_NO_CELL)
		note_done(m, of, s->ns, s->time_ns, how, cell);
	else if (how == BLAME_TO_CELL)
		note_done(m, of, s->ns, 0, BLAME_TO_NONE, 0);
}

static bool is_of(const struct model *m, uint32_t lock, uint32_t node)
{
	return m->locks->locks[lock].blame == node;
}

/* A lock at the address of a node, for who says because of which. */
static uint32_t lock_of_node(const struct model *m, uint32_t node)
{
	for (uint32_t i = m->blame->nodes[node].classes; i; i = m->blame->classes[i].next)
		if (is_of(m, m->blame->classes[i].lock, node))
			return m->blame->classes[i].lock;
	return 0;
}

/* @s of the class to the hold. */
static void charge_hold(struct model *m, const struct blame_hold *h, const struct source *of,
			const struct blame_sum *s)
{
	const struct blame_class *c = &of->c;
	bool direct = is_of(m, c->lock, h->node), passes = h->blocked && !h->circle;
	struct blame_key key = {c->lock, c->stack, h->lock,  h->task,
				h->got,	 h->why,   h->state, direct};

	if (h->circle) {
		key.state = BLAME_CIRCLE;
		key.why = 0;
	}
	if (passes) {
		key.state = BLAME_PASSED;
		key.why = lock_of_node(m, h->blocked);
	}
	if (!passes || direct)
		charge_cell(m, &key, of, s);
	if (passes)
		hand_up(m, h->blocked, of, s);
}

static uint32_t sum_weights(const struct model *m, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = m->blame->nodes[node].holds; i; i = m->blame->holds[i].next)
		n += m->blame->holds[i].weight;
	return n;
}

/* Charges that part of the class to the holds. Its time goes with the first one of their own. */
static void charge_class(struct model *m, uint32_t node, uint32_t class, const struct blame_sum *s,
			 uint64_t *time_ns)
{
	struct blame *b = m->blame;
	uint32_t weights = sum_weights(m, node);
	const struct source of = {class, b->classes[class].ns + s->ns, b->classes[class]};
	struct blame_cost cost = s->cost;
	uint64_t time = 0, ns = s->ns;

	if (is_of(m, b->classes[class].lock, node)) {
		time = *time_ns;
		*time_ns = 0;
	}
	for (uint32_t i = blame_at(m, node)->holds; i; i = b->holds[i].next) {
		/* Charging may move what they are in. */
		const struct blame_hold h = b->holds[i];
		const struct blame_sum part = {ns / weights * h.weight +
						       ns % weights * h.weight / weights,
					       time, blame_cost_part(&cost, h.weight, weights)};
		charge_hold(m, &h, &of, &part);
		ns -= part.ns;
		blame_cost_less(&cost, &part.cost);
		weights -= h.weight;
	}
}

static void take_cost(struct blame_class *c, const struct blame_cost *cost)
{
	blame_cost_less(&c->cost, cost);
	if (!c->ns)
		c->cost.is_lost = c->cost.unlost = false;
}

/* @part of 2^16 of what has added up at the node goes to its holds. */
void blame_charge_part(struct model *m, uint32_t node, uint32_t part)
{
	struct blame *b = m->blame;
	uint64_t time_ns = (blame_at(m, node)->time_ns >> 16) * part +
			   ((blame_at(m, node)->time_ns & 0xffff) * part >> 16);

	blame_at(m, node)->time_ns -= time_ns;
	blame_done_event(b);
	for (uint32_t i = blame_at(m, node)->classes; i; i = b->classes[i].next) {
		uint64_t all = b->classes[i].ns;
		const struct blame_sum s = {
			.ns = (all >> 16) * part + ((all & 0xffff) * part >> 16),
			.cost = blame_cost_part(&b->classes[i].cost, part, BLAME_WHOLE)};
		if (!s.ns)
			continue;
		b->classes[i].ns -= s.ns;
		take_cost(&b->classes[i], &s.cost);
		charge_class(m, node, i, &s, &time_ns);
	}
}

/* Readers have the lock, and who waits are readers that have been given it together with them. */
static bool are_let_in(const struct model *m, const struct blame_node *n)
{
	return !n->n_writers && blame_is_reader(m, m->blame->holds[n->holds].lock);
}

static void settle(struct model *m, uint32_t node, int depth)
{
	struct blame *b = m->blame;
	struct blame_node *n = blame_at(m, node);

	if (n->busy || depth > DEPTH_MOST)
		return;
	n->busy = true;
	for (uint32_t i = n->children; i; i = b->holds[i].beside)
		settle(m, b->holds[i].node, depth + 1);
	n = blame_at(m, node);
	if (n->n && m->now_ns > n->reported_ns)
		n->time_ns += m->now_ns - n->reported_ns;
	n->reported_ns = m->now_ns;
	for (uint32_t i = n->classes; i; i = b->classes[i].next)
		blame_advance(m, &b->classes[i]);
	if (n->holds && are_let_in(m, n))
		blame_charge_unknown(m, node);
	else if (n->holds)
		blame_charge_part(m, node, BLAME_WHOLE);
	blame_at(m, node)->busy = false;
}

void blame_settle(struct model *m, uint32_t node)
{
	settle(m, node, 0);
}

/* No holder is known: charges the sum as unknown. */
void blame_charge_unknown(struct model *m, uint32_t node)
{
	struct blame *b = m->blame;
	uint32_t lock = lock_of_node(m, node);
	uint64_t time_ns = blame_at(m, node)->time_ns;

	blame_at(m, node)->time_ns = 0;
	blame_done_event(b);
	for (uint32_t i = blame_at(m, node)->classes; i; i = b->classes[i].next) {
		struct blame_class *c = &b->classes[i];
		bool direct = is_of(m, c->lock, node);
		const struct blame_key key = {.lock = c->lock,
					      .stack = c->stack,
					      .root_lock = lock ? lock : c->lock,
					      .direct = direct};
		const struct source of = {i, c->ns, *c};
		const struct blame_sum s = {c->ns, direct ? time_ns : 0, c->cost};
		if (!s.ns)
			continue;
		c->ns = 0;
		take_cost(c, &s.cost);
		charge_cell(m, &key, &of, &s);
		if (direct)
			time_ns = 0;
	}
}
