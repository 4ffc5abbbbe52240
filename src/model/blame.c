// SPDX-License-Identifier: GPL-2.0-only
/*
 * Because of whom is waited. A lock, both modes of it, is a node; sure waits for it are counted in
 * classes by (mode, call chain), which add up what they lose. Who is known to have the lock at this
 * moment is a hold. What has added up is charged to the holds whenever one of them changes: to what
 * the holder does; but where the holder waits for a lock itself, to that node, as a class of it. So
 * each nanosecond goes to the root of its moment, at a cost that does not grow with the number of
 * tasks that wait. Before anything of a node changes, the nodes of those who wait there are
 * settled.
 *
 * Who got a lock while others waited is its holder, until the next one gets it, or somebody else is
 * told to have it. Of a lock that was taken without waiting only looks, owners and what follows
 * holders tell; then all is charged that has added up since the last one that waited got it.
 * Readers have a lock together and share, in equal parts, what is waited for until the last of them
 * is known to have it no more: some of them are kept, the others are one hold. What was waited
 * while nobody is known is charged to BLAME_UNKNOWN when the next one gets the lock.
 *
 * Readers that wait behind no writer have been given the lock, and wait for a CPU: because of
 * nobody that is known.
 *
 * A wait holds up those locks that its task had before it began, but for the one that it is for:
 * that it has let go of. Where each of some holders waits
 * for the next one it stays with the one that closed the circle.
 */
#include "blame-int.h"

enum {
	CLASSES_MOST = 24, /* of a node; others count as of no known place */
	READERS_MOST = 8,  /* of a node that are kept */
	DEPTH_MOST = 32,   /* of a chain that is charged at once: more stays where it is */
};

static struct blame_node *at(struct model *m, uint32_t node)
{
	return &m->blame.nodes[node];
}

/* That of the lock; 0: there is no memory for it. */
static uint32_t node_of(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks.locks[lock];

	if (l->blame)
		return l->blame;
	if (l->twin)
		l->blame = m->locks.locks[l->twin].blame;
	if (!l->blame)
		l->blame = blame_new_node(&m->blame);
	if (l->blame)
		at(m, l->blame)->refs++;
	return l->blame;
}

void blame_forget_lock(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks.locks[lock];
	uint32_t node = l->blame;

	l->blame = 0;
	if (!node || --at(m, node)->refs)
		return;
	blame_drop_holds(m, node);
	blame_put_node(&m->blame, node);
}

/* The class of a node; what has none of its own is in one without a place, or is lost. */
static uint32_t class_of(struct model *m, uint32_t node, uint32_t lock, uint32_t stack)
{
	struct blame *b = &m->blame;
	uint32_t n = 0;

	for (uint32_t i = at(m, node)->classes; i; i = b->classes[i].next, n++)
		if (b->classes[i].lock == lock && b->classes[i].stack == stack)
			return i;
	if (n >= CLASSES_MOST && stack != STACK_OTHER)
		return class_of(m, node, lock, STACK_OTHER);
	if (n >= CLASSES_MOST + LOCK_TYPES && lock >= LOCK_TYPES)
		return class_of(m, node, m->locks.locks[lock].type, STACK_OTHER);
	uint32_t i = blame_new_class(b);
	if (!i)
		return 0;
	b->classes[i] = (struct blame_class){lock, stack, 0, at(m, node)->classes, m->now_ns, 0};
	at(m, node)->classes = i;
	return i;
}

static void advance(struct model *m, struct blame_class *c)
{
	if (m->now_ns > c->told_ns)
		c->ns += c->n * (m->now_ns - c->told_ns);
	c->told_ns = m->now_ns;
}

/* What waited at @node is handed on to @to. */
static void hand_up(struct model *m, uint32_t to, const struct blame_class *c, uint64_t ns)
{
	uint32_t i = class_of(m, to, c->lock, c->stack);

	if (i)
		m->blame.classes[i].ns += ns;
	else
		m->blame.lost_ns += ns;
}

static bool is_of(const struct model *m, uint32_t lock, uint32_t node)
{
	return m->locks.locks[lock].blame == node;
}

/* A lock at the address of a node, for who says because of which. */
static uint32_t lock_of_node(const struct model *m, uint32_t node)
{
	for (uint32_t i = m->blame.nodes[node].classes; i; i = m->blame.classes[i].next)
		if (is_of(m, m->blame.classes[i].lock, node))
			return m->blame.classes[i].lock;
	return 0;
}

/* @ns of class @c to the hold, that lasted @time_ns of it. */
static void charge_hold(struct model *m, const struct blame_hold *h, const struct blame_class *c,
			uint64_t ns, uint64_t time_ns)
{
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
		blame_charge(m, &key, ns, time_ns);
	if (passes)
		hand_up(m, h->blocked, c, ns);
}

static uint32_t sum_weights(const struct model *m, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = m->blame.nodes[node].holds; i; i = m->blame.holds[i].next)
		n += m->blame.holds[i].weight;
	return n;
}

/* Of that class, among the holds. The time stands with the first class that is their own. */
static void charge_class(struct model *m, uint32_t node, uint32_t class, uint64_t ns,
			 uint64_t *time_ns)
{
	struct blame *b = &m->blame;
	uint32_t weights = sum_weights(m, node);
	uint64_t time = 0;

	if (is_of(m, b->classes[class].lock, node)) {
		time = *time_ns;
		*time_ns = 0;
	}
	for (uint32_t i = at(m, node)->holds; i; i = b->holds[i].next) {
		/* Charging may move what they are in. */
		const struct blame_hold h = b->holds[i];
		const struct blame_class c = b->classes[class];
		uint64_t part = ns / weights * h.weight + ns % weights * h.weight / weights;
		charge_hold(m, &h, &c, part, time);
		ns -= part;
		weights -= h.weight;
	}
}

/* @part of 2^16 of what has added up at the node goes to its holds. */
static void charge_part(struct model *m, uint32_t node, uint32_t part)
{
	struct blame *b = &m->blame;
	uint64_t time_ns = (at(m, node)->time_ns >> 16) * part +
			   ((at(m, node)->time_ns & 0xffff) * part >> 16);

	at(m, node)->time_ns -= time_ns;
	for (uint32_t i = at(m, node)->classes; i; i = b->classes[i].next) {
		uint64_t all = b->classes[i].ns;
		uint64_t ns = (all >> 16) * part + ((all & 0xffff) * part >> 16);
		b->classes[i].ns -= ns;
		if (ns)
			charge_class(m, node, i, ns, &time_ns);
	}
}

enum { WHOLE = 1 << 16 };

static void settle(struct model *m, uint32_t node, int depth)
{
	struct blame *b = &m->blame;
	struct blame_node *n = at(m, node);

	if (n->busy || depth > DEPTH_MOST)
		return;
	n->busy = true;
	for (uint32_t i = n->children; i; i = b->holds[i].beside)
		settle(m, b->holds[i].node, depth + 1);
	n = at(m, node);
	if (n->n && m->now_ns > n->told_ns)
		n->time_ns += m->now_ns - n->told_ns;
	n->told_ns = m->now_ns;
	for (uint32_t i = n->classes; i; i = b->classes[i].next)
		advance(m, &b->classes[i]);
	if (n->holds)
		charge_part(m, node, WHOLE);
	at(m, node)->busy = false;
}

void blame_settle(struct model *m, uint32_t node)
{
	settle(m, node, 0);
}

/* Nobody is known to have had it: what has added up is charged so. */
static void charge_nobody(struct model *m, uint32_t node)
{
	struct blame *b = &m->blame;
	uint32_t lock = lock_of_node(m, node);
	uint64_t time_ns = at(m, node)->time_ns;

	at(m, node)->time_ns = 0;
	for (uint32_t i = at(m, node)->classes; i; i = b->classes[i].next) {
		struct blame_class *c = &b->classes[i];
		bool direct = is_of(m, c->lock, node);
		const struct blame_key key = {.lock = c->lock,
					      .stack = c->stack,
					      .root_lock = lock ? lock : c->lock,
					      .direct = direct};
		uint64_t ns = c->ns;
		c->ns = 0;
		if (ns)
			blame_charge(m, &key, ns, direct ? time_ns : 0);
		if (ns && direct)
			time_ns = 0;
	}
}

/* Links: what a hold waits for. */

static void unlink_hold(struct model *m, uint32_t hold)
{
	struct blame_hold *h = &m->blame.holds[hold];
	uint32_t *place;

	m->blame.n_circles -= h->circle;
	h->circle = false;
	if (!h->blocked)
		return;
	place = &at(m, h->blocked)->children;
	while (*place && *place != hold)
		place = &m->blame.holds[*place].beside;
	if (*place)
		*place = h->beside;
	h->blocked = h->beside = 0;
}

/* From who has that lock on, whoever waits for whom: does it lead to @node? */
static bool leads_to(const struct model *m, uint32_t from, uint32_t node)
{
	const struct blame *b = &m->blame;

	for (int steps = 0; from && steps < DEPTH_MOST; steps++) {
		uint32_t next = 0;
		if (from == node)
			return true;
		for (uint32_t i = b->nodes[from].holds; i && !next; i = b->holds[i].next)
			next = b->holds[i].circle ? 0 : b->holds[i].blocked;
		from = next;
	}
	return false;
}

static void link_hold(struct model *m, uint32_t hold, uint32_t blocked)
{
	struct blame_hold *h = &m->blame.holds[hold];

	unlink_hold(m, hold);
	if (!blocked)
		return;
	h->circle = leads_to(m, blocked, h->node);
	m->blame.n_circles += h->circle;
	h->blocked = blocked;
	h->beside = at(m, blocked)->children;
	at(m, blocked)->children = hold;
}

/* After a link has gone: what was a circle may be none any more. */
static void open_circles(struct model *m)
{
	struct blame *b = &m->blame;

	for (uint32_t i = 1; b->n_circles && i < b->n_holds; i++) {
		if (!b->holds[i].circle || leads_to(m, b->holds[i].blocked, b->holds[i].node))
			continue;
		blame_settle(m, b->holds[i].node);
		b->holds[i].circle = false;
		b->n_circles--;
	}
}

/* What the task of a hold waits for, other than in @but; 0: nothing. */
static uint32_t waited_for(struct model *m, const struct blame_hold *h, const struct wait *but)
{
	const struct task *t = &m->tasks.tasks[h->task];

	for (uint32_t i = h->task == TASK_OTHER ? 0 : t->depth; i-- > 0;) {
		const struct wait *w = &m->waits.waits[t->waits[i]];
		if (w != but && !w->doubtful && w->begin_ns >= h->got_ns)
			return node_of(m, w->lock);
	}
	return 0;
}

/* Holds. */

static void forget_hold(struct model *m, uint32_t hold)
{
	struct blame *b = &m->blame;
	struct task *t = &m->tasks.tasks[b->holds[hold].task];
	uint32_t *place = &t->blame;

	unlink_hold(m, hold);
	while (*place && *place != hold)
		place = &b->holds[*place].of_task;
	if (*place)
		*place = b->holds[hold].of_task;
	/* What it does is told of who has a lock alone. */
	if (!t->blame)
		t->did = BLAME_NOT_FOLLOWED;
	blame_put_hold(b, hold);
}

/* What has added up stays. */
static void take_off(struct model *m, uint32_t hold)
{
	struct blame_node *n = at(m, m->blame.holds[hold].node);
	uint32_t *place = &n->holds;

	while (*place && *place != hold)
		place = &m->blame.holds[*place].next;
	if (*place)
		*place = m->blame.holds[hold].next;
	forget_hold(m, hold);
	n->since_ns = m->now_ns;
	open_circles(m);
}

void blame_drop_holds(struct model *m, uint32_t node)
{
	struct blame_node *n = at(m, node);

	while (n->holds) {
		uint32_t hold = n->holds;
		n->holds = m->blame.holds[hold].next;
		forget_hold(m, hold);
	}
	n->since_ns = m->now_ns;
	open_circles(m);
}

static bool is_reader(const struct model *m, uint32_t lock)
{
	return locktype_is_reader((enum lock_type)m->locks.locks[lock].type);
}

/* Too many to be kept apart: one hold stands for them. */
static bool join_others(struct model *m, uint32_t node, uint32_t lock)
{
	struct blame *b = &m->blame;
	uint32_t n = 0, others = 0;

	for (uint32_t i = at(m, node)->holds; i; i = b->holds[i].next) {
		others = b->holds[i].task == TASK_OTHER && b->holds[i].lock == lock ? i : others;
		n++;
	}
	if (n < READERS_MOST || !others)
		return false;
	if (b->holds[others].weight < UINT16_MAX)
		b->holds[others].weight++;
	return true;
}

static uint32_t add_hold(struct model *m, uint32_t node, uint32_t task, uint32_t lock)
{
	struct blame *b = &m->blame;
	uint32_t n = 0;

	for (uint32_t i = at(m, node)->holds; i; i = b->holds[i].next)
		n++;
	if (n >= READERS_MOST) {
		if (join_others(m, node, lock))
			return 0;
		task = TASK_OTHER;
	}
	uint32_t hold = blame_new_hold(b);
	if (!hold)
		return 0;
	struct blame_hold *h = &b->holds[hold];
	struct task *t = &m->tasks.tasks[task];
	h->node = node;
	h->task = task;
	h->lock = lock;
	h->state = BLAME_NOT_FOLLOWED;
	h->next = at(m, node)->holds;
	at(m, node)->holds = hold;
	if (task != TASK_OTHER) {
		h->of_task = t->blame;
		t->blame = hold;
	}
	return hold;
}

void blame_change(struct model *m, uint32_t task, uint32_t state, uint32_t why)
{
	struct task *t = &m->tasks.tasks[task];

	for (uint32_t i = t->blame; i; i = m->blame.holds[i].of_task) {
		if (m->blame.holds[i].state == state && m->blame.holds[i].why == why)
			continue;
		blame_settle(m, m->blame.holds[i].node);
		m->blame.holds[i].state = (uint8_t)state;
		m->blame.holds[i].why = why;
	}
	t->did = (uint8_t)state;
	t->why = why;
}

static bool has_hold(const struct model *m, uint32_t node, uint32_t task)
{
	for (uint32_t i = m->blame.nodes[node].holds; i; i = m->blame.holds[i].next)
		if (m->blame.holds[i].task == task)
			return true;
	return false;
}

/* Of what has added up, that of before the holder began to wait itself is its own. */
static void charge_before(struct model *m, uint32_t hold, uint32_t blocked, uint64_t since_ns)
{
	const struct blame_hold *h = &m->blame.holds[hold];
	const struct task *t = &m->tasks.tasks[h->task];
	uint64_t begin_ns = m->now_ns;

	for (uint32_t i = 0; i < t->depth; i++) {
		const struct wait *w = &m->waits.waits[t->waits[i]];
		if (m->locks.locks[w->lock].blame == blocked && w->begin_ns < begin_ns)
			begin_ns = w->begin_ns;
	}
	if (begin_ns > since_ns && m->now_ns > since_ns)
		charge_part(m, h->node,
			    (uint32_t)((double)(begin_ns - since_ns) /
				       (double)(m->now_ns - since_ns) * WHOLE));
}

static void tell_hold(struct model *m, uint32_t node, uint32_t lock, uint32_t task)
{
	const struct blame_node *n = at(m, node);
	uint64_t since_ns = n->since_ns;
	uint32_t hold = add_hold(m, node, task, lock);

	if (!hold)
		return;
	n = at(m, node);
	struct blame_hold *h = &m->blame.holds[hold];
	if (task != TASK_OTHER && n->last_task == task) {
		h->got = n->last_got;
		h->got_ns = n->last_ns;
	}
	if (task != TASK_OTHER) {
		h->state = m->tasks.tasks[task].did ? m->tasks.tasks[task].did : BLAME_NOT_FOLLOWED;
		h->why = m->tasks.tasks[task].why;
	}
	uint32_t blocked = waited_for(m, h, NULL);
	if (blocked)
		charge_before(m, hold, blocked, since_ns);
	at(m, node)->since_ns = m->now_ns;
	/* It had it, and waits for it again. */
	if (blocked == node)
		take_off(m, hold);
	else
		link_hold(m, hold, blocked);
}

void blame_tell(struct model *m, uint32_t lock, uint32_t task, bool hint, uint64_t seen_ns)
{
	uint32_t node = m->blame.max ? m->locks.locks[lock].blame : 0;
	enum lock_type type = (enum lock_type)m->locks.locks[lock].type;

	if (!node || !at(m, node)->n || lock < LOCK_TYPES || seen_ns < at(m, node)->since_ns)
		return;
	/* A sure one is a writer; a hint says no more than that readers have it. */
	if (hint)
		task = TASK_OTHER;
	if (has_hold(m, node, task) || (hint && at(m, node)->holds))
		return;
	if (locktype_twin(type) != type && hint != locktype_is_reader(type))
		lock = lock_get(&m->locks, m->locks.locks[lock].addr, locktype_twin(type));
	if (lock < LOCK_TYPES || node_of(m, lock) != node)
		return;
	blame_settle(m, node);
	if (at(m, node)->holds)
		blame_drop_holds(m, node);
	tell_hold(m, node, lock, task);
}

/* Waits. */

/* The holds of a task whose wait begins or ends, as far as these had begun before. */
static void relink(struct model *m, const struct wait *w, bool begins)
{
	uint32_t node = m->locks.locks[w->lock].blame;

	for (uint32_t i = m->tasks.tasks[w->task].blame; i; i = m->blame.holds[i].of_task) {
		const struct blame_hold *h = &m->blame.holds[i];
		if (begins ? w->begin_ns < h->got_ns : h->blocked != node)
			continue;
		blame_settle(m, h->node);
		link_hold(m, i, begins ? node : waited_for(m, &m->blame.holds[i], w));
	}
	open_circles(m);
}

/* Who begins to wait for a lock has let go of it, if he had it: readers do so unseen. */
static void let_go(struct model *m, const struct wait *w, uint32_t node)
{
	for (uint32_t i = m->tasks.tasks[w->task].blame; i; i = m->blame.holds[i].of_task) {
		if (m->blame.holds[i].node != node || w->begin_ns < m->blame.holds[i].got_ns)
			continue;
		blame_settle(m, node);
		take_off(m, i);
		return;
	}
}

void blame_wait(struct model *m, struct wait *w)
{
	uint32_t node = node_of(m, w->lock);

	w->blame = node ? class_of(m, node, w->lock, w->stack) : 0;
	if (!w->blame)
		return;
	if (w->task != TASK_OTHER)
		let_go(m, w, node);
	struct blame_class *c = &m->blame.classes[w->blame];
	advance(m, c);
	c->n++;
	at(m, node)->n_writers += !is_reader(m, w->lock);
	if (!at(m, node)->n++)
		at(m, node)->told_ns = at(m, node)->since_ns = m->now_ns;
	if (w->task != TASK_OTHER && m->tasks.tasks[w->task].blame)
		relink(m, w, true);
}

void blame_over(struct model *m, struct wait *w)
{
	uint32_t node = m->locks.locks[w->lock].blame;
	struct blame_class *c = &m->blame.classes[w->blame];

	if (!w->blame)
		return;
	advance(m, c);
	c->n--;
	at(m, node)->n_writers -= !is_reader(m, w->lock);
	w->blame = 0;
	if (w->task != TASK_OTHER && m->tasks.tasks[w->task].blame)
		relink(m, w, false);
	if (at(m, node)->n > 1) {
		at(m, node)->n--;
		return;
	}
	blame_settle(m, node);
	if (!at(m, node)->holds)
		charge_nobody(m, node);
	blame_drop_holds(m, node);
	at(m, node)->n = 0;
}

/* Who is said to have had the lock while @w waited: nobody else was known. */
static void charge_told(struct model *m, uint32_t node, const struct wait *w)
{
	uint32_t told = holds_told(w);

	if (told != TASK_OTHER)
		blame_tell(m, w->lock, told, false, UINT64_MAX);
	blame_settle(m, node);
	if (!at(m, node)->holds)
		charge_nobody(m, node);
}

static bool have_readers(const struct model *m, uint32_t node)
{
	uint32_t hold = m->blame.nodes[node].holds;

	return hold && is_reader(m, m->blame.holds[hold].lock);
}

/*
 * Nobody waits but itself; or it is a reader, and other readers do, as no writer is before them:
 * then they have been given the lock together with it, and only have to run.
 */
static bool is_kept_by_nobody(const struct model *m, const struct blame_node *n,
			      const struct wait *w)
{
	return n->n <= 1 || (is_reader(m, w->lock) && !n->n_writers);
}

void blame_got(struct model *m, const struct wait *w)
{
	uint32_t node = m->locks.locks[w->lock].blame;
	bool joins = is_reader(m, w->lock) && node && have_readers(m, node);

	if (!node)
		return;
	if (!joins) {
		charge_told(m, node, w);
		blame_drop_holds(m, node);
	}
	if (w->doubtful || w->lock < LOCK_TYPES)
		return;
	struct blame_node *n = at(m, node);
	if (!joins && is_kept_by_nobody(m, n, w)) {
		n->last_task = w->task;
		n->last_lock = w->lock;
		n->last_got = w->stack;
		n->last_ns = m->now_ns;
		return;
	}
	if (joins && has_hold(m, node, w->task))
		return;
	uint32_t hold = add_hold(m, node, w->task, w->lock);
	if (!hold || m->blame.holds[hold].task == TASK_OTHER)
		return;
	m->blame.holds[hold].got = w->stack;
	m->blame.holds[hold].got_ns = m->now_ns;
	if (m->blame.following)
		blame_change(m, w->task, BLAME_RUNNING, 0);
}

void blame_task_gone(struct model *m, uint32_t task)
{
	struct blame *b = &m->blame;

	while (task != TASK_OTHER && m->tasks.tasks[task].blame) {
		uint32_t hold = m->tasks.tasks[task].blame;
		blame_settle(m, b->holds[hold].node);
		take_off(m, hold);
	}
}

/* Records are missing: others may have the locks. */
void blame_lost(struct model *m)
{
	for (uint32_t i = 1; i < m->blame.n_holds; i++) {
		uint32_t node = m->blame.holds[i].node;
		if (!node)
			continue;
		blame_settle(m, node);
		blame_drop_holds(m, node);
	}
}

void blame_tick(struct model *m, uint64_t time_ns)
{
	for (uint32_t i = 1; i < m->waits.high; i++) {
		const struct wait *w = &m->waits.waits[i];
		if (w->used && w->blame)
			blame_settle(m, m->locks.locks[w->lock].blame);
	}
	blame_close_bucket(m, time_ns);
}
