// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expiries of timers and context switches, paired: an expiry begins and ends on one CPU and its
 * handler is not interrupted by itself, so a timer has at most one open expiry; a switch is a task
 * that goes off and one that comes, with nothing between them on that CPU. Events without their
 * other half are counted and never paired by a guess. A begin while one is open replaces it.
 *
 * Durations are summed up by timer at once. The events of their contexts, by which they are
 * compared, are known with the next snapshot only: see rotation-class.c.
 */
#include "internal.h"
#include "kontend/mem.h"
#include "rotation-int.h"
#include <errno.h>
#include <string.h>

static struct rotation_timer *timer_of(struct rotation *r, uint64_t timer)
{
	const uint32_t *at = map64_get(&r->by_timer, timer);

	if (at)
		return &r->timers[*at];
	if (r->n_timers == ROTATION_TIMERS ||
	    mem_grow(&r->timers, &r->cap_timers, r->n_timers, sizeof(*r->timers)) ||
	    map64_put(&r->by_timer, timer, (uint32_t)r->n_timers))
		return NULL;
	r->timers[r->n_timers] = (struct rotation_timer){.timer = timer};
	return &r->timers[r->n_timers++];
}

static int begin(struct rotation *r, const struct event *ev)
{
	struct rotation_timer *t = timer_of(r, ev->timer.timer);

	if (!t) {
		r->dropped++;
		return r->n_timers == ROTATION_TIMERS ? 0 : -ENOMEM;
	}
	t->unpaired += t->open_ns != 0;
	t->function = ev->timer.function;
	t->cpu = ev->cpu;
	t->open_ns = ev->time;
	t->open_tid = ev->tid;
	t->expiries++;
	t->cur_n++;
	return 0;
}

static int end(struct rotation *r, const struct event *ev)
{
	const uint32_t *at = map64_get(&r->by_timer, ev->timer.timer);
	struct rotation_timer *t = at ? &r->timers[*at] : NULL;

	if (!t || !t->open_ns || t->cpu != ev->cpu || ev->time < t->open_ns ||
	    t->open_ns < r->lost_until) {
		r->unmatched++;
		return 0;
	}
	uint64_t ns = ev->time - t->open_ns;
	t->open_ns = 0;
	t->cur_ns += ns;
	int e = hist_fine_add(&t->time, ns);
	rotation_sample_add(r, &(struct rotation_sample){
				       .time_ns = ev->time,
				       .ns = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns,
				       .cpu = ev->cpu,
				       .tid = t->open_tid,
				       .other = t->open_tid,
				       .timer = *at,
				       .kind = ROTATION_TIMER,
			       });
	return e;
}

static struct rotation_cpu *cpu_of(struct rotation *r, uint32_t cpu)
{
	if (cpu >= 8192)
		return NULL;
	while (cpu >= r->n_cpus) {
		if (mem_grow(&r->cpus, &r->cap_cpus, r->n_cpus, sizeof(*r->cpus)))
			return NULL;
		r->cpus[r->n_cpus++] = (struct rotation_cpu){0};
	}
	return &r->cpus[cpu];
}

/* The outgoing task's event names the next one, and the other way round: both must agree. */
static int switched(struct rotation *r, const struct event *ev)
{
	struct rotation_cpu *c = cpu_of(r, ev->cpu);

	r->switch_records++;
	r->switch_bytes += ev->sw.size;
	if (!c) {
		r->dropped++;
		return ev->cpu >= 8192 ? 0 : -ENOMEM;
	}
	if (ev->sw.out) {
		c->out_ns = ev->time;
		c->out_tid = ev->tid;
		return 0;
	}
	uint64_t from = c->out_ns;
	c->out_ns = 0;
	if (!from || ev->time < from || from < r->lost_until || ev->sw.other != c->out_tid) {
		r->unmatched++;
		return 0;
	}
	c->n++;
	c->cur_n++;
	uint64_t ns = ev->time - from;
	rotation_sample_add(r, &(struct rotation_sample){
				       .time_ns = ev->time,
				       .ns = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns,
				       .cpu = ev->cpu,
				       .tid = ev->tid,
				       .other = c->out_tid,
				       .kind = ROTATION_SWITCH,
			       });
	return 0;
}

int rotation_event(struct rotation *r, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_TIMER_ENTRY:
		return begin(r, ev);
	case EVENT_TIMER_EXIT:
		return end(r, ev);
	default:
		return switched(r, ev);
	}
}

void rotation_burst(struct rotation *r, const struct record_burst *b)
{
	if (b->to_ns <= b->from_ns)
		return;
	r->switch_ns += b->to_ns - b->from_ns;
	r->cur_switch_ns += b->to_ns - b->from_ns;
	r->bursts++;
	r->own_ps = b->own_ps;
	r->turn_ns += b->turn_ns;
	r->drain_ns += b->drain_ns;
	r->drain_bytes += b->drain_bytes;
	for (size_t i = 0; i < r->n_cpus; i++)
		r->cpus[i].out_ns = 0;
}

void rotation_lost(struct rotation *r, uint64_t until_ns)
{
	if (until_ns > r->lost_until)
		r->lost_until = until_ns;
	for (size_t i = 0; i < r->n_timers; i++) {
		r->timers[i].unpaired += r->timers[i].open_ns != 0;
		r->timers[i].open_ns = 0;
	}
	for (size_t i = 0; i < r->n_cpus; i++)
		r->cpus[i].out_ns = 0;
}

void rotation_tick(struct rotation *r, uint64_t tick)
{
	for (size_t i = 0; i < r->n_timers; i++) {
		struct rotation_timer *t = &r->timers[i];
		series_push(&t->n_series, tick, t->cur_n);
		series_push(&t->ns_series, tick, t->cur_ns);
		t->rate_n = t->cur_n;
		t->rate_ns = t->cur_ns;
		t->cur_n = t->cur_ns = 0;
	}
	for (size_t i = 0; i < r->n_cpus; i++) {
		r->cpus[i].rate_n = r->cpus[i].cur_n;
		r->cpus[i].cur_n = 0;
	}
	r->rate_switch_ns = r->cur_switch_ns;
	r->cur_switch_ns = 0;
}

static void drop_points(struct rotation *r)
{
	for (size_t i = 0; i < r->n_points; i++)
		hist_fine_deinit(&r->points[i].time);
	r->n_points = 0;
}

void rotation_zero(struct rotation *r)
{
	for (size_t i = 0; i < r->n_timers; i++) {
		r->timers[i].expiries = r->timers[i].unpaired = 0;
		hist_fine_clear(&r->timers[i].time);
	}
	for (size_t i = 0; i < r->n_cpus; i++) {
		r->cpus[i].n = 0;
		hist_fine_clear(&r->cpus[i].plain);
		hist_fine_clear(&r->cpus[i].loaded);
	}
	drop_points(r);
	r->n_samples = 0;
	r->dropped = r->unmatched = r->unclassed = r->changed = r->switch_ns = r->bursts = 0;
	r->switch_records = r->switch_bytes = r->turn_ns = r->drain_ns = r->drain_bytes = 0;
}

void rotation_deinit(struct rotation *r)
{
	for (size_t i = 0; i < r->n_timers; i++) {
		hist_fine_deinit(&r->timers[i].time);
		series_deinit(&r->timers[i].n_series);
		series_deinit(&r->timers[i].ns_series);
	}
	for (size_t i = 0; i < r->n_cpus; i++) {
		hist_fine_deinit(&r->cpus[i].plain);
		hist_fine_deinit(&r->cpus[i].loaded);
	}
	drop_points(r);
	map64_deinit(&r->by_timer);
	mem_free(r->timers);
	mem_free(r->samples);
	mem_free(r->points);
	mem_free(r->cpus);
	*r = (struct rotation){0};
}

/* @n of @array; what has memory of its own is shared until it is copied, too. */
static int copy_array(void *ret, size_t *cap, const void *array, size_t n, size_t size)
{
	void *copy = mem_dup(n ? array : NULL, n, size);

	*cap = copy ? n : 0;
	memcpy(ret, &copy, sizeof(copy));
	return copy || !n ? 0 : -ENOMEM;
}

static int copy_timers(struct rotation *dst, const struct rotation *src)
{
	int e = copy_array(&dst->timers, &dst->cap_timers, src->timers, src->n_timers,
			   sizeof(*src->timers));

	dst->n_timers = e ? 0 : src->n_timers;
	for (size_t i = 0; i < dst->n_timers; i++) {
		dst->timers[i].time = (struct hist_fine){0};
		dst->timers[i].n_series = dst->timers[i].ns_series = (struct series){0};
	}
	for (size_t i = 0; !e && i < dst->n_timers; i++) {
		e = hist_fine_copy(&dst->timers[i].time, &src->timers[i].time);
		if (!e)
			e = series_copy(&dst->timers[i].n_series, &src->timers[i].n_series);
		if (!e)
			e = series_copy(&dst->timers[i].ns_series, &src->timers[i].ns_series);
	}
	return e ? e : map64_copy(&dst->by_timer, &src->by_timer);
}

static int copy_cpus(struct rotation *dst, const struct rotation *src)
{
	int e = copy_array(&dst->cpus, &dst->cap_cpus, src->cpus, src->n_cpus, sizeof(*src->cpus));

	dst->n_cpus = e ? 0 : src->n_cpus;
	for (size_t i = 0; i < dst->n_cpus; i++)
		dst->cpus[i].plain = dst->cpus[i].loaded = (struct hist_fine){0};
	for (size_t i = 0; !e && i < dst->n_cpus; i++) {
		e = hist_fine_copy(&dst->cpus[i].plain, &src->cpus[i].plain);
		if (!e)
			e = hist_fine_copy(&dst->cpus[i].loaded, &src->cpus[i].loaded);
	}
	return e;
}

static int copy_points(struct rotation *dst, const struct rotation *src)
{
	int e = copy_array(&dst->points, &dst->cap_points, src->points, src->n_points,
			   sizeof(*src->points));

	dst->n_points = e ? 0 : src->n_points;
	for (size_t i = 0; i < dst->n_points; i++)
		dst->points[i].time = (struct hist_fine){0};
	for (size_t i = 0; !e && i < dst->n_points; i++)
		e = hist_fine_copy(&dst->points[i].time, &src->points[i].time);
	return e;
}

int rotation_copy(struct rotation *dst, const struct rotation *src)
{
	*dst = (struct rotation){
		.dropped = src->dropped,
		.unmatched = src->unmatched,
		.unclassed = src->unclassed,
		.changed = src->changed,
		.switch_ns = src->switch_ns,
		.bursts = src->bursts,
		.own_ps = src->own_ps,
		.switch_records = src->switch_records,
		.switch_bytes = src->switch_bytes,
		.turn_ns = src->turn_ns,
		.drain_ns = src->drain_ns,
		.drain_bytes = src->drain_bytes,
		.cur_switch_ns = src->cur_switch_ns,
		.rate_switch_ns = src->rate_switch_ns,
	};
	int e = copy_timers(dst, src);
	if (!e)
		e = copy_cpus(dst, src);
	if (!e)
		e = copy_array(&dst->samples, &dst->cap_samples, src->samples, src->n_samples,
			       sizeof(*src->samples));
	dst->n_samples = e ? 0 : src->n_samples;
	if (!e)
		e = copy_points(dst, src);
	if (e)
		rotation_deinit(dst);
	return e;
}

size_t rotation_bytes(const struct rotation *r)
{
	const size_t fine = HIST_FINE_BUCKETS * sizeof(uint32_t);
	size_t n = r->cap_timers * sizeof(*r->timers) + r->cap_samples * sizeof(*r->samples) +
		   r->cap_points * sizeof(*r->points) + r->cap_cpus * sizeof(*r->cpus);

	for (size_t i = 0; i < r->n_timers; i++)
		n += (r->timers[i].time.count ? fine : 0) +
		     (r->timers[i].n_series.v ? 2 * SERIES_LEN * sizeof(uint64_t) : 0);
	for (size_t i = 0; i < r->n_points; i++)
		n += r->points[i].time.count ? fine : 0;
	for (size_t i = 0; i < r->n_cpus; i++)
		n += (r->cpus[i].plain.count ? fine : 0) + (r->cpus[i].loaded.count ? fine : 0);
	return n;
}
