// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures from the events of mmap_locks: sums for a row, the error of counts, and hold times by
 * call path; and how they are measured: the level, the share of events that passes now, and their
 * cost. The cost is the rate of events times the measured cost of one.
 *
 * Counts may come from bursts. Their error is that of an estimate by a ratio: each burst is one
 * observation, however many events it has, as events of one burst depend on each other. With few
 * bursts the spread is uncertain, which the quantiles of t take into account; and bursts may be
 * alike by chance, so we assume one more, in which a quarter is missing.
 *
 * Hold times by call path are rows of the table "mmap", summed up like waits, of a model whose
 * cells are those times and which has no waits in flight. Modes are separate: if a write lock
 * becomes a read lock, one call path got both.
 */
#include "../rows.h"
#include "kontend/cell.h"
#include "kontend/filelock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/query-hist.h"
#include "list.h"
#include "locks/queues.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* 97.5 % of the t distributions of 1 to 20 degrees of freedom. */
static const double t_quantiles[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				     2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
				     2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

static double t_quantile(uint64_t freedom)
{
	const uint64_t n = sizeof(t_quantiles) / sizeof(*t_quantiles);

	return freedom <= n ? t_quantiles[freedom - 1] : 1.96 + 2.5 / (double)freedom;
}

double query_mmap_deviation(const struct mmlock_mode *m, const struct mmlocks *l)
{
	double part = l->size > 0 ? (double)m->before / l->size : 0;
	double rest = m->squares - 2 * part * m->products + part * part * l->sizes_squared;

	return rest > 0 ? sqrt(rest) : 0;
}

/* Acquisitions that were measured did happen; all others may be of this row. */
static double largest_error(const struct query_mmap_events *e, double scale, double all)
{
	double seen = (double)e->before, estimate = seen * scale, unseen = all - all / scale;
	double above = seen + unseen - estimate, below = estimate - seen;

	return above > below ? above : below;
}

double query_mmap_error(const struct query_mmap_events *e, const struct mmlocks *l, double scale,
			double all)
{
	double n = (double)l->bursts, quarter = n > 0 ? (double)e->before / n / 4 : 0;

	if (l->bursts < 2)
		return all > 0 && l->bursts ? largest_error(e, scale, all) : -1;
	double spread = e->deviation * e->deviation + quarter * quarter;
	double error =
		t_quantile(l->bursts - 1) * scale * sqrt(n / (n - 1) * spread * (1 - 1 / scale));
	return all > 0 ? fmin(error, largest_error(e, scale, all)) : error;
}

static void add_times(struct query_hist *to, const struct mmlock_times *from)
{
	if (!from->n)
		return;
	to->min_ns = !to->n_waits || from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->n_waits += from->n;
	to->total_ns += from->total_ns;
}

void query_mmap_add(struct query_mmap_events *to, const struct mmlocks *l, uint32_t mode,
		    uint32_t *next)
{
	const struct mmlock_mode *m = &l->mms[mode / 2].mode[mode % 2];

	to->acquired += m->acquired;
	to->failed += m->failed;
	to->before += m->before;
	/* Not more than this in sum, however they go together. */
	to->deviation += query_mmap_deviation(m, l);
	add_times(&to->wait, &m->wait);
	add_times(&to->hold, &m->hold);
	next[mode] = to->first;
	to->first = mode + 1;
}

void query_mmap_hists(const struct query_mmap_events *e, const struct mmlocks *l,
		      const uint32_t *next, struct hist *wait, struct hist *hold)
{
	*wait = *hold = (struct hist){0};
	for (uint32_t i = e->first; i; i = next[i - 1]) {
		const struct mmlock_mode *m = &l->mms[(i - 1) / 2].mode[(i - 1) % 2];
		hist_pool_sum(&l->hists, m->wait.hist, wait);
		hist_pool_sum(&l->hists, m->hold.hist, hold);
	}
}

int query_mmap_row(struct query *q, enum query_by by, uint64_t id, struct query_mmap_row *ret)
{
	const struct mmlocks *l = q->model->mmlocks;
	uint32_t *next = arena_alloc(&q->arena, (2 * l->n + 1) * sizeof(*next));
	struct query_mmap_events e = {0};
	struct hist wait, hold;

	*ret = (struct query_mmap_row){0};
	if (!next || query_sync(q) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * l->n; i++) {
		struct query_mmap_owner o;
		uint64_t addr = query_mmap_owner_of(q, i / 2, &o);
		if (query_mmap_row_id(by, &o, addr, i % 2 == 0) == id)
			query_mmap_add(&e, l, i, next);
	}
	query_mmap_hists(&e, l, next, &wait, &hold);
	ret->acquired = e.acquired;
	ret->failed = e.failed;
	ret->wait = e.wait;
	ret->hold = e.hold;
	int code = query_hist_make(q, &wait, &ret->wait);
	return code < 0 ? code : query_hist_make(q, &hold, &ret->hold);
}

static void sum_how(const struct mmlocks *l, struct query_mmap_sum *s)
{
	s->level = l->how_known ? l->how->level : l->n_events ? MMLEVEL_ALL : MMLEVEL_CONTENDED;
	s->asked = l->how_known ? l->how->asked : s->level;
	s->one_in = l->how_known ? l->how->one_in : 1;
	s->event_ns = l->how_known ? l->how->event_ns : 0;
	s->missing = l->how_known ? l->how->reason : "";
	s->paths = l->how->paths;
	s->events = l->n_events;
	s->unpaired = l->asked_only + l->held_only + l->release_only;
	s->asked_only = l->asked_only;
	s->held_only = l->held_only;
	s->release_only = l->release_only;
	s->tried = l->tried;
	s->downgraded = l->downgraded;
	s->dropped = l->dropped;
}

/*
 * The number of acquisitions that each recorded one represents. Scaling by time would be wrong: the
 * more writing events slows a program down, the fewer of them are recorded. The counts of all
 * events give their true number up to the end of the last burst. They are compared with the
 * recorded events and not with the count within the bursts: switching events on and off takes time,
 * in which some occur.
 */
static double scale_of(const struct model *m, uint64_t seen_ns, bool *ret_counted)
{
	const struct mmlocks *l = m->mmlocks;
	uint64_t elapsed = query_elapsed(m), since = m->now_ns - elapsed;
	double reported = l->seen_until > since ? (double)(l->seen_until - since) : 0;
	enum { ENOUGH = 100 };

	*ret_counted = l->how->level == MMLEVEL_SAMPLED && l->counted && reported > 0 &&
		       l->got_before >= ENOUGH;
	if (!*ret_counted)
		return seen_ns && elapsed > seen_ns ? (double)elapsed / (double)seen_ns : 1;
	double scale = (double)l->counted / (double)l->got_before;
	scale = scale < 1 ? 1 : scale;
	return (double)elapsed > reported ? scale * ((double)elapsed / reported) : scale;
}

/* Does any look at the locks say what one belongs to? Those of files come from /proc. */
static bool any_named(const struct lockname_set *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (!filelock_is(s->names[i].addr))
			return true;
	return false;
}

int query_mmap_sum(struct query *q, bool average, struct query_mmap_sum *ret)
{
	const struct locksnap *snap = query_queues(q);
	const struct model *m = q->model;
	const struct mmlocks *l = m->mmlocks;
	uint64_t elapsed = query_elapsed(m);
	struct query_mmap_sum s = {
		.known = any_named(m->lock_names) || (l->n && l->lock_offset),
		.reason = snap ? locksnap_text(snap, snap->head.reason) : "",
	};

	sum_how(l, &s);
	s.seen_ns = s.level == MMLEVEL_SAMPLED	   ? l->seen_ns
		    : s.level == MMLEVEL_CONTENDED ? 0
						   : elapsed;
	s.scale = scale_of(m, s.seen_ns, &s.counted);
	s.events_per_s = average ? query_per_s(l->n_events, m->now_ns - m->start_ns)
				 : query_per_s(l->rate_n, m->rate_ns);
	s.cost_pct = s.events_per_s * (double)s.event_ns / 1e7;
	*ret = s;
	return 0;
}

const char *query_mmap_level_text(struct query *q, const struct query_mmap_sum *s)
{
	const char *text = mmlevel_name(s->level);

	if (s->level == MMLEVEL_SAMPLED)
		text = arena_printf(&q->arena, "%s, 1/%" PRIu32 " of the time", text, s->one_in);
	if (text && s->paths)
		text = arena_printf(&q->arena, "%s, with call paths", text);
	return text ? text : "";
}

const char *query_mmap_none(struct query *q, enum query_by by, const struct query_mmap_sum *s)
{
	const char *text = "no task has waited for an mmap_lock yet";

	if (by == BY_STACK && !s->paths)
		return "call paths that hold mmap_locks are measured with --mmap all,paths, which "
		       "costs most";
	if (by == BY_STACK)
		return "no mmap_lock was got and given back yet";
	if (s->level != MMLEVEL_CONTENDED)
		text = "no mmap_lock was taken yet";
	else if (!s->known && *s->reason)
		text = arena_printf(&q->arena, "which locks are mmap_locks is not known: %s",
				    s->reason);
	else if (!s->known)
		text = "no snapshot of locks says which are mmap_locks";
	return text ? text : "";
}

int query_mmap_paths(struct query *q, const struct query_scope *scope, bool write,
		     struct groups *ret)
{
	struct query_scope of_mode = *scope;
	const struct model *whole = q->model,
			   *times = query_model_of_cells(q, whole, whole->mm_held);

	if (!times)
		return -ENOMEM;
	of_mode.mask |= 1u << BY_TYPE;
	of_mode.id[BY_TYPE] = write ? LOCK_RWSEM_W : LOCK_RWSEM_R;
	q->model = times;
	int code = query_group(q, BY_STACK, &of_mode, ret);
	q->model = whole;
	return code;
}

void query_mmap_path_hist(struct query *q, const struct groups *gs, const struct group *g,
			  struct hist *ret)
{
	const struct cell_table *t = q->model->mm_held;

	*ret = (struct hist){0};
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		cell_hist(t, &t->cells[i - 1], ret);
}
