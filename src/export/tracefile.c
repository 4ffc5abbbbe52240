// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selects the waits of a trace. A wait is written when it ends, so that the file has no wait
 * without an end; waits in flight are written last. Doubtful waits have no length and are left out,
 * as in the sums of the model.
 */
#include "kontend/tracefile.h"
#include "kontend/damage.h"
#include "kontend/event-filter.h"
#include "kontend/event.h"
#include "kontend/holds.h"
#include "kontend/jsonw.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-damage.h"
#include "kontend/userrec.h"
#include "kontend/wait.h"
#include "report/format.h"
#include "report/internal.h"
#include "trace-int.h"

#include <errno.h>

static int check(const struct tracefile *t, int ret, struct error *err)
{
	if (ferror_unlocked(t->out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the trace");
	return ret < 0 ? error_errno(err, ret, "Cannot write the trace") : 0;
}

/* @end_ns: end of the wait, or the current time */
static bool passes(struct tracefile *t, const struct wait *w, uint64_t end_ns)
{
	return wait_part_ns(w, 0, end_ns) >= t->engine->model->min_wait_ns &&
	       (!t->gate || event_filter_passes(t->gate, w));
}

static int put_wait(struct tracefile *t, struct trace_wait *w)
{
	if (w->end_ns < w->w->begin_ns)
		w->end_ns = w->w->begin_ns;
	if (!trace_link(t, w)) {
		t->left_out++;
		return 0;
	}
	w->id = ++t->n_waits;
	int ret = t->sink->wait(t->sink, w);
	trace_linked(t, w);
	return ret;
}

static int report_waiting(struct tracefile *t, const struct wait *w)
{
	uint32_t lock = trace_lock(t, w->lock);

	return lock ? t->sink->waiting(t->sink, lock, t->engine->model->now_ns, trace_waiting(t, w))
		    : 0;
}

/* 0: the task has got the lock. */
static int32_t ret_of(const struct event *ev)
{
	if (ev->kind != EVENT_USER)
		return ev->end.ret;
	return ev->user.flags & USERREC_HANDED ? 0 : -EINTR;
}

static int take_event(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct tracefile *t = (struct tracefile *)watch;
	const struct model *m = t->engine->model;
	const struct wait *w = &m->waits->waits[m->last_wait];
	bool ends = event_ends_wait(ev);
	int ret = 0;

	if (!m->last_wait || (!ends && ev->kind != EVENT_CONTENTION_BEGIN))
		return 0;
	errno = 0;
	if (ends && !w->doubtful && passes(t, w, ev->time)) {
		struct trace_wait one = {.w = w, .end_ns = ev->time, .ret = ret_of(ev)};
		ret = put_wait(t, &one);
	}
	if (ret == 0 && t->sink->waiting)
		ret = report_waiting(t, w);
	return check(t, ret, err);
}

int tracefile_finish(struct tracefile *t, struct error *err)
{
	const struct model *m = t->engine->model;
	int ret = 0;

	errno = 0;
	for (uint32_t i = 1; i < m->waits->high && ret == 0; i++) {
		const struct wait *w = &m->waits->waits[i];
		struct trace_wait one = {.w = w, .end_ns = m->now_ns, .waiting = true};
		if (w->used && !w->doubtful && passes(t, w, m->now_ns))
			ret = put_wait(t, &one);
	}
	if (ret == 0)
		ret = t->sink->finish(t->sink);
	fflush(t->out);
	return check(t, ret, err);
}

static void take_hold(struct holds_watch *watch, const struct hold_reported *h)
{
	trace_held((struct tracefile *)((char *)watch - offsetof(struct tracefile, holds)), h);
}

int tracefile_check(enum tracefile_format f, struct error *err)
{
	return f == TRACEFILE_PERFETTO ? trace_perfetto_check(err) : 0;
}

static struct trace_sink *sink_of(struct tracefile *t)
{
	static struct trace_sink *(*const of[TRACEFILE_FORMATS])(struct tracefile *) = {
		[TRACEFILE_PERFETTO] = trace_perfetto,
		[TRACEFILE_FIREFOX] = trace_firefox,
	};

	return of[t->spec.format](t);
}

int tracefile_new(struct tracefile **ret, const struct tracefile_spec *s, struct engine *e,
		  FILE *out, struct error *err)
{
	int code = tracefile_check(s->format, err);
	struct tracefile *t = code == 0 ? mem_calloc(1, sizeof(*t)) : NULL;

	if (code < 0)
		return code;
	if (t) {
		t->watch.event = take_event;
		t->holds.reported = take_hold;
		t->engine = e;
		t->names.engine = e;
		t->out = out;
		t->spec = *s;
		t->sink = query_init(&t->q, e) < 0 ? NULL : sink_of(t);
	}
	if (!t || !t->sink) {
		if (t && t->q.cache)
			query_deinit(&t->q);
		mem_free(t);
		return error_enomem(err, "a trace");
	}
	e->model->holds->watch = &t->holds;
	*ret = t;
	return 0;
}

void tracefile_gate(struct tracefile *t, struct event_filter *g)
{
	t->gate = g;
}

void tracefile_free(struct tracefile *t)
{
	if (!t)
		return;
	if (t->engine->model->holds->watch == &t->holds)
		t->engine->model->holds->watch = NULL;
	t->sink->free(t->sink);
	query_deinit(&t->q);
	trace_links_deinit(&t->links);
	mem_free(t);
}

struct engine_watch *tracefile_watch(struct tracefile *t)
{
	return &t->watch;
}

uint64_t tracefile_left_out(const struct tracefile *t)
{
	return t->left_out;
}

void trace_source_json(const struct tracefile *t, const char *key, const char *schema,
		       struct jsonw *j)
{
	const struct model *m = t->engine->model;
	const struct model_damage d = model_damage(m);
	const struct query_loss loss = query_loss_of_sums(m);
	uint64_t from_ns = m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;

	jsonw_begin(j, key, '{', false);
	jsonw_str(j, "schema", schema);
	jsonw_str(j, "kernel", m->host->release[0] ? m->host->release : NULL);
	jsonw_str(j, "targets", m->host->targets[0] ? m->host->targets : NULL);
	jsonw_u64(j, "start_ns", m->start_ns);
	jsonw_u64(j, "start_wall_ns", m->host->wall_ns);
	jsonw_u64(j, "time_from_ns", from_ns);
	jsonw_u64(j, "time_to_ns", m->now_ns);
	jsonw_u64(j, "duration_ns", m->now_ns > from_ns ? m->now_ns - from_ns : 0);
	jsonw_u64(j, "waits", t->n_waits);
	jsonw_u64(j, "left_out", t->left_out);
	report_sandbox_json(t->engine->sandbox, j);
	report_json_damage(j, &d, &loss, NULL);
	jsonw_end(j, '}');
}
