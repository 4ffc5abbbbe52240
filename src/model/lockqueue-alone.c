// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hand-overs of a lock for which two have not waited at a time yet. Most locks never get further,
 * so these need no queue: a few sums in struct lock, one a mode, go into the queue when it begins.
 * A task that waited alone counts like one that waits alone later.
 */
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/locktype.h"
#include "kontend/wait.h"
#include "lockqueue-int.h"

static struct lock_alone *other_mode(struct model *m, const struct lock *l)
{
	return l->twin ? &m->locks->locks[l->twin].alone : NULL;
}

/* A run goes on where the other mode did not get the lock since, and no record is missing. */
static void count_run(const struct model *m, struct lock_alone *a, const struct lock_alone *other,
		      uint64_t ns)
{
	bool goes_on =
		a->got_ns && a->got_ns >= m->lost_until && (!other || other->got_ns < a->got_ns);

	a->run = goes_on ? a->run + 1 : 1;
	a->runs += !goes_on;
	a->run_most = a->run > a->run_most ? a->run : a->run_most;
	a->got_ns = ns;
	a->handed++;
}

void lockqueue_alone_end(struct model *m, const struct wait *w, uint64_t ns, bool got)
{
	struct lock *l = &m->locks->locks[w->lock];
	struct lock_alone *a = &l->alone, *other = other_mode(m, l);
	uint64_t lasted = ns > w->begin_ns ? ns - w->begin_ns : 0;

	if (w->doubtful) {
		a->got_ns = got ? 0 : a->got_ns;
		if (other && got)
			other->got_ns = 0;
		return;
	}
	if (got)
		count_run(m, a, other, ns);
	if (lasted <= LOCKQUEUE_CONVOY_NS)
		return;
	a->convoys++;
	a->convoy_ns += lasted;
	a->convoy_longest_ns = lasted > a->convoy_longest_ns ? lasted : a->convoy_longest_ns;
}

static void take_mode(struct lock *l, struct lockqueue *q)
{
	unsigned mode = locktype_is_reader(l->type) ? LOCKQUEUE_R : LOCKQUEUE_W;
	const struct lock_alone *a = &l->alone;
	struct lockqueue_sums s = {
		.convoys = a->convoys,
		.convoy_ns = a->convoy_ns,
		.convoy_longest_ns = a->convoy_longest_ns,
		.phase_most = mode == LOCKQUEUE_R ? a->run_most : 0,
	};

	s.handed[mode] = a->handed;
	s.phases[mode] = a->runs;
	lockqueue_add(&q->sums, &s);
	if (a->got_ns > q->handed_ns) {
		q->handed_ns = a->got_ns;
		q->phase_reads = mode == LOCKQUEUE_R;
		q->phase_n = a->run;
	}
	l->alone = (struct lock_alone){0};
}

void lockqueue_alone_take(struct model *m, uint32_t lock, struct lockqueue *q)
{
	struct lock *l = &m->locks->locks[lock];

	take_mode(l, q);
	if (l->twin)
		take_mode(&m->locks->locks[l->twin], q);
}

void lockqueue_alone_zero(struct model *m)
{
	for (size_t i = 0; i < m->locks->n; i++)
		m->locks->locks[i].alone = (struct lock_alone){0};
}
