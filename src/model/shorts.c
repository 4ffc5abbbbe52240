// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of short waits have sums since measuring began: what came since the one before goes
 * into cells, so that all tables have it. The first one of a stream says where sums begin, be it a
 * whole recording or a part of one.
 *
 * A part may begin or end between two snapshots, a second apart. When the short waits of that
 * second were is not known, so the sums at that moment are estimated (shortsnap_at()). The estimate
 * is the same for the part that ends there and the one that begins there, so parts add up; it
 * cannot be off by more than what the second has, and the model counts how much time it covers.
 */
#include "kontend/shorts.h"
#include "internal.h"
#include "kontend/cell-batch.h"
#include "kontend/cell-recent.h"
#include "kontend/damage.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/record.h"
#include "kontend/shortsnap.h"
#include "kontend/snapshot.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

static uint32_t stack_of(struct model *m, const struct shortsnap_row *row)
{
	uint32_t traced = model_traced(m, row->frames, row->n_frames);

	return row->n_frames ? model_stack(m, row->frames + traced, row->n_frames - traced)
			     : STACK_OTHER;
}

int shorts_add(struct model *m, const struct shorts_part *s)
{
	struct model_type *t = &m->types[s->type];

	const struct cell_key key = {.lock = lock_get(m->locks, s->lock, s->type),
				     .stack = s->stack,
				     .task = TASK_OTHER,
				     .cpu = CELL_NO_CPU,
				     .owner = OWNER_NONE};
	struct cell *c = cell_get(m->cells, key);
	if (!c) {
		fold_cells(m);
		c = cell_get(m->cells, key);
	}
	if (!c || cell_batch_add(m->cells, c, s->n, s->ns, m->now_ns)) {
		m->damage->folded += s->n;
		return -ENOMEM;
	}
	struct lock *l = &m->locks->locks[key.lock];
	cell_wait(m->cells, c, s->ns);
	if (s->type == LOCK_MUTEX) {
		c->unsplit |= !s->is_split || cell_spin(m->cells, c, s->spun_ns);
		cell_recent_spin(m->cells, c, s->spun_ns);
	}
	bool no_room = cell_lose(m->cells, c, s->lost_ns);
	c->unlost |= no_room || !s->is_lost_known;
	cell_recent_lose(m->cells, c, s->lost_ns);
	if (cell_par(m->cells, c, s->par_ns, s->par_of_ns) == 0)
		cell_recent_par(m->cells, c, s->par_ns, s->par_of_ns);
	l->begin_ns = l->begin_ns ? l->begin_ns : m->now_ns;
	l->cur_wait_ns += s->ns;
	t->cur_wait_ns += s->ns;
	t->waited_ns += s->ns;
	t->contended += s->n;
	t->total_ns += s->ns;
	t->cur_n += s->n;
	m->cur_n += s->n;
	m->shorts->types[s->type].n += s->n;
	m->shorts->types[s->type].ns += s->ns;
	return 0;
}

/* Adds the growth of row @i between the two. */
static int add_sums(struct model *m, const struct shortsnap_pair *p, uint32_t i)
{
	const struct shortsnap_row row = shortsnap_since(&p->now, &p->before, i);

	if (!row.n)
		return 0;
	fold_if_full(m);
	struct shorts_part s = {.lock = SHORTS_LOCK,
				.type = model_lock_type(m, row.flags, row.frames, row.n_frames),
				.stack = stack_of(m, &row),
				.n = row.n,
				.ns = row.ns};
	uint64_t lost_of_ns;
	s.is_split = shortsnap_part_since(&p->now, &p->before, i, SHORTSNAP_SPUN, &s.spun_ns);
	s.is_lost_known =
		shortsnap_part_since(&p->now, &p->before, i, SHORTSNAP_LOST, &s.lost_ns) &&
		shortsnap_part_since(&p->now, &p->before, i, SHORTSNAP_LOST_OF, &lost_of_ns) &&
		/* They are read while they grow. */
		lost_of_ns + s.ns / 64 >= s.ns;
	if (!shortsnap_part_since(&p->now, &p->before, i, SHORTSNAP_PAR, &s.par_ns) ||
	    !shortsnap_part_since(&p->now, &p->before, i, SHORTSNAP_PAR_OF, &s.par_of_ns))
		s.par_ns = s.par_of_ns = 0;
	return shorts_add(m, &s);
}

static void add_heads(struct model *m, const struct shortsnap_head *now,
		      const struct shortsnap_head *before)
{
	for (uint32_t f = 0; f < SHORTSNAP_TYPES; f++)
		if (now->counted[f] > before->counted[f])
			m->shorts->types[locktype_from_flags(f)].counted +=
				now->counted[f] - before->counted[f];
	for (uint32_t l = 0; l < SHORTSNAP_LEVELS; l++)
		if (now->spent_ns[l] > before->spent_ns[l])
			m->shorts->spent_ns[l] += now->spent_ns[l] - before->spent_ns[l];
	if (now->n_changes > before->n_changes)
		m->shorts->n_changes += now->n_changes - before->n_changes;
}

/* Takes what came between the two. 0 or -ENOMEM. */
static int add_all(struct model *m, const struct shortsnap_pair *p)
{
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < p->now.head.n_rows; i++)
		code = add_sums(m, p, i);
	add_heads(m, &p->now.head, &p->before.head);
	if ((p->now.head.flags | p->before.head.flags) & SHORTSNAP_ESTIMATED)
		m->shorts->estimated_ns += p->now_ns - p->before_ns;
	return code;
}

/* Puts the sums of @at_ns, from @p, in the place of @ret; *ret_held: what has them. */
static int estimate(const struct shortsnap_pair *p, uint64_t at_ns, struct shortsnap *ret,
		    uint64_t *ret_ns, void **ret_held)
{
	size_t len;
	int code = shortsnap_at(p, at_ns, ret_held, &len);

	*ret_ns = at_ns;
	return code == 0 && !shortsnap_decode(*ret_held, len, ret) ? -EINVAL : code;
}

/* Only what lies in the part that is asked for. */
static int add_part(struct model *m, const struct shortsnap_pair *p)
{
	const struct shorts_state *s = m->shorts;
	uint64_t from = s->from_ns > m->start_ns ? s->from_ns : m->start_ns;
	uint64_t to = s->to_ns ? s->to_ns : UINT64_MAX;
	struct shortsnap_pair part = *p;
	void *begin = NULL, *end = NULL;
	int code = 0;

	if (from >= p->now_ns || to <= p->before_ns || from >= to)
		return 0;
	if (from > p->before_ns)
		code = estimate(p, from, &part.before, &part.before_ns, &begin);
	if (code == 0 && to < p->now_ns)
		code = estimate(p, to, &part.now, &part.now_ns, &end);
	if (code == 0)
		code = add_all(m, &part);
	mem_free(begin);
	mem_free(end);
	return code;
}

void shorts_range(struct model *m, uint64_t from_ns, uint64_t to_ns)
{
	struct shorts_state *s = m->shorts;

	s->from_ns = from_ns;
	s->to_ns = to_ns;
	s->estimated_ns = s->n_changes = 0;
	memset(s->spent_ns, 0, sizeof(s->spent_ns));
}

/* A snapshot of @time_ns: 0, -EINVAL or -ENOMEM. */
int shorts_take(struct model *m, const void *payload, size_t len, uint64_t time_ns)
{
	const struct snapshot *old = snapshot_set_get(m->snapshots, SNAPSHOT_SHORT);
	struct shortsnap_pair p = {.now_ns = time_ns};

	if (!shortsnap_decode(payload, len, &p.now))
		return -EINVAL;
	if (p.now.head.level != SHORTSNAP_ALL)
		m->looks->unreported_ns = UINT64_MAX;
	else if (m->shorts->known && p.now.head.n_changes != m->shorts->head.n_changes)
		m->looks->unreported_ns = m->now_ns;
	m->shorts->known = true;
	m->shorts->head = p.now.head;
	if (!old || !shortsnap_decode(old->bytes, old->len, &p.before))
		return 0;
	p.before_ns = old->head.time_ns;
	return add_part(m, &p);
}
