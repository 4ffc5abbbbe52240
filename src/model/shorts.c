// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of short waits have sums since measuring began: what came since the one before goes
 * into cells, so that all tables have it. The first one of a stream says where sums begin, be it a
 * whole recording or a part of one.
 *
 * A part may begin between two snapshots, a second apart. When the short waits of that second were
 * is not known, so their difference is divided by time: the part has as much of it as lies in it.
 * That is an estimate, which cannot be off by more than what the second has, and it is said.
 */
#include "internal.h"
#include "kontend/cell-batch.h"

#include <errno.h>
#include <string.h>

/* What @row has more than the same row had before. */
static struct shorts_sum since(const struct shortsnap_row *row, const struct shortsnap *before,
			       uint32_t i)
{
	const struct shorts_sum all = {row->n, row->ns, 0};

	if (i >= before->head.n_rows)
		return all;
	const struct shortsnap_row old = shortsnap_row(before, i);
	if (old.flags != row->flags || old.n_frames != row->n_frames ||
	    memcmp(old.frames, row->frames, sizeof(row->frames)) != 0)
		return all;
	if (row->n < old.n || row->ns < old.ns)
		return (struct shorts_sum){0};
	return (struct shorts_sum){row->n - old.n, row->ns - old.ns, 0};
}

static uint32_t stack_of(struct model *m, const struct shortsnap_row *row)
{
	uint32_t traced = 0;

	while (m->tracing && traced + 1 < row->n_frames &&
	       m->tracing->is_tracing(m->tracing, row->frames[traced]))
		traced++;
	return row->n_frames ? stack_get(&m->stacks, row->frames + traced, row->n_frames - traced)
			     : STACK_OTHER;
}

/* What of the difference of two snapshots is of the part that is asked for. */
struct share {
	double part; /* 1: all */
	double rest; /* of counts, that was not given yet: so that their sum is right */
};

static struct share share_of(struct model *m, uint64_t before_ns, uint64_t now_ns)
{
	uint64_t from = m->shorts.from_ns > m->start_ns ? m->shorts.from_ns : m->start_ns;
	struct share ret = {.part = 1, .rest = 0.5};

	if (from > before_ns && from < now_ns) {
		ret.part = (double)(now_ns - from) / (double)(now_ns - before_ns);
		m->shorts.estimated_ns += now_ns - from;
	} else if (from >= now_ns) {
		ret.part = 0;
	}
	return ret;
}

static uint64_t give_share(struct share *of, uint64_t n)
{
	if (of->part >= 1)
		return n;
	of->rest += (double)n * of->part;
	uint64_t given = (uint64_t)of->rest;
	of->rest -= (double)given;
	return given < n ? given : n;
}

/* Averages stay as they are. */
static struct shorts_sum part_of(struct share *of, struct shorts_sum s)
{
	uint64_t n = give_share(of, s.n);
	double ns = s.n ? (double)s.ns * ((double)n / (double)s.n) : 0;

	return n == s.n ? s : (struct shorts_sum){n, (uint64_t)ns, 0};
}

static int add_sums(struct model *m, const struct shortsnap_row *row, struct shorts_sum s)
{
	enum lock_type type = locktype_from_flags(row->flags);
	struct model_type *t = &m->types[type];

	if (!s.n)
		return 0;
	fold_if_full(m);
	const struct cell_key key = {.lock = lock_get(&m->locks, SHORTS_LOCK, type),
				     .stack = stack_of(m, row),
				     .task = TASK_OTHER,
				     .cpu = CELL_NO_CPU,
				     .owner = OWNER_NONE};
	struct cell *c = cell_get(&m->cells, key);
	if (!c) {
		fold_cells(m);
		c = cell_get(&m->cells, key);
	}
	if (!c || cell_batch_add(&m->cells, c, s.n, s.ns, m->now_ns)) {
		m->damage.folded += s.n;
		return -ENOMEM;
	}
	struct lock *l = &m->locks.locks[key.lock];
	cell_wait(&m->cells, c, s.ns);
	l->begin_ns = l->begin_ns ? l->begin_ns : m->now_ns;
	l->cur_wait_ns += s.ns;
	t->cur_wait_ns += s.ns;
	t->waited_ns += s.ns;
	t->contended += s.n;
	t->total_ns += s.ns;
	t->cur_n += s.n;
	m->cur_n += s.n;
	m->shorts.types[type].n += s.n;
	m->shorts.types[type].ns += s.ns;
	return 0;
}

static void add_heads(struct model *m, struct share *of, const struct shortsnap_head *now,
		      const struct shortsnap_head *before)
{
	for (uint32_t f = 0; f < SHORTSNAP_TYPES; f++)
		if (now->counted[f] > before->counted[f])
			m->shorts.types[locktype_from_flags(f)].counted +=
				give_share(of, now->counted[f] - before->counted[f]);
	for (uint32_t l = 0; l < SHORTSNAP_LEVELS; l++)
		if (now->spent_ns[l] > before->spent_ns[l])
			m->shorts.spent_ns[l] +=
				(uint64_t)((double)(now->spent_ns[l] - before->spent_ns[l]) *
					   of->part);
	if (now->n_changes > before->n_changes && of->part > 0)
		m->shorts.n_changes += now->n_changes - before->n_changes;
}

void shorts_range(struct model *m, uint64_t from_ns)
{
	struct shorts_state *s = &m->shorts;

	s->from_ns = from_ns;
	s->estimated_ns = s->n_changes = 0;
	memset(s->spent_ns, 0, sizeof(s->spent_ns));
}

/* A snapshot of @time_ns: 0, -EINVAL or -ENOMEM. */
int shorts_take(struct model *m, const void *payload, size_t len, uint64_t time_ns)
{
	const struct snapshot *old = snapshot_set_get(&m->snapshots, SNAPSHOT_SHORT);
	struct shortsnap now, before;
	int code = 0;

	if (!shortsnap_decode(payload, len, &now))
		return -EINVAL;
	if (now.head.level != SHORTSNAP_ALL)
		m->looks.untold_ns = UINT64_MAX;
	else if (m->shorts.known && now.head.n_changes != m->shorts.head.n_changes)
		m->looks.untold_ns = m->now_ns;
	m->shorts.known = true;
	m->shorts.head = now.head;
	if (!old || !shortsnap_decode(old->bytes, old->len, &before))
		return 0;
	struct share of = share_of(m, old->head.time_ns, time_ns);
	for (uint32_t i = 0; code == 0 && i < now.head.n_rows; i++) {
		const struct shortsnap_row row = shortsnap_row(&now, i);
		code = add_sums(m, &row, part_of(&of, since(&row, &before, i)));
	}
	add_heads(m, &of, &now.head, &before.head);
	return code;
}
