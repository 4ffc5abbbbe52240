// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durations by the events of that time. The stream has the number of events of each task now and
 * then, in snapshots of perf events; so a duration waits for the snapshot after it, and counts if
 * that one and the one before have the same events where it matters: on its CPU and of its tasks,
 * which must have been there at both. Then nothing that lasts has changed between. Durations that
 * do not agree are left out, and counted.
 *
 * Those of timers become points (events in the contexts of the CPU and of the task that ran, time);
 * those of switches too, which are separated by whether one of the two tasks had events at all:
 * those without are the baseline.
 */
#include "census.h"
#include "kontend/mem.h"
#include "kontend/task.h"
#include "rotation-int.h"

/* The events and tasks of two moments. */
struct span {
	struct census before, now;
	uint64_t from_ns, to_ns;
	const struct task_table *tasks;
};

void rotation_sample_add(struct rotation *r, const struct rotation_sample *s)
{
	if (r->n_samples == ROTATION_SAMPLES ||
	    mem_grow(&r->samples, &r->cap_samples, r->n_samples, sizeof(*r->samples))) {
		r->dropped++;
		return;
	}
	r->samples[r->n_samples++] = *s;
}

static bool is_of(const struct rotation_point *p, const struct rotation_point *like)
{
	return p->key == like->key && p->cpu == like->cpu && p->events == like->events &&
	       p->whole == like->whole && p->idle == like->idle;
}

static struct rotation_point *point_of(struct rotation *r, const struct rotation_point *like)
{
	for (size_t i = 0; i < r->n_points; i++) {
		if (is_of(&r->points[i], like))
			return &r->points[i];
	}
	if (r->n_points == ROTATION_POINTS ||
	    mem_grow(&r->points, &r->cap_points, r->n_points, sizeof(*r->points)))
		return NULL;
	r->points[r->n_points] = *like;
	return &r->points[r->n_points++];
}

static void add_point(struct rotation *r, const struct rotation_point *like, uint32_t ns)
{
	struct rotation_point *p = point_of(r, like);

	if (!p || hist_fine_add(&p->time, ns))
		r->dropped++;
}

/* Idle is not a task that comes and goes. A task that is not known any more has exited. */
static bool was_there(const struct span *s, int32_t tid)
{
	const uint32_t *at = tid > 0 ? map64_get(&s->tasks->by_tid, (uint32_t)tid) : NULL;

	return tid <= 0 || (at && s->tasks->tasks[*at].start_ns <= s->from_ns);
}

static void add_task(struct census_count *sum, const struct census *c, enum census_what what,
		     int32_t tid, uint32_t cpu)
{
	if (tid <= 0)
		return;
	census_add(sum, c, what, tid, -1);
	if (what != CENSUS_TICK)
		census_add(sum, c, what, tid, (int32_t)cpu);
}

/* The events of the CPU itself and of the task that ran. */
static struct census_count of_timer(const struct census *c, enum census_what what,
				    const struct rotation_sample *s)
{
	struct census_count n = {0};

	census_add(&n, c, what, 0, (int32_t)s->cpu);
	add_task(&n, c, what, s->tid, s->cpu);
	return n;
}

static struct census_count of_switch(const struct census *c, const struct rotation_sample *s)
{
	struct census_count n = {0};

	add_task(&n, c, CENSUS_ALL, s->tid, s->cpu);
	add_task(&n, c, CENSUS_ALL, s->other, s->cpu);
	return n;
}

/* The time of the switch without the records that report it. */
static uint32_t without_records(const struct rotation *r, uint32_t ns, uint32_t events)
{
	uint64_t own = r->own_ps < UINT32_MAX ? r->own_ps * events / 1000 : UINT64_MAX;

	return own < ns ? ns - (uint32_t)own : 0;
}

static bool agree(const struct census_count *a, const struct census_count *b)
{
	return a->n == b->n && a->ids == b->ids;
}

static bool class_timer(struct rotation *r, const struct span *p, const struct rotation_sample *s)
{
	struct census_count events = of_timer(&p->now, CENSUS_COUNTERS, s),
			    whole = of_timer(&p->now, CENSUS_TICK, s),
			    events_before = of_timer(&p->before, CENSUS_COUNTERS, s),
			    whole_before = of_timer(&p->before, CENSUS_TICK, s);

	if (!agree(&events, &events_before) || !agree(&whole, &whole_before))
		return false;
	add_point(r,
		  &(struct rotation_point){.key = r->timers[s->timer].function,
					   .cpu = s->cpu,
					   .events = events.n,
					   .whole = whole.n,
					   .idle = s->tid <= 0},
		  s->ns);
	return true;
}

static bool class_switch(struct rotation *r, const struct span *p, const struct rotation_sample *s)
{
	struct census_count events = of_switch(&p->now, s), before = of_switch(&p->before, s);
	struct census_count off = {0};
	struct rotation_cpu *cpu = &r->cpus[s->cpu];

	if (!agree(&events, &before))
		return false;
	add_task(&off, &p->now, CENSUS_ALL, s->other, s->cpu);
	uint32_t ns = without_records(r, s->ns, off.n);
	if (hist_fine_add(events.n ? &cpu->loaded : &cpu->plain, ns))
		r->dropped++;
	add_point(r, &(struct rotation_point){.cpu = s->cpu, .events = events.n, .whole = off.n},
		  ns);
	return true;
}

static void class_one(struct rotation *r, const struct span *p, const struct rotation_sample *s)
{
	bool known = was_there(p, s->tid) && was_there(p, s->other);

	if (s->time_ns < p->from_ns)
		r->unclassed++;
	else if (!known ||
		 !(s->kind == ROTATION_TIMER ? class_timer(r, p, s) : class_switch(r, p, s)))
		r->changed++;
}

/* Classes the durations up to @until_ns, with the snapshots around them (NULL: none). */
static void class_all(struct rotation *r, const struct span *p, uint64_t until_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		struct rotation_sample s = r->samples[i];
		if (s.time_ns > until_ns)
			r->samples[kept++] = s;
		else if (p)
			class_one(r, p, &s);
		else
			r->unclassed++;
	}
	r->n_samples = kept;
}

void rotation_look(struct rotation *r, const struct rotation_looks *l)
{
	struct span p = {.tasks = l->tasks};

	if (!r->n_samples || !l->now)
		return;
	p.to_ns = l->now->head.time_ns;
	bool known = l->before && census_take(&p.before, l->before, l->pmus) == 0 &&
		     census_take(&p.now, l->now, l->pmus) == 0;
	if (known)
		p.from_ns = l->before->head.time_ns;
	class_all(r, known ? &p : NULL, p.to_ns);
	census_deinit(&p.before);
	census_deinit(&p.now);
}
