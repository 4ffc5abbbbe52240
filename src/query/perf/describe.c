// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event in words, for its page: what it counts, by which attributes, where, who opened it and
 * who keeps it, for how long it has been enabled.
 */
#include "../internal.h"
#include "kontend/units.h"
#include "snapshot.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>

struct words {
	struct arena *a;
	const char *text;
};

static void say_words(struct words *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void say_words(struct words *w, const char *format, ...)
{
	char part[300];
	va_list args;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	if (w->text)
		w->text = arena_printf(w->a, "%s%s", w->text, part);
}

static const char *type_name(const struct query_perf *p, const struct snap_event *e)
{
	static const char *const names[] = {"hardware", "software", "tracepoint",
					    "cache",	"raw",	    "breakpoint"};

	return e->type < sizeof(names) / sizeof(*names) ? names[e->type]
							: perfsnap_text(p->snap, e->pmu);
}

static void say_attributes(struct words *w, const struct snap_event *e)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{SNAP_PINNED, "pinned"},
		{SNAP_EXCLUSIVE, "exclusive"},
		{SNAP_INHERIT, "inherited by children"},
		{SNAP_FREQUENCY, "samples by frequency"},
		{SNAP_GROUP_MEMBER, "follows a group leader"},
		{1u << SNAP_EXCLUDES_BIT, "not in user space"},
		{2u << SNAP_EXCLUDES_BIT, "not in the kernel"},
		{4u << SNAP_EXCLUDES_BIT, "not in the hypervisor"},
		{8u << SNAP_EXCLUDES_BIT, "not when idle"},
	};
	uint32_t precise = e->flags >> SNAP_PRECISE_BIT & 3;

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (e->flags & flags[i].flag)
			say_words(w, ", %s", flags[i].text);
	if (precise)
		say_words(w, ", precise %" PRIu32, precise);
}

static void say_who(struct words *w, struct query *q, const struct query_perf *p, size_t i)
{
	const struct snap_event *e = &p->snap->events[i];
	struct query_keeper k = query_perf_keeper(p, i);

	say_words(w, "; opened by %s",
		  e->owner_tid		   ? query_perf_task(q, p, e->owner_comm, e->owner_tid)
		  : e->flags & SNAP_KERNEL ? "the kernel"
					   : "who is gone");
	say_words(w, ", kept by %s%s%s",
		  k.pid ? query_perf_task(q, p, k.comm, k.pid) : "an unknown process",
		  *k.kind ? ", " : "", k.kind);
}

static void say_times(struct words *w, const struct snap_event *e)
{
	char buf[UNITS_BUF];

	if (!(e->flags & SNAP_TIMES))
		return;
	say_words(w, "; enabled for %s", units_ns(buf, e->enabled_ns));
	if (e->target_tid)
		say_words(w, " of its task's CPU time");
	say_words(w, ", counted for %s", units_ns(buf, e->running_ns));
}

const char *query_perf_event_text(struct query *q, uint64_t id)
{
	struct query_perf p;
	size_t i = 0;

	if (query_perf(q, QUERY_PERF_EVENTS, &p) < 0)
		return NULL;
	while (i < p.snap->n_events && p.snap->events[i].id != id)
		i++;
	if (i == p.snap->n_events)
		return NULL;
	const struct snap_event *e = &p.snap->events[i];
	struct words w = {&q->arena, perfsnap_text(p.snap, e->name)};
	say_words(&w, ": %s, perf type %" PRIu32, type_name(&p, e), e->type);
	if (e->type == PERF_TYPE_BREAKPOINT)
		say_words(&w, ", %s of %" PRIu64 " bytes at %s", query_perf_rwx(e->bp_type),
			  e->bp_len, query_perf_where(q, &p, e));
	else
		say_words(&w, ", config 0x%" PRIx64, e->config);
	say_attributes(&w, e);
	say_who(&w, q, &p, i);
	say_times(&w, e);
	return w.text;
}
