// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durations by the events that were there. Which task has how many events the stream tells once a
 * tick, in the snapshot of perf events, after what it is to explain; so durations wait for the next
 * snapshot that is not older than they are. Those of timers become points (events in the contexts
 * of the CPU and of the task that ran, time); those of switches too, and they are told apart by
 * whether one of the two tasks had events at all: those without are the baseline.
 */
#include "kontend/mem.h"
#include "kontend/snap.h"
#include "rotation-int.h"
#include <linux/perf_event.h>

/* Events by (task, CPU): those of a PMU with counters, and all. Task 0 is a CPU's own context. */
struct census {
	struct map64 counters, all;
	struct map64 contexts; /* counters by task, for whatever CPU: what a tick goes through */
	bool failed;
};

static uint64_t key_of(int32_t tid, int32_t cpu)
{
	return (uint64_t)(uint32_t)tid << 32 | (uint32_t)(cpu + 1);
}

static void count_up(struct census *c, struct map64 *map, uint64_t key)
{
	uint32_t *n = map64_get(map, key);

	if (n)
		++*n;
	else if (map64_put(map, key, 1))
		c->failed = true;
}

static uint32_t count_of(const struct map64 *map, uint64_t key)
{
	const uint32_t *n = map64_get(map, key);

	return n ? *n : 0;
}

/* Does it take a counter of hardware? Other PMUs have room for any number of events. */
static bool takes_counter(const struct snap_event *e)
{
	return e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_HW_CACHE ||
	       e->type == PERF_TYPE_RAW || (e->flags & SNAP_ROTATES);
}

static void take_census(struct census *c, const struct snap *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (e->state < SNAP_INACTIVE)
			continue;
		uint64_t key = key_of(e->target_tid, e->cpu);
		count_up(c, &c->all, key);
		if (!takes_counter(e))
			continue;
		count_up(c, &c->counters, key);
		if (e->target_tid)
			count_up(c, &c->contexts, (uint32_t)e->target_tid);
	}
}

/* Of the task, on that CPU. */
static uint32_t events_of(const struct map64 *map, int32_t tid, uint32_t cpu)
{
	if (tid <= 0)
		return 0;
	return count_of(map, key_of(tid, -1)) + count_of(map, key_of(tid, (int32_t)cpu));
}

void rotation_sample_add(struct rotation *r, const struct rotation_sample *s)
{
	if (r->n_samples == ROTATION_SAMPLES ||
	    mem_grow(&r->samples, &r->cap_samples, r->n_samples, sizeof(*r->samples))) {
		r->dropped++;
		return;
	}
	r->samples[r->n_samples++] = *s;
}

static struct rotation_point *point_of(struct rotation *r, uint64_t key, uint32_t cpu,
				       uint32_t events, uint32_t whole)
{
	for (size_t i = 0; i < r->n_points; i++) {
		struct rotation_point *p = &r->points[i];
		if (p->key == key && p->cpu == cpu && p->events == events && p->whole == whole)
			return p;
	}
	if (r->n_points == ROTATION_POINTS ||
	    mem_grow(&r->points, &r->cap_points, r->n_points, sizeof(*r->points)))
		return NULL;
	r->points[r->n_points] =
		(struct rotation_point){.key = key, .cpu = cpu, .events = events, .whole = whole};
	return &r->points[r->n_points++];
}

static void add_point(struct rotation *r, uint64_t key, uint32_t events, uint32_t whole,
		      const struct rotation_sample *s)
{
	struct rotation_point *p = point_of(r, key, s->cpu, events, whole);

	if (!p) {
		r->dropped++;
		return;
	}
	if (fine_add(&p->time, s->ns))
		r->dropped++;
}

static void class_timer(struct rotation *r, const struct census *c, const struct rotation_sample *s)
{
	uint32_t events = count_of(&c->counters, key_of(0, (int32_t)s->cpu)) +
			  events_of(&c->counters, s->tid, s->cpu);
	uint32_t whole = s->tid > 0 ? count_of(&c->contexts, (uint32_t)s->tid) : 0;

	add_point(r, r->timers[s->timer].function, events, whole, s);
}

static void class_switch(struct rotation *r, const struct census *c,
			 const struct rotation_sample *s)
{
	struct rotation_cpu *cpu = &r->cpus[s->cpu];
	uint32_t events = events_of(&c->all, s->tid, s->cpu) + events_of(&c->all, s->other, s->cpu);

	if (fine_add(events ? &cpu->loaded : &cpu->plain, s->ns))
		r->dropped++;
	add_point(r, 0, events, events, s);
}

static void class_all(struct rotation *r, const struct census *c, uint64_t until_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct rotation_sample *s = &r->samples[i];
		if (s->time_ns > until_ns)
			r->samples[kept++] = *s;
		else if (s->kind == ROTATION_TIMER)
			class_timer(r, c, s);
		else
			class_switch(r, c, s);
	}
	r->n_samples = kept;
}

void rotation_class(struct rotation *r, const struct snapshot *perf)
{
	struct census c = {0};
	struct snap s = {0};

	/* Its time is that of the tick which closes what it is to explain. */
	if (!r->n_samples || !perf || perf->head.time_ns < r->samples[0].time_ns)
		return;
	if (snap_decode(&s, perf->bytes, perf->len) == 0 &&
	    !(s.head.missing & (SNAP_NO_EVENTS | SNAP_NO_CONTEXTS)))
		take_census(&c, &s);
	else
		c.failed = true;
	if (c.failed) {
		r->unclassed += r->n_samples;
		r->n_samples = 0;
	} else {
		class_all(r, &c, perf->head.time_ns);
	}
	map64_deinit(&c.counters);
	map64_deinit(&c.all);
	map64_deinit(&c.contexts);
	snap_deinit(&s);
}
