// SPDX-License-Identifier: GPL-2.0-only
/*
 * The amount of missing data, in the sums and in the closed bucket. All figures are differences of
 * counters that the model has anyway. A gap lies between two records of a ring, so the loss may
 * belong to any bucket that it overlaps: it is counted in each of them.
 */
#include "kontend/loss.h"
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/model-cpu.h"
#include "kontend/units.h"
#include "kontend/wait.h"

static bool was_lost(const struct model *m)
{
	return m->damage->lost || m->damage->dropped || m->loss->uncounted || m->lost_until;
}

static struct loss since_start(const struct model *m)
{
	const struct model_damage *d = m->damage;

	return (struct loss){
		.seen = m->n_events + m->loss->others,
		.lost = d->lost + d->dropped,
		.of_profile = m->loss->of_profile < d->lost ? m->loss->of_profile : d->lost,
		.doubtful = d->doubtful,
		.unpaired = d->unmatched_end,
		.uncounted = m->loss->uncounted + m->loss->throttled + d->bad,
		.throttled_profiles = d->throttled - m->loss->throttled,
	};
}

static uint64_t count_waiting(const struct model *m)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < m->waits->high; i++)
		n += m->waits->waits[i].used && m->waits->waits[i].doubtful;
	return n;
}

/* Rings that are known to be full, of what they have lost they have not said yet. */
static uint64_t count_unreported(const struct model *m)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->n_cpus; i++)
		n += m->cpus[i].unreported;
	return n;
}

/* Ends without a begin, if nothing was lost, belong to waits from before measuring. */
static struct loss since(const struct model *m, const struct loss *from)
{
	struct loss l = since_start(m);

	l.seen -= from->seen;
	l.lost -= from->lost;
	l.of_profile -= from->of_profile;
	l.doubtful -= from->doubtful;
	l.uncounted -= from->uncounted;
	l.throttled_profiles -= from->throttled_profiles;
	l.unpaired = was_lost(m) ? l.unpaired - from->unpaired : 0;
	if (was_lost(m)) {
		l.waiting = count_waiting(m);
		l.uncounted += count_unreported(m);
	}
	return l;
}

/* A time begins within the gaps that last until then. */
static struct loss begin(const struct model *m, uint64_t time_ns)
{
	struct loss l = since_start(m);

	if (time_ns < m->lost_until) {
		l.lost -= m->loss->gap;
		l.uncounted -= m->loss->gap_uncounted;
	}
	return l;
}

void loss_add_gap(struct model *m, uint64_t from_ns, uint64_t n)
{
	if (from_ns >= m->lost_until)
		m->loss->gap = m->loss->gap_uncounted = 0;
	m->loss->gap += n;
}

void loss_add_unknown(struct model *m, uint64_t from_ns)
{
	loss_add_gap(m, from_ns, 0);
	m->loss->gap_uncounted++;
	m->loss->uncounted++;
}

void loss_begin_sums(struct model *m)
{
	m->loss->sums = begin(m, m->now_ns);
}

void loss_begin_range(struct model *m)
{
	m->loss->range = m->loss->sums;
}

void loss_tick(struct model *m, uint64_t time_ns)
{
	m->loss->closed = since(m, &m->loss->bucket);
	m->loss->bucket = begin(m, time_ns);
}

struct loss loss_of_sums(const struct model *m)
{
	return since(m, &m->loss->sums);
}

struct loss loss_of_range(const struct model *m)
{
	return since(m, &m->loss->range);
}

double loss_pct(const struct loss *l)
{
	uint64_t all = l->seen + l->lost;

	return units_percent(l->lost, all);
}

static uint64_t lost_of_waits(const struct loss *l)
{
	return l->lost - (l->of_profile < l->lost ? l->of_profile : l->lost);
}

double loss_waits_pct(const struct loss *l)
{
	uint64_t lost = lost_of_waits(l), all = l->seen + lost;

	return units_percent(lost, all);
}

bool loss_any(const struct loss *l)
{
	return l->lost || l->doubtful || l->unpaired || l->waiting || l->uncounted ||
	       l->throttled_profiles;
}

bool loss_waits(const struct loss *l, uint64_t *ret)
{
	*ret = lost_of_waits(l) + l->doubtful + l->unpaired;
	return !l->uncounted;
}
