// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks: a group of locks, each with its holders and a counter of waiting tasks; a group of CPUs,
 * with the tasks that spin on them; and tasks by process, with the locks that they sleep for.
 */
#include "kontend/mem.h"
#include "kontend/taskid.h"
#include "perfetto-int.h"

#include <errno.h>
#include <stdio.h>

/* A uuid consists of the kind, a number within that kind, and the number of the track (lane). */
enum uuid_kind {
	UUID_ALL = 1,
	UUID_GROUP,
	UUID_LOCK,
	UUID_WAITERS,
	UUID_THREAD,
	UUID_CPU,
	UUID_PROCESS,
};
enum {
	KIND_SHIFT = 56,
	LANE_BITS = 8,
	ORDER_LEXICOGRAPHIC = 1,
	ORDER_EXPLICIT = 3,
	UNIT_COUNT = 2
};
enum { GROUP_LOCKS, GROUP_CPUS };

static uint64_t uuid(enum uuid_kind kind, uint64_t number, uint64_t lane)
{
	return (uint64_t)kind << KIND_SHIFT | number << LANE_BITS | lane;
}

/* Makes @d describe track @id, the child of @above; 0: it has no parent. */
static void describe(track_descriptor *d, uint64_t id, uint64_t above, const char *name)
{
	*d = (track_descriptor)PERFETTO__TRACK_DESCRIPTOR__INIT;
	d->has_uuid = true;
	d->uuid = id;
	d->has_parent_uuid = above != 0;
	d->parent_uuid = above;
	d->has_name = name != NULL;
	if (name)
		d->name = perfetto_bytes(name);
}

static struct perfetto_track *track_at(struct perfetto *p, enum perfetto_kind kind, size_t number)
{
	struct perfetto_tracks *of = &p->tracks[kind];

	while (of->n <= number) {
		if (mem_grow(&of->list, &of->cap, of->n, sizeof(*of->list)) < 0) {
			perfetto_fail(p, -ENOMEM);
			return NULL;
		}
		of->list[of->n++] = (struct perfetto_track){0};
	}
	return &of->list[number];
}

/*
 * Is the lane free from @from to @to? Perfetto handles events with equal times in the order in
 * which they were written. So a slice may begin when an earlier one ends, but it must not end when
 * one that is already there begins.
 */
static bool is_free(const struct perfetto_lane *l, uint64_t from, uint64_t to)
{
	if (from < l->floor)
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (from < l->spans[i].to && l->spans[i].from <= to)
			return false;
	return true;
}

/* A full lane drops the slice that ends first; from then on nothing may begin before that end. */
static void occupy(struct perfetto_lane *l, uint64_t from, uint64_t to)
{
	uint32_t at = l->n;

	if (l->n == PERFETTO_SPANS) {
		at = 0;
		for (uint32_t i = 1; i < l->n; i++)
			if (l->spans[i].to < l->spans[at].to)
				at = i;
		if (l->spans[at].to > l->floor)
			l->floor = l->spans[at].to;
	} else {
		l->n++;
	}
	l->spans[at] = (struct perfetto_span){from, to};
}

/* The index of a free lane of @t; *ret_new: the lane has to be declared. */
static size_t lane_of(struct perfetto *p, struct perfetto_track *t, uint64_t from, uint64_t to,
		      bool *ret_new)
{
	size_t at = 0;

	while (at < t->n && at < PERFETTO_LANES && !is_free(&t->lanes[at], from, to))
		at++;
	*ret_new = at == t->n;
	if (at == t->n) {
		if (mem_grow(&t->lanes, &t->cap, t->n, sizeof(*t->lanes)) < 0) {
			perfetto_fail(p, -ENOMEM);
			return 0;
		}
		t->lanes[t->n++] = (struct perfetto_lane){0};
	}
	occupy(&t->lanes[at], from, to);
	return at;
}

/* The track of a slice; declares it with the first slice. */
static uint64_t track_for(struct perfetto *p, enum perfetto_kind kind, size_t number, uint64_t from,
			  uint64_t to,
			  void (*declare)(struct perfetto *p, size_t number, uint64_t id))
{
	static const enum uuid_kind kinds[TRACK_KINDS] = {
		[TRACK_LOCK] = UUID_LOCK, [TRACK_THREAD] = UUID_THREAD, [TRACK_CPU] = UUID_CPU};
	struct perfetto_track *t = track_at(p, kind, number);
	track_descriptor d;
	bool is_new;

	if (!t)
		return 0;
	bool declared = t->n > 0;
	uint64_t first = uuid(kinds[kind], number, 0);
	size_t lane = lane_of(p, t, from, to, &is_new);
	if (!declared)
		declare(p, number, first);
	if (lane == 0 || !is_new)
		return first + lane;
	describe(&d, first + lane, first, "at the same time");
	perfetto_declare(p, &d);
	return first + lane;
}

static void declare_lock(struct perfetto *p, size_t number, uint64_t id)
{
	track_descriptor d;

	describe(&d, id, uuid(UUID_GROUP, GROUP_LOCKS, 0),
		 trace_lock_at(p->t, (uint32_t)number)->name);
	perfetto_declare(p, &d);
}

uint64_t perfetto_track_of_lock(struct perfetto *p, uint32_t lock, uint64_t from, uint64_t to)
{
	return track_for(p, TRACK_LOCK, lock, from, to, declare_lock);
}

/* Numbers must not be negative in the format: tasks outside get numbers that no task inside has. */
static int32_t positive(int32_t id)
{
	return id < 0 ? taskid_outside(-id) : id;
}

static uint64_t process_of(struct perfetto *p, const struct trace_thread *th)
{
	Perfetto__ProcessDescriptor is = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	uint32_t pid = (uint32_t)positive(th->pid);
	uint64_t id = uuid(UUID_PROCESS, pid, 0);
	track_descriptor d;

	if (map64_get(&p->processes, pid))
		return id;
	if (map64_put(&p->processes, pid, 1) < 0)
		perfetto_fail(p, -ENOMEM);
	describe(&d, id, 0, NULL);
	is.has_pid = true;
	is.pid = (int32_t)pid;
	is.has_process_name = th->process != NULL;
	if (th->process)
		is.process_name = perfetto_bytes(th->process);
	d.process = &is;
	perfetto_declare(p, &d);
	return id;
}

static void declare_thread(struct perfetto *p, size_t number, uint64_t id)
{
	Perfetto__ThreadDescriptor is = PERFETTO__THREAD_DESCRIPTOR__INIT;
	track_descriptor d;

	if (!number) {
		describe(&d, id, 0, "unknown tasks");
		perfetto_declare(p, &d);
		return;
	}
	const struct trace_thread *th = trace_thread_at(p->t, (uint32_t)number);
	describe(&d, id, process_of(p, th), NULL);
	is.has_pid = is.has_tid = true;
	is.pid = positive(th->pid);
	is.tid = positive(th->tid);
	is.has_thread_name = th->comm != NULL;
	if (th->comm)
		is.thread_name = perfetto_bytes(th->comm);
	d.thread = &is;
	perfetto_declare(p, &d);
}

uint64_t perfetto_track_of_thread(struct perfetto *p, uint32_t thread, uint64_t from, uint64_t to)
{
	return track_for(p, TRACK_THREAD, thread, from, to, declare_thread);
}

static void declare_cpu(struct perfetto *p, size_t number, uint64_t id)
{
	track_descriptor d;
	char name[20];

	snprintf(name, sizeof(name), "CPU %zu", number);
	describe(&d, id, uuid(UUID_GROUP, GROUP_CPUS, 0), name);
	d.has_sibling_order_rank = true;
	d.sibling_order_rank = (int32_t)number;
	perfetto_declare(p, &d);
}

uint64_t perfetto_track_of_cpu(struct perfetto *p, uint32_t cpu, uint64_t from, uint64_t to)
{
	return track_for(p, TRACK_CPU, cpu, from, to, declare_cpu);
}

uint64_t perfetto_counter(struct perfetto *p, uint32_t lock, uint32_t n)
{
	struct perfetto_track *t = track_at(p, TRACK_LOCK, lock);
	Perfetto__CounterDescriptor counts = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	uint64_t id = uuid(UUID_WAITERS, lock, 0);
	char name[2 * EVENT_NAMES_TEXT + 20];
	track_descriptor d;

	if (!t || (t->counted && t->waiting == n))
		return 0;
	t->waiting = n;
	if (t->counted)
		return id;
	t->counted = true;
	snprintf(name, sizeof(name), "waiters of %s", trace_lock_at(p->t, lock)->name);
	describe(&d, id, uuid(UUID_GROUP, GROUP_LOCKS, 0), name);
	counts.has_unit = true;
	counts.unit = UNIT_COUNT;
	d.counter = &counts;
	perfetto_declare(p, &d);
	return id;
}

void perfetto_groups(struct perfetto *p)
{
	static const struct {
		const char *name;
		unsigned number, order;
	} groups[] = {{"Locks", GROUP_LOCKS, ORDER_LEXICOGRAPHIC},
		      {"CPUs, with tasks that spin", GROUP_CPUS, ORDER_EXPLICIT}};
	track_descriptor d;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		describe(&d, uuid(UUID_GROUP, groups[i].number, 0), 0, groups[i].name);
		d.has_child_ordering = true;
		d.child_ordering = groups[i].order;
		perfetto_declare(p, &d);
	}
}

uint64_t perfetto_track_of_all(struct perfetto *p)
{
	track_descriptor d;

	describe(&d, uuid(UUID_ALL, 0, 0), 0, "kontend");
	perfetto_declare(p, &d);
	return d.uuid;
}

void perfetto_tracks_deinit(struct perfetto *p)
{
	for (size_t kind = 0; kind < TRACK_KINDS; kind++) {
		struct perfetto_tracks *of = &p->tracks[kind];
		for (size_t i = 0; i < of->n; i++)
			mem_free(of->list[i].lanes);
		mem_free(of->list);
	}
	map64_deinit(&p->processes);
}
