// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's trace. A wait is one slice: on the track of its task if the task sleeps, on that of
 * the CPU if it spins. A hold of a lock during a wait is a slice on the track of the lock. Flows
 * lead from a hold to the waits, and from a wait to the holds of the same task during it: so all
 * slices in a chain of waits can be reached from any of them. Each flow needs a number of its own
 * at both ends, and the slice that it begins at is written before the number of waits is known; so
 * a hold gets as many flows as tasks wait for the lock at that time.
 */
#include "kontend/jsonw.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/wait.h"
#include "perfetto-int.h"

#include <errno.h>
#include <stdio.h>

enum { FLOW_BITS = 3, SOURCE = 1 << 14 };
_Static_assert(1 << FLOW_BITS == PERFETTO_FLOWS, "each has a number");
#define FLOW_OF_WAIT (1ull << 63)

static uint64_t flow_of_hold(const struct trace_hold *h, unsigned i)
{
	return h->id << FLOW_BITS | i;
}

/* "?" for an unknown task */
static const char *who(struct perfetto *p, uint32_t thread, char buf[TRACE_TASK])
{
	const char *name = trace_task(p->t, thread, buf);

	return name ? name : "?";
}

/* The flows of a hold: one for each task that waits for the lock now, and one for the task that got
 * it. */
static uint8_t flows_of(struct perfetto *p, const struct trace_wait *w)
{
	uint32_t n = 1 + trace_waiting(p->t, w->w);

	return (uint8_t)(n < PERFETTO_FLOWS ? n : PERFETTO_FLOWS);
}

static void begin_hold(struct perfetto *p, const struct trace_hold *h, uint64_t track)
{
	char name[TRACE_TASK], caller[EVENT_NAMES_TEXT];

	perfetto_event(p, TYPE_SLICE_BEGIN, track, h->got_ns);
	perfetto_name(p, who(p, h->thread, name), CATEGORY_HOLD);
	perfetto_text(p, KEY_CALLER, trace_caller(p->t, h->stack, caller));
	perfetto_text(p, KEY_TIME, h->exact ? "exact" : "at most");
	perfetto_stack(p, h->stack);
	perfetto_put(p);
}

static void end_hold(struct perfetto *p, const struct trace_hold *h, uint64_t track)
{
	const struct trace_thread *th = h->thread ? trace_thread_at(p->t, h->thread) : NULL;
	track_event *e = &p->now.event;

	perfetto_event(p, TYPE_SLICE_END, track, h->end_ns);
	for (unsigned i = 0; i < h->flows; i++)
		e->flow_ids[e->n_flow_ids++] = flow_of_hold(h, i);
	for (uint32_t i = 0; th && i < th->n_own && i < TRACE_OWN; i++)
		if (th->own[i].begin_ns >= h->got_ns && th->own[i].end_ns <= h->end_ns)
			e->terminating_flow_ids[e->n_terminating_flow_ids++] =
				FLOW_OF_WAIT | th->own[i].id;
	perfetto_put(p);
}

static void put_hold(struct perfetto *p, struct trace_hold *h, const struct trace_wait *w)
{
	uint64_t track = perfetto_track_of_lock(p, h->lock, h->got_ns, h->end_ns);

	h->written = true;
	h->flows = flows_of(p, w);
	begin_hold(p, h, track);
	end_hold(p, h, track);
}

static void begin_wait(struct perfetto *p, const struct trace_wait *one, uint64_t track)
{
	const struct wait *w = one->w;
	enum lock_type type = (enum lock_type)p->t->engine->model->locks->locks[w->lock].type;
	const char *name = one->lock ? trace_lock_at(p->t, one->lock)->name : NULL;
	char buf[TRACE_TASK];

	perfetto_event(p, TYPE_SLICE_BEGIN, track, w->begin_ns);
	perfetto_name(p, name ? name : locktype_base(type), (unsigned)type + 1);
	if (locktype_is_spin(type))
		perfetto_text(p, KEY_TASK, who(p, one->thread, buf));
	else if (!w->no_cpu)
		perfetto_u64(p, KEY_CPU, w->cpu);
	if (*locktype_mode(type))
		perfetto_text(p, KEY_MODE, locktype_mode(type));
	perfetto_text(p, KEY_CALLER, event_names_caller(&p->t->names, w->stack));
	perfetto_text(p, KEY_FLAGS, event_names_flags(w->flags, buf));
	perfetto_pointer(p, KEY_ADDRESS, w->addr);
	if (one->ret)
		perfetto_i64(p, KEY_ERROR, one->ret);
	if (one->waiting)
		perfetto_text(p, KEY_STATE, "still waiting");
	perfetto_stack(p, one->stack);
	perfetto_put(p);
}

static void end_wait(struct perfetto *p, const struct trace_wait *one, uint64_t track)
{
	track_event *e = &p->now.event;

	perfetto_event(p, TYPE_SLICE_END, track, one->end_ns);
	if (!one->waiting)
		e->flow_ids[e->n_flow_ids++] = FLOW_OF_WAIT | one->id;
	for (uint32_t i = 0; i < one->n_holds; i++) {
		struct trace_hold *h = one->holds[i];
		if (h->used < h->flows)
			e->terminating_flow_ids[e->n_terminating_flow_ids++] =
				flow_of_hold(h, h->used++);
	}
	perfetto_put(p);
}

static void begin(struct perfetto *p)
{
	if (p->begun)
		return;
	p->begun = true;
	perfetto_begin(p);
	perfetto_groups(p);
}

static int put_wait(struct trace_sink *s, const struct trace_wait *one)
{
	struct perfetto *p = (struct perfetto *)s;
	const struct wait *w = one->w;
	bool spins =
		locktype_is_spin((enum lock_type)p->t->engine->model->locks->locks[w->lock].type);

	begin(p);
	for (uint32_t i = 0; i < one->n_holds; i++)
		if (!one->holds[i]->written)
			put_hold(p, one->holds[i], one);
	uint64_t track = spins ? perfetto_track_of_cpu(p, w->cpu, w->begin_ns, one->end_ns)
			       : perfetto_track_of_thread(p, one->thread, w->begin_ns, one->end_ns);
	begin_wait(p, one, track);
	end_wait(p, one, track);
	return p->error;
}

/* @lock has had a wait that was written. */
static int put_waiting(struct trace_sink *s, uint32_t lock, uint64_t time_ns, uint32_t n)
{
	struct perfetto *p = (struct perfetto *)s;

	if (!p->begun || !trace_lock_at(p->t, lock)->name)
		return 0;
	uint64_t track = perfetto_counter(p, lock, n);
	if (!track)
		return p->error;
	perfetto_event(p, TYPE_COUNTER, track, time_ns);
	p->now.event.has_counter_value = true;
	p->now.event.counter_value = n;
	perfetto_put(p);
	return p->error;
}

/* Writes into @buf. 0, or a negative errno. */
static int source_json(struct perfetto *p, char *buf, size_t size)
{
	struct jsonw j = {.out = fmemopen(buf, size, "w"), .tight = true};

	if (!j.out)
		return -ENOMEM;
	jsonw_begin(&j, NULL, '{', true);
	trace_source_json(p->t, "source", "kontend.perfetto/1", &j);
	jsonw_end(&j, '}');
	bool bad = ferror(j.out) != 0;
	return fclose(j.out) != 0 || bad ? -EOVERFLOW : 0;
}

/* One slice covers the whole measurement: it has the source and what is missing. */
static int finish(struct trace_sink *s)
{
	struct perfetto *p = (struct perfetto *)s;
	const struct model *m = p->t->engine->model;
	char text[SOURCE];
	int ret = source_json(p, text, sizeof(text));

	if (ret < 0)
		return ret;
	begin(p);
	uint64_t track = perfetto_track_of_all(p);
	perfetto_event(p, TYPE_SLICE_BEGIN, track, m->start_ns);
	perfetto_name(p, "measured", CATEGORY_HOLD);
	p->now.event.n_category_iids = 0;
	perfetto_json(p, KEY_SOURCE, text);
	perfetto_put(p);
	perfetto_event(p, TYPE_SLICE_END, track, m->now_ns);
	perfetto_put(p);
	return p->error;
}

static void give_back(struct trace_sink *s)
{
	struct perfetto *p = (struct perfetto *)s;

	stringtable_deinit(&p->strings);
	stringtable_deinit(&p->functions);
	stringtable_deinit(&p->names);
	perfetto_tracks_deinit(p);
	mem_free(p->stacks_reported);
	mem_free(p->buf);
	mem_free(p);
}

int trace_perfetto_check(struct error *err)
{
	(void)err;
	return 0;
}

struct trace_sink *trace_perfetto(struct tracefile *t)
{
	struct perfetto *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink = (struct trace_sink){
		.wait = put_wait, .waiting = put_waiting, .finish = finish, .free = give_back};
	p->t = t;
	return &p->sink;
}
