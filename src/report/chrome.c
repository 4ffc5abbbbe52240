// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace Event Format: a wait is a pair of async events ("b" and "e" with one id). Viewers put all
 * events that have the same name and process on one track, so all waits are in one made-up process
 * and have the name of their lock. That name contains the caller of the lock's first wait and never
 * changes, as a changed name would begin another track. The callers of a limited number of locks
 * are
 * kept; later locks have only their address as a name. Times are microseconds since the start of
 * the
 * session.
 */
#include "kontend/jsonw.h"
#include "kontend/mem.h"
#include "kontend/taskid.h"
#include "trace-int.h"

enum { NAMED_LOCKS = 65536, PROCESS = 1 };

struct chrome {
	struct trace_sink sink;
	struct tracefile *t;
	const struct engine *engine;
	struct jsonw json;
	bool started;
	struct map64 locks;   /* lock_key() -> index of its caller */
	const char **callers; /* interned */
	size_t n_callers, cap_callers;
	struct strpool pool;
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

/* The caller in the lock's name, which never changes; NULL: none */
static const char *lock_caller(struct chrome *c, const struct lock *l, uint32_t stack)
{
	uint64_t key = lock_key(l->addr, (enum lock_type)l->type);
	const uint32_t *known = map64_get(&c->locks, key);

	if (known)
		return c->callers[*known];
	if (c->n_callers >= NAMED_LOCKS ||
	    mem_grow(&c->callers, &c->cap_callers, c->n_callers, sizeof(*c->callers)) < 0)
		return NULL;
	const char *caller = event_names_caller(&c->t->names, stack);
	if (map64_put(&c->locks, key, (uint32_t)c->n_callers) < 0)
		return NULL;
	c->callers[c->n_callers] = caller ? strpool_intern(&c->pool, caller) : NULL;
	return c->callers[c->n_callers++];
}

static void lock_name(struct chrome *c, const struct wait *w, char buf[2 * EVENT_NAMES_TEXT])
{
	const struct lock *l = &c->engine->model.locks.locks[w->lock];
	const char *object = event_names_object(&c->t->names, w->addr);
	const char *caller = !object && l->addr ? lock_caller(c, l, w->stack) : NULL;

	event_names_lock(buf, locktype_name((enum lock_type)l->type), object, w->addr, caller);
}

static void put_args(struct chrome *c, const struct trace_wait *o)
{
	const struct wait *w = o->w;
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
	jsonw_str(j, "caller", event_names_caller(&c->t->names, w->stack));
	if (o->ret)
		jsonw_i64(j, "ret", o->ret);
	if (o->waiting)
		jsonw_bool(j, "still_waiting", true);
	jsonw_end(j, '}');
}

static void put_event(struct chrome *c, const char *phase, uint64_t id, const char *name,
		      const char *type, uint64_t time_ns)
{
	uint64_t start_ns = c->engine->model.start_ns;
	struct jsonw *j = &c->json;

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "name", name);
	jsonw_str(j, "cat", type);
	jsonw_str(j, "ph", phase);
	jsonw_hex(j, "id", id);
	jsonw_u64(j, "pid", PROCESS);
	jsonw_u64(j, "tid", PROCESS);
	jsonw_double(j, "ts", (double)(int64_t)(time_ns - start_ns) / 1000);
}

static int put_wait(struct trace_sink *sink, const struct trace_wait *one)
{
	struct chrome *c = (struct chrome *)sink;
	char name[2 * EVENT_NAMES_TEXT];
	const struct wait *w = one->w;
	const char *type =
		locktype_name((enum lock_type)c->engine->model.locks.locks[w->lock].type);

	if (!c->started)
		start(c);
	lock_name(c, w, name);
	put_event(c, "b", one->id, name, type, w->begin_ns);
	put_args(c, one);
	jsonw_end(&c->json, '}');
	put_event(c, "e", one->id, name, type, one->end_ns);
	jsonw_end(&c->json, '}');
	return 0;
}

static int finish(struct trace_sink *sink)
{
	struct chrome *c = (struct chrome *)sink;

	if (!c->started)
		start(c);
	jsonw_end(&c->json, ']');
	trace_source_json(c->t, "otherData", "kontend.chrome/1", &c->json);
	jsonw_end(&c->json, '}');
	return 0;
}

static void give_back(struct trace_sink *sink)
{
	struct chrome *c = (struct chrome *)sink;

	map64_deinit(&c->locks);
	strpool_deinit(&c->pool);
	mem_free(c->callers);
	mem_free(c);
}

struct trace_sink *trace_chrome(struct tracefile *t)
{
	struct chrome *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sink = (struct trace_sink){.wait = put_wait, .finish = finish, .free = give_back};
	c->t = t;
	c->engine = t->engine;
	c->json.out = t->out;
	return &c->sink;
}
