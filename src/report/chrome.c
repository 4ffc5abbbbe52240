// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait is written when it ends, as the pair of async events that viewers ask for ("b" and "e"
 * with one id), so no wait is open in the file that has lost its end. Viewers make one track of
 * what has one name within one process; so all waits are in one made-up process and are named after
 * their lock. The caller in the name is the one of the lock's first wait and stays, as another name
 * would be another track: it is remembered for as many locks as anybody could look at, and those
 * beyond go by their address alone. Time counts from the start of the session, in microseconds.
 */
#include "kontend/chrome.h"
#include "event-names.h"
#include "internal.h"
#include "kontend/jsonw.h"
#include "kontend/mem.h"
#include "kontend/query-gate.h"
#include "kontend/strpool.h"
#include "kontend/taskid.h"
#include "kontend/textbuf.h"
#include "sandbox.h"

#include <errno.h>
#include <string.h>

enum { NAMED_LOCKS = 65536, PROCESS = 1 };

struct chrome {
	struct engine_watch watch;
	const struct engine *engine;
	struct jsonw json;
	bool started;
	uint64_t n;	      /* waits written: ids */
	struct map64 locks;   /* lock_key() -> index of the caller */
	const char **callers; /* interned */
	size_t n_callers, cap_callers;
	struct strpool pool;
	struct event_names names;
	struct query_gate *gate; /* NULL: all waits pass */
};

/* What became of a wait. */
struct outcome {
	uint64_t end_ns;
	int32_t ret;
	bool waiting;
};

static void start(struct chrome *c)
{
	struct jsonw *j = &c->json;

	jsonw_begin(j, NULL, '{', false);
	jsonw_str(j, "displayTimeUnit", "ns");
	jsonw_begin(j, "traceEvents", '[', false);
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "name", "process_name");
	jsonw_str(j, "ph", "M");
	jsonw_u64(j, "pid", PROCESS);
	jsonw_begin(j, "args", '{', true);
	jsonw_str(j, "name", "kernel locks");
	jsonw_end(j, '}');
	jsonw_end(j, '}');
	c->started = true;
}

/* The caller that is part of the lock's name, for good; NULL: none. */
static const char *lock_caller(struct chrome *c, const struct lock *l, uint32_t stack)
{
	uint64_t key = lock_key(l->addr, (enum lock_type)l->type);
	const uint32_t *known = map64_get(&c->locks, key);

	if (known)
		return c->callers[*known];
	if (c->n_callers >= NAMED_LOCKS ||
	    mem_grow(&c->callers, &c->cap_callers, c->n_callers, sizeof(*c->callers)) < 0)
		return NULL;
	const char *caller = event_names_caller(&c->names, stack);
	if (map64_put(&c->locks, key, (uint32_t)c->n_callers) < 0)
		return NULL;
	c->callers[c->n_callers] = caller ? strpool_intern(&c->pool, caller) : NULL;
	return c->callers[c->n_callers++];
}

/* "mutex console_mutex", "spinlock 0xffff... (caller)" */
static void lock_name(struct chrome *c, const struct wait *w, char *buf, size_t size)
{
	const struct lock *l = &c->engine->model.locks.locks[w->lock];
	const char *object = event_names_object(&c->names, w->addr), *caller = NULL;
	struct textbuf b = textbuf_make(buf, size);

	textbuf_str(&b, locktype_name((enum lock_type)l->type));
	textbuf_char(&b, ' ');
	if (object)
		textbuf_str(&b, object);
	else
		textbuf_hex(&b, w->addr);
	if (!object && l->addr)
		caller = lock_caller(c, l, w->stack);
	if (caller) {
		textbuf_str(&b, " (");
		textbuf_str(&b, caller);
		textbuf_char(&b, ')');
	}
	textbuf_end(&b);
}

static void put_args(struct chrome *c, const struct wait *w, const struct outcome *o)
{
	const struct task *t = &c->engine->model.tasks.tasks[w->task];
	char buf[EVENT_NAMES_TEXT];
	struct jsonw *j = &c->json;

	jsonw_begin(j, "args", '{', true);
	jsonw_str(j, "comm", event_names_comm(c->engine, w->task, buf));
	jsonw_i64(j, "pid", taskid_number(t->pid));
	jsonw_i64(j, "tid", taskid_number(t->tid));
	jsonw_u64(j, "cpu", w->cpu);
	jsonw_hex(j, "lock", w->addr);
	jsonw_str(j, "flags", event_names_flags(w->flags, buf));
	jsonw_str(j, "caller", event_names_caller(&c->names, w->stack));
	if (o->ret)
		jsonw_i64(j, "ret", o->ret);
	if (o->waiting)
		jsonw_bool(j, "still_waiting", true);
	if (w->doubtful)
		jsonw_bool(j, "doubtful", true);
	jsonw_end(j, '}');
}

static void put_event(struct chrome *c, const char *phase, const char *name, const char *type,
		      uint64_t time_ns)
{
	uint64_t start_ns = c->engine->model.start_ns;
	struct jsonw *j = &c->json;

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "name", name);
	jsonw_str(j, "cat", type);
	jsonw_str(j, "ph", phase);
	jsonw_hex(j, "id", c->n);
	jsonw_u64(j, "pid", PROCESS);
	jsonw_u64(j, "tid", PROCESS);
	jsonw_double(j, "ts", (double)(int64_t)(time_ns - start_ns) / 1000);
}

static void put_wait(struct chrome *c, const struct wait *w, const struct outcome *o)
{
	char name[2 * EVENT_NAMES_TEXT];
	const char *type =
		locktype_name((enum lock_type)c->engine->model.locks.locks[w->lock].type);

	if (!c->started)
		start(c);
	lock_name(c, w, name, sizeof(name));
	c->n++;
	put_event(c, "b", name, type, w->begin_ns);
	put_args(c, w, o);
	jsonw_end(&c->json, '}');
	put_event(c, "e", name, type, o->end_ns);
	jsonw_end(&c->json, '}');
}

static int check(const struct chrome *c, struct error *err)
{
	if (!ferror_unlocked(c->json.out))
		return 0;
	return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the trace");
}

/* @end_ns: or what time it is. */
static bool passes(struct chrome *c, const struct wait *w, uint64_t end_ns)
{
	return wait_part_ns(w, 0, end_ns) >= c->engine->model.min_wait_ns &&
	       (!c->gate || query_gate_passes(c->gate, w));
}

void chrome_gate(struct chrome *c, struct query_gate *g)
{
	c->gate = g;
}

static int take_event(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct chrome *c = (struct chrome *)watch;
	const struct model *m = &c->engine->model;
	const struct wait *w = &m->waits.waits[m->last_wait];

	/* The model tells no duration of a doubtful wait, nor do we. */
	if (ev->kind != EVENT_CONTENTION_END || !m->last_wait || w->doubtful ||
	    !passes(c, w, ev->time))
		return 0;
	struct outcome o = {.end_ns = ev->time > w->begin_ns ? ev->time : w->begin_ns,
			    .ret = ev->end.ret};
	errno = 0;
	put_wait(c, w, &o);
	return check(c, err);
}

static void put_source(struct chrome *c)
{
	const struct model *m = &c->engine->model;
	const struct model_damage d = model_damage(m);
	const struct query_loss loss = query_loss_of_sums(m);
	uint64_t from_ns = m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;
	struct jsonw *j = &c->json;

	jsonw_begin(j, "otherData", '{', false);
	jsonw_str(j, "schema", "kontend.chrome/1");
	jsonw_str(j, "kernel", m->host.release[0] ? m->host.release : NULL);
	jsonw_str(j, "targets", m->host.targets[0] ? m->host.targets : NULL);
	jsonw_u64(j, "start_ns", m->start_ns);
	jsonw_u64(j, "start_wall_ns", m->host.wall_ns);
	jsonw_u64(j, "time_from_ns", from_ns);
	jsonw_u64(j, "time_to_ns", m->now_ns);
	jsonw_u64(j, "duration_ns", m->now_ns > from_ns ? m->now_ns - from_ns : 0);
	jsonw_u64(j, "waits", c->n);
	report_sandbox_json(c->engine, j);
	report_json_damage(j, &d, &loss, NULL);
	jsonw_end(j, '}');
}

int chrome_finish(struct chrome *c, struct error *err)
{
	const struct model *m = &c->engine->model;

	errno = 0;
	if (!c->started)
		start(c);
	for (uint32_t i = 1; i < m->waits.high; i++) {
		const struct wait *w = &m->waits.waits[i];
		struct outcome o = {.end_ns = m->now_ns > w->begin_ns ? m->now_ns : w->begin_ns,
				    .waiting = true};
		if (w->used && passes(c, w, m->now_ns))
			put_wait(c, w, &o);
	}
	jsonw_end(&c->json, ']');
	put_source(c);
	jsonw_end(&c->json, '}');
	fflush(c->json.out);
	return check(c, err);
}

int chrome_new(struct chrome **ret, const struct engine *e, FILE *out)
{
	struct chrome *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->watch.event = take_event;
	c->engine = c->names.engine = e;
	c->json.out = out;
	*ret = c;
	return 0;
}

void chrome_free(struct chrome *c)
{
	if (!c)
		return;
	map64_deinit(&c->locks);
	strpool_deinit(&c->pool);
	mem_free(c->callers);
	mem_free(c);
}

struct engine_watch *chrome_watch(struct chrome *c)
{
	return &c->watch;
}
