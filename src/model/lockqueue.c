// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of locks over time: the order in which waiters get a lock. A lock has a queue from when
 * two wait for it at a time, in whichever mode; both modes of a reader-writer lock share it. It
 * begins with the sums of the tasks that waited alone before: see lockqueue-alone.c.
 *
 * A wait has a place, by when it began: places count upwards, those of waits that are over stay
 * empty until there are no more, when the others move together (or the array grows, if it is more
 * than half full). So a later wait is at a higher place, always. A task that gets the lock
 * overtakes all at lower places, but a reader no other reader, as readers get it together. To count
 * that without looking at each of them, the places are a binary indexed tree a mode: an acquisition
 * at place p adds 1 to p and what is below it in the tree, and the sum from place w + 1 upwards is
 * how often those after w got the lock. All of them began after w, so that has been while w waits.
 * Counts from before places moved are in `passed`. Each step costs the logarithm of the places,
 * which are at most four times as many as have waited at once.
 *
 * How many hand-overs a wait lasted is the difference of the queue's number of them. Doubtful waits
 * are in no queue, and an acquisition after one ends a phase. For a wait that only a snapshot has
 * the order of its begin is not known: it is in the queue, and has no place.
 */
#include "kontend/lockqueue.h"
#include "kontend/cell.h"
#include "kontend/hist.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "lockqueue-int.h"
#include <errno.h>
#include <string.h>

enum {
	FIRST_PLACES = 8,
	CACHEFILE_PLACES = 64, /* of an empty queue: more are given back */
	TIME_GROUPS = 3 * LOCKQUEUE_MOST,
};

static struct lockqueue *queue_of(struct model *m, uint32_t lock)
{
	uint32_t index = m->locks->locks[lock].queue;

	return index ? &m->queues->v[index] : NULL;
}

static bool reads(const struct model *m, const struct wait *w)
{
	return locktype_is_reader(m->locks->locks[w->lock].type);
}

static uint32_t length(const struct lockqueue *q)
{
	return q->n[LOCKQUEUE_W] + q->n[LOCKQUEUE_R];
}

/* The number of times that the wait at @at was passed over. */
static uint32_t passed(const struct lockqueue *q, uint32_t at, bool reader)
{
	uint32_t n = q->places[at].passed;

	for (uint32_t i = at + 1; i < q->cap; i += i & -i)
		n += q->places[i].tree[LOCKQUEUE_W] + (reader ? 0 : q->places[i].tree[LOCKQUEUE_R]);
	return n;
}

/* The wait at @at has got the lock. */
static void pass(struct lockqueue *q, uint32_t at, bool reader)
{
	for (uint32_t i = at; i; i &= i - 1)
		q->places[i].tree[reader]++;
}

/* Moves the waits to the lowest places, with their entries in the tree. */
static void move_together(struct model *m, struct lockqueue *q)
{
	uint32_t n = 1;

	for (uint32_t at = 1; at < q->end; at++) {
		const struct lockqueue_place *p = &q->places[at];
		if (!p->wait)
			continue;
		struct wait *w = &m->waits->waits[p->wait];
		uint32_t so_often = passed(q, at, reads(m, w));
		q->places[n].wait = p->wait;
		q->places[n].seq = p->seq;
		q->places[n].passed = so_often;
		w->place = n++;
	}
	for (uint32_t at = 1; at < q->cap; at++) {
		struct lockqueue_place *p = &q->places[at];
		memset(p->tree, 0, sizeof(p->tree));
		p->wait = at < n ? p->wait : 0;
	}
	q->end = n;
	q->first = 1;
}

/* Places that were never used are 0: the tree goes on in them. */
static int grow(struct lockqueue *q)
{
	uint32_t cap = q->cap ? 2 * q->cap : FIRST_PLACES;
	struct lockqueue_place *places = mem_resize(q->places, cap, sizeof(*places));

	if (!places)
		return -ENOMEM;
	memset(places + q->cap, 0, (cap - q->cap) * sizeof(*places));
	q->places = places;
	q->cap = cap;
	q->end = q->end ? q->end : 1;
	q->first = q->first ? q->first : 1;
	return 0;
}

/* A place after all others; 0: there is no memory, so its wait is not followed. */
static uint32_t new_place(struct model *m, struct lockqueue *q)
{
	if (q->cap && q->end == q->cap && length(q) <= q->cap / 2)
		move_together(m, q);
	if (q->end >= q->cap && grow(q) < 0)
		return 0;
	return q->end++;
}

static void note_length(struct lockqueue *q, bool reader)
{
	uint32_t n = length(q);

	if (q->n[reader] > q->most[reader])
		q->most[reader] = q->n[reader];
	if (n > q->cur.longest)
		q->cur.longest = n;
}

static void join(struct model *m, struct lockqueue *q, uint32_t index)
{
	struct wait *w = &m->waits->waits[index];
	bool reader = reads(m, w);

	if (!length(q) || w->begin_ns < q->busy_ns)
		q->busy_ns = w->begin_ns;
	w->lines_up = true;
	w->place = w->by_look ? 0 : new_place(m, q);
	if (w->place) {
		q->places[w->place].wait = index;
		q->places[w->place].seq = q->seq;
		q->places[w->place].passed = 0;
	}
	q->n[reader]++;
	note_length(q, reader);
}

static uint32_t take_free(struct lockqueues *s)
{
	uint32_t index = s->free;

	if (index) {
		s->free = s->v[index].next_free;
	} else {
		s->n = s->n ? s->n : 1;
		if (s->n > LOCKQUEUE_MOST || mem_grow(&s->v, &s->cap, s->n, sizeof(*s->v))) {
			s->no_room++;
			return 0;
		}
		index = s->n++;
	}
	s->v[index] = (struct lockqueue){.used = true, .serial = ++s->serials};
	s->in_use++;
	return index;
}

static void forget_times(struct lockqueues *s, struct lockqueue *q)
{
	for (int i = 0; i < HIST_GROUPS; i++)
		if (q->times[i])
			hist_pool_give_back(&s->hists, q->times[i]);
}

static void put_free(struct lockqueues *s, uint32_t index)
{
	struct lockqueue *q = &s->v[index];

	forget_times(s, q);
	mem_free(q->places);
	series_deinit(&q->series);
	*q = (struct lockqueue){.next_free = s->free};
	s->free = index;
	s->in_use--;
}

/* The wait for @lock that began last, if it has not ended and is in no queue. */
static uint32_t latest_of(const struct model *m, uint32_t lock)
{
	uint32_t index = m->locks->locks[lock].latest;
	const struct wait *w = &m->waits->waits[index];

	return index && w->used && !w->doubtful && !w->lines_up && w->lock == lock ? index : 0;
}

/* Two wait at a time: from now on there is a queue, which begins with the one before. */
static bool start(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock], *twin = l->twin ? &m->locks->locks[l->twin] : NULL;
	uint32_t before = latest_of(m, lock);

	if (l->n_sure + (twin ? twin->n_sure : 0) < 2)
		return false;
	uint32_t index = take_free(m->queues);
	if (!index)
		return false;
	l->queue = index;
	if (twin)
		twin->queue = index;
	lockqueue_alone_take(m, lock, &m->queues->v[index]);
	if (!before && twin)
		before = latest_of(m, l->twin);
	if (before)
		join(m, &m->queues->v[index], before);
	return true;
}

void lockqueue_begin(struct model *m, uint32_t index)
{
	uint32_t lock = m->waits->waits[index].lock;
	struct lock *l = &m->locks->locks[lock];

	if (lock < LOCK_TYPES)
		return;
	if (l->queue || start(m, lock))
		join(m, &m->queues->v[l->queue], index);
	l->latest = index;
}

/* All that the places say is over with the last that waited. */
static void clear_places(struct lockqueue *q)
{
	q->seen_ns = 0; /* the next one that waits is younger than that */
	if (q->cap > CACHEFILE_PLACES) {
		mem_free(q->places);
		q->places = NULL;
		q->cap = q->end = q->first = 0;
		return;
	}
	if (q->cap)
		memset(q->places, 0, q->end * sizeof(*q->places));
	q->end = q->first = q->cap ? 1 : 0;
}

static void leave(struct model *m, struct lockqueue *q, struct wait *w)
{
	w->lines_up = false;
	if (w->place)
		q->places[w->place].wait = 0;
	q->n[reads(m, w)]--;
	if (!length(q))
		clear_places(q);
}

static void end_convoy(struct lockqueue *q, uint64_t ns)
{
	uint64_t lasted = ns > q->busy_ns ? ns - q->busy_ns : 0;

	if (length(q) || lasted <= LOCKQUEUE_CONVOY_NS)
		return;
	q->cur.convoys++;
	q->cur.convoy_ns += lasted;
	if (lasted > q->cur.convoy_longest_ns)
		q->cur.convoy_longest_ns = lasted;
}

static void note_worst(struct lockqueue_worst *worst, uint32_t n, const struct wait *w, uint64_t ns)
{
	if (n > worst->n)
		*worst = (struct lockqueue_worst){n, w->task, ns};
}

void lockqueue_count(const struct model *m, const struct wait *w, uint64_t ns,
		     struct lockqueue_sums *s)
{
	uint64_t lasted = ns > w->begin_ns ? ns - w->begin_ns : 0;
	struct lockqueue_wait through = lockqueue_wait(m, w);

	if (through.passed) {
		s->passed += through.passed;
		s->passed_waits++;
		if (lasted > s->passed_longest_ns)
			s->passed_longest_ns = lasted;
		note_worst(&s->passed_most, through.passed, w, lasted);
	}
	if (through.handed > LOCKQUEUE_STARVED) {
		s->starved++;
		note_worst(&s->starved_most, through.handed, w, lasted);
	}
}

/* Where records are missing another task may have had the lock in between. */
static void count_phase(struct model *m, struct lockqueue *q, bool reader, uint64_t ns)
{
	struct lockqueue_sums *s = &q->cur;
	bool goes_on = q->phase_n && q->phase_reads == reader && q->handed_ns >= m->lost_until;

	q->phase_n = goes_on ? q->phase_n + 1 : 1;
	q->phase_reads = reader;
	q->handed_ns = ns;
	s->phases[reader] += !goes_on;
	if (reader && q->phase_n > s->phase_most)
		s->phase_most = q->phase_n;
}

static void hand_over(struct model *m, struct lockqueue *q, const struct wait *w, uint64_t ns)
{
	bool reader = reads(m, w);

	q->seq++;
	q->cur_handed++;
	q->cur.handed[reader]++;
	count_phase(m, q, reader, ns);
	if (w->place)
		pass(q, w->place, reader);
	lockqueue_seen_got(m, q, w, ns);
}

void lockqueue_end(struct model *m, struct wait *w, uint64_t ns, bool got)
{
	struct lockqueue *q = queue_of(m, w->lock);

	if (!q && m->held->max && w->lock >= LOCK_TYPES)
		lockqueue_alone_end(m, w, ns, got);
	if (!q)
		return;
	if (!w->lines_up) {
		if (got) {
			q->phase_n = 0;
			q->seen_ns = 0;
		}
		return;
	}
	lockqueue_count(m, w, ns, &q->cur);
	if (got)
		hand_over(m, q, w, ns);
	leave(m, q, w);
	end_convoy(q, ns);
}

void lockqueue_doubt(struct model *m, struct wait *w)
{
	struct lockqueue *q = queue_of(m, w->lock);

	if (!q || !w->lines_up)
		return;
	leave(m, q, w);
	end_convoy(q, m->now_ns);
}

/* The begin of the oldest wait that is left. */
static uint64_t oldest_begin(const struct model *m, const struct lockqueue *q)
{
	for (uint32_t at = 1; at < q->end; at++)
		if (q->places[at].wait)
			return m->waits->waits[q->places[at].wait].begin_ns;
	return m->now_ns;
}

void lockqueue_give_up(struct model *m, struct wait *w)
{
	struct lockqueue *q = queue_of(m, w->lock);

	if (!q || !w->lines_up)
		return;
	leave(m, q, w);
	q->busy_ns = oldest_begin(m, q);
}

void lockqueue_handed(struct model *m, uint32_t lock, uint64_t took)
{
	struct lockqueue *q = queue_of(m, lock);

	if (!q || (!m->queues->hists.groups && hist_pool_init(&m->queues->hists, TIME_GROUPS) < 0))
		return;
	q->times_min_ns = !q->times_n || took < q->times_min_ns ? took : q->times_min_ns;
	q->times_max_ns = took > q->times_max_ns ? took : q->times_max_ns;
	q->times_n++;
	hist_pool_add(&m->queues->hists, q->times, took);
}

struct lockqueue_wait lockqueue_wait(const struct model *m, const struct wait *w)
{
	uint32_t index = w->used && w->lines_up ? m->locks->locks[w->lock].queue : 0;
	const struct lockqueue *q = index ? &m->queues->v[index] : NULL;

	if (!q || !w->place)
		return (struct lockqueue_wait){0};
	return (struct lockqueue_wait){passed(q, w->place, reads(m, w)),
				       q->seq - q->places[w->place].seq};
}

static uint64_t most_16(uint32_t n)
{
	return n < UINT16_MAX ? n : UINT16_MAX;
}

static void take_worst(struct lockqueue_worst *to, const struct lockqueue_worst *from)
{
	if (from->n > to->n)
		*to = *from;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void lockqueue_add(struct lockqueue_sums *to, const struct lockqueue_sums *from)
{
	for (int mode = 0; mode < LOCKQUEUE_MODES; mode++) {
		to->handed[mode] += from->handed[mode];
		to->phases[mode] += from->phases[mode];
	}
	to->phase_most = (uint32_t)greater(to->phase_most, from->phase_most);
	to->passed += from->passed;
	to->passed_waits += from->passed_waits;
	to->passed_longest_ns = greater(to->passed_longest_ns, from->passed_longest_ns);
	take_worst(&to->passed_most, &from->passed_most);
	to->starved += from->starved;
	take_worst(&to->starved_most, &from->starved_most);
	to->convoys += from->convoys;
	to->convoy_ns += from->convoy_ns;
	to->convoy_longest_ns = greater(to->convoy_longest_ns, from->convoy_longest_ns);
	to->longest = (uint32_t)greater(to->longest, from->longest);
	to->stolen += from->stolen;
}

struct lockqueue_sums lockqueue_all(const struct lockqueue *q)
{
	struct lockqueue_sums ret = q->sums;

	lockqueue_add(&ret, &q->cur);
	return ret;
}

/* For windows of time, where these are looked at. */
static void keep_part(struct model *m, uint32_t index, uint64_t end_ns)
{
	struct lockqueues *s = m->queues;

	if (!m->limits->recent)
		return;
	if (!s->parts && !(s->parts = mem_calloc(LOCKQUEUE_PARTS, sizeof(*s->parts)))) {
		s->dropped_ns = end_ns;
		return;
	}
	struct lockqueue_part *p = &s->parts[s->next_part];
	if (s->n_parts == LOCKQUEUE_PARTS)
		s->dropped_ns = p->end_ns;
	else
		s->n_parts++;
	*p = (struct lockqueue_part){end_ns, index, s->v[index].serial, s->v[index].cur};
	s->next_part = (s->next_part + 1) % LOCKQUEUE_PARTS;
}

void lockqueue_tick(struct model *m, uint64_t time_ns)
{
	for (uint32_t i = 1; i < m->queues->n; i++) {
		struct lockqueue *q = &m->queues->v[i];
		uint64_t packed = most_16(q->most[LOCKQUEUE_W]) |
				  most_16(q->most[LOCKQUEUE_R]) << 16 |
				  (uint64_t)q->cur_handed << 32;

		if (!packed)
			continue;
		series_push(&q->series, m->n_ticks, packed);
		keep_part(m, i, time_ns);
		lockqueue_add(&q->sums, &q->cur);
		q->cur = (struct lockqueue_sums){.longest = length(q)};
		memcpy(q->most, q->n, sizeof(q->most));
		q->cur_handed = 0;
	}
}

/* Both modes have it; the one that stays keeps it. */
static void forget(struct model *m, struct lock *l)
{
	struct lock *twin = l->twin ? &m->locks->locks[l->twin] : NULL;
	bool stays = twin && twin->marked && twin->queue == l->queue;

	if (!stays) {
		put_free(m->queues, l->queue);
		if (twin && twin->queue == l->queue)
			twin->queue = 0;
	}
	l->queue = 0;
}

static void mark_tasks(struct model *m, const struct lockqueue_sums *s)
{
	m->tasks->tasks[s->passed_most.task].marked = 1;
	m->tasks->tasks[s->starved_most.task].marked = 1;
}

void lockqueue_mark(struct model *m)
{
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++)
		if (m->locks->locks[i].queue && !m->locks->locks[i].marked)
			forget(m, &m->locks->locks[i]);
	for (uint32_t i = 1; i < m->queues->n; i++) {
		mark_tasks(m, &m->queues->v[i].sums);
		mark_tasks(m, &m->queues->v[i].cur);
		m->tasks->tasks[m->queues->v[i].seen].marked = 1;
	}
	for (uint32_t i = 0; i < m->queues->n_parts; i++)
		mark_tasks(m, &m->queues->parts[i].sums);
}

static void end_seen(const struct model *m, struct lockqueue *q, uint64_t until_ns)
{
	if (!q->seen || !task_ended_until(&m->tasks->tasks[q->seen], until_ns))
		return;
	q->seen = TASK_OTHER;
	q->seen_ns = 0;
}

static void end_tasks(const struct model *m, struct lockqueue_sums *s, uint64_t until_ns)
{
	if (task_ended_until(&m->tasks->tasks[s->passed_most.task], until_ns))
		s->passed_most.task = TASK_OTHER;
	if (task_ended_until(&m->tasks->tasks[s->starved_most.task], until_ns))
		s->starved_most.task = TASK_OTHER;
}

void lockqueue_end_tasks(struct model *m, uint64_t until_ns)
{
	for (uint32_t i = 1; i < m->queues->n; i++) {
		end_tasks(m, &m->queues->v[i].sums, until_ns);
		end_tasks(m, &m->queues->v[i].cur, until_ns);
		end_seen(m, &m->queues->v[i], until_ns);
	}
	for (uint32_t i = 0; i < m->queues->n_parts; i++)
		end_tasks(m, &m->queues->parts[i].sums, until_ns);
}

void lockqueue_zero(struct model *m)
{
	for (uint32_t i = 1; i < m->queues->n; i++) {
		struct lockqueue *q = &m->queues->v[i];
		forget_times(m->queues, q);
		memset(q->times, 0, sizeof(q->times));
		q->times_n = q->times_min_ns = q->times_max_ns = 0;
		q->sums = (struct lockqueue_sums){0};
		q->cur = (struct lockqueue_sums){.longest = length(q)};
		q->phase_n = 0;
	}
	lockqueue_alone_zero(m);
	m->queues->no_room = m->queues->dropped_ns = 0;
	m->queues->n_parts = m->queues->next_part = 0;
}

static int copy_hists(struct hist_pool *dst, const struct hist_pool *src)
{
	*dst = *src;
	dst->cap_groups = src->n_groups;
	dst->groups =
		src->groups ? mem_dup(src->groups, src->n_groups, sizeof(*src->groups)) : NULL;
	return !src->groups || dst->groups ? 0 : -ENOMEM;
}

static int copy_queue(struct lockqueue *dst, const struct lockqueue *src)
{
	dst->places = mem_dup(src->places, src->cap, sizeof(*src->places));
	if (src->places && !dst->places)
		return -ENOMEM;
	return series_copy(&dst->series, &src->series);
}

int lockqueues_copy(struct lockqueues *dst, const struct lockqueues *src)
{
	*dst = *src;
	dst->hists = (struct hist_pool){0};
	dst->parts = NULL;
	dst->cap = src->n;
	dst->v = src->n ? mem_dup(src->v, src->n, sizeof(*src->v)) : NULL;
	if (src->n && !dst->v) {
		dst->n = 0;
		return -ENOMEM;
	}
	/* Nothing is shared, even when the copy must be given up half way. */
	for (uint32_t i = 0; i < dst->n; i++) {
		dst->v[i].places = NULL;
		dst->v[i].series = (struct series){0};
	}
	for (uint32_t i = 1; i < dst->n; i++)
		if (copy_queue(&dst->v[i], &src->v[i]) < 0)
			return -ENOMEM;
	dst->parts = mem_dup(src->parts, LOCKQUEUE_PARTS, sizeof(*src->parts));
	if (src->parts && !dst->parts)
		return -ENOMEM;
	return copy_hists(&dst->hists, &src->hists);
}

void lockqueues_clear(struct lockqueues *s)
{
	for (uint32_t i = 1; i < s->n; i++) {
		mem_free(s->v[i].places);
		series_deinit(&s->v[i].series);
	}
	mem_free(s->v);
	s->v = NULL;
	s->n = 0;
	s->cap = 0;
}

void lockqueues_deinit(struct lockqueues *s)
{
	lockqueues_clear(s);
	mem_free(s->parts);
	hist_pool_deinit(&s->hists);
	*s = (struct lockqueues){0};
}

size_t lockqueues_bytes(const struct lockqueues *s)
{
	size_t n = s->cap * sizeof(*s->v) + (s->parts ? LOCKQUEUE_PARTS * sizeof(*s->parts) : 0) +
		   s->hists.cap_groups * sizeof(*s->hists.groups);

	for (uint32_t i = 1; i < s->n; i++)
		n += s->v[i].cap * sizeof(*s->v[i].places) +
		     (s->v[i].series.v ? SERIES_LEN * sizeof(uint64_t) : 0);
	return n;
}
