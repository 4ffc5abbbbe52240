// SPDX-License-Identifier: GPL-2.0-only
/*
 * A processed profile of the Firefox Profiler in version 60 of its format; newer viewers convert it
 * themselves. A task becomes a thread: each of its waits is a marker and a sample whose weight is
 * the waiting time. A lock becomes a thread of a made-up process: each of its holders is a marker.
 * A flow connects markers: a wait with the longest hold of its lock meanwhile, and that hold with
 * the wait in which the holder was itself at that time. A thread's columns are written one after
 * the other, so everything is gathered first.
 */
#include "firefox-tables.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/wait.h"
#include "trace-int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct gathered {
	uint64_t begin_ns, end_ns, id, hold;
	uint32_t lock, thread, stack, flags;
	uint32_t chain; /* in the table of stacks */
	int32_t ret;
	uint16_t cpu;
	uint8_t type;
	bool waiting, no_cpu, flows;
};

struct kept_hold {
	struct trace_hold h;
	uint64_t via; /* the longest wait of the holder during the hold; 0: none */
	bool flows;   /* the longest hold of some wait: a flow connects them */
};

struct firefox {
	struct trace_sink sink;
	struct tracefile *t;
	struct jsonw json;
	struct gathered *waits;
	size_t n_waits, cap_waits;
	struct kept_hold *holds;
	size_t n_holds, cap_holds;
	uint64_t start_ns;
	struct firefox_tables tables;
};

/* The wait that the holder was in while it had the lock; a flow leads from there to the hold. 0:
 * none */
static uint64_t find_via(struct firefox *f, const struct trace_hold *h)
{
	const struct trace_thread *th = h->thread ? trace_thread_at(f->t, h->thread) : NULL;
	const struct trace_own *most = NULL;

	for (uint32_t i = 0; th && i < th->n_own && i < TRACE_OWN; i++) {
		const struct trace_own *o = &th->own[i];
		if (o->begin_ns < h->got_ns || o->end_ns > h->end_ns)
			continue;
		if (!most || o->end_ns - o->begin_ns > most->end_ns - most->begin_ns)
			most = o;
	}
	if (!most || most->id > f->n_waits)
		return 0;
	f->waits[most->id - 1].flows = true;
	return most->id;
}

static int hold_interval(struct firefox *f, struct trace_hold *h)
{
	if (h->written)
		return 0;
	if (mem_grow(&f->holds, &f->cap_holds, f->n_holds, sizeof(*f->holds)) < 0)
		return -ENOMEM;
	h->written = true;
	f->holds[f->n_holds++] = (struct kept_hold){.h = *h, .via = find_via(f, h)};
	return 0;
}

static int gather(struct trace_sink *s, const struct trace_wait *w)
{
	struct firefox *f = (struct firefox *)s;
	const struct model *m = f->t->engine->model;
	const enum lock_type type = (enum lock_type)m->locks->locks[w->w->lock].type;

	if (f->n_waits >= TRACE_WAITS) {
		f->t->left_out++;
		return 0;
	}
	if (mem_grow(&f->waits, &f->cap_waits, f->n_waits, sizeof(*f->waits)) < 0)
		return -ENOMEM;
	f->waits[f->n_waits++] = (struct gathered){
		.begin_ns = w->w->begin_ns,
		.end_ns = w->end_ns,
		.id = w->id,
		.hold = w->n_holds ? w->holds[0]->id : 0,
		.lock = w->lock,
		.thread = w->thread,
		.stack = w->stack,
		.chain = firefox_chain(&f->tables, f->t, w->stack, type) - 1,
		.flags = w->w->flags,
		.ret = w->ret,
		.cpu = w->w->cpu,
		.type = (uint8_t)type,
		.waiting = w->waiting,
		.no_cpu = w->w->no_cpu,
	};
	int ret = 0;
	for (uint32_t i = 0; i < w->n_holds && ret == 0; i++)
		ret = hold_interval(f, w->holds[i]);
	return ret;
}

static uint32_t numbered(struct firefox *f, const char *what, uint64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), "%s %" PRIu64, what, id);
	return firefox_text(&f->tables, text);
}

static uint32_t task_text(struct firefox *f, uint32_t thread)
{
	char text[TRACE_TASK];
	const char *task = trace_task(f->t, thread, text);

	return task ? firefox_text(&f->tables, task) : UINT32_MAX;
}

static uint32_t lock_text(struct firefox *f, uint32_t lock, uint8_t type)
{
	const char *name = lock ? trace_lock_at(f->t, lock)->name : NULL;
	char text[EVENT_NAMES_TEXT];

	if (!name)
		snprintf(text, sizeof(text), "%s, one of many",
			 locktype_base((enum lock_type)type));
	return firefox_text(&f->tables, name ? name : text);
}

/* Writes the member if there is a text. */
static void put_text(struct jsonw *j, const char *key, uint32_t text)
{
	if (text != UINT32_MAX)
		jsonw_u64(j, key, text);
}

static void put_wait_data(struct firefox *f, const struct gathered *g)
{
	const char *mode = locktype_mode((enum lock_type)g->type);
	struct jsonw *j = &f->json;
	char flags[EVENT_NAMES_TEXT];

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "type", "LockWait");
	put_text(j, "lock", lock_text(f, g->lock, g->type));
	if (*mode)
		jsonw_str(j, "mode", mode);
	put_text(j, "caller", firefox_caller(&f->tables, f->t, g->stack));
	if (!g->no_cpu)
		jsonw_u64(j, "cpu", g->cpu);
	jsonw_str(j, "flags", event_names_flags(g->flags, flags));
	if (g->ret)
		jsonw_i64(j, "ret", g->ret);
	if (g->waiting)
		jsonw_str(j, "state", "still waiting");
	if (g->hold)
		put_text(j, "hold", numbered(f, "hold", g->hold));
	if (g->flows)
		put_text(j, "wait", numbered(f, "wait", g->id));
	jsonw_begin(j, "cause", '{', true);
	jsonw_u64(j, "stack", g->chain);
	jsonw_end(j, '}');
	jsonw_end(j, '}');
}

static void put_hold_data(struct firefox *f, const struct kept_hold *held)
{
	const struct trace_hold *h = &held->h;
	struct jsonw *j = &f->json;

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "type", "LockHold");
	put_text(j, "holder", task_text(f, h->thread));
	put_text(j, "caller", firefox_caller(&f->tables, f->t, h->stack));
	jsonw_str(j, "time", h->exact ? "exact" : "at most");
	if (held->flows)
		put_text(j, "hold", numbered(f, "hold", h->id));
	if (held->via)
		put_text(j, "wait", numbered(f, "wait", held->via));
	jsonw_end(j, '}');
}

/* A column of @n times; consecutive ones are @stride bytes apart. */
static void put_times(struct firefox *f, const char *key, const uint64_t *first, size_t stride,
		      size_t n)
{
	jsonw_begin(&f->json, key, '[', true);
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = *(const uint64_t *)((const char *)first + i * stride);
		jsonw_millis(&f->json, NULL, ns > f->start_ns ? ns - f->start_ns : 0);
	}
	jsonw_end(&f->json, ']');
}

/* The columns that markers of waits and of holds share, for @n markers. */
static void put_markers_rest(struct firefox *f, const char *name, size_t n)
{
	struct jsonw *j = &f->json;

	firefox_same(j, "name", n, firefox_text(&f->tables, name));
	firefox_same(j, "phase", n, 1);
	jsonw_u64(j, "length", n);
	jsonw_end(j, '}');
}

static void put_wait_markers(struct firefox *f, const struct gathered *g, size_t n)
{
	struct jsonw *j = &f->json;

	jsonw_begin(j, "markers", '{', false);
	jsonw_begin(j, "data", '[', false);
	for (size_t i = 0; i < n; i++)
		put_wait_data(f, &g[i]);
	jsonw_end(j, ']');
	put_times(f, "startTime", &g->begin_ns, sizeof(*g), n);
	put_times(f, "endTime", &g->end_ns, sizeof(*g), n);
	jsonw_begin(j, "category", '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_u64(j, NULL, firefox_category_of((enum lock_type)g[i].type));
	jsonw_end(j, ']');
	put_markers_rest(f, "Lock wait", n);
}

static void put_hold_markers(struct firefox *f, const struct kept_hold *h, size_t n)
{
	struct jsonw *j = &f->json;

	jsonw_begin(j, "markers", '{', false);
	jsonw_begin(j, "data", '[', false);
	for (size_t i = 0; i < n; i++)
		put_hold_data(f, &h[i]);
	jsonw_end(j, ']');
	put_times(f, "startTime", &h->h.got_ns, sizeof(*h), n);
	put_times(f, "endTime", &h->h.end_ns, sizeof(*h), n);
	firefox_same(j, "category", n, FIREFOX_HOLDS);
	put_markers_rest(f, "Lock hold", n);
}

/* The thread of a lock has no samples. */
static void put_samples(struct firefox *f, const struct gathered *g, size_t n)
{
	struct jsonw *j = &f->json;

	jsonw_begin(j, "samples", '{', false);
	jsonw_begin(j, "stack", '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_u64(j, NULL, g[i].chain);
	jsonw_end(j, ']');
	put_times(f, "time", n ? &g->begin_ns : NULL, sizeof(*g), n);
	jsonw_begin(j, "weight", '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_millis(j, NULL, g[i].end_ns - g[i].begin_ns);
	jsonw_end(j, ']');
	jsonw_str(j, "weightType", "tracing-ms");
	jsonw_u64(j, "length", n);
	jsonw_end(j, '}');
}

struct titles {
	const char *name, *process, *pid;
	int64_t tid;
	bool main;
};

static void begin_thread(struct firefox *f, const struct titles *is)
{
	struct jsonw *j = &f->json;

	jsonw_begin(j, NULL, '{', false);
	jsonw_str(j, "processType", "default");
	jsonw_u64(j, "processStartupTime", 0);
	jsonw_null(j, "processShutdownTime");
	jsonw_u64(j, "registerTime", 0);
	jsonw_null(j, "unregisterTime");
	firefox_same(j, "pausedRanges", 0, 0);
	jsonw_bool(j, "showMarkersInTimeline", true);
	jsonw_str(j, "name", is->name);
	jsonw_str(j, "processName", is->process);
	jsonw_bool(j, "isMainThread", is->main);
	jsonw_str(j, "pid", is->pid);
	jsonw_i64(j, "tid", is->tid);
}

static void put_task(struct firefox *f, const struct gathered *g, size_t n)
{
	const struct trace_thread none = {0};
	const struct trace_thread *th = g->thread ? trace_thread_at(f->t, g->thread) : &none;
	const char *comm = th->comm ? th->comm : g->thread ? "?" : "unknown tasks";
	char pid[20];

	snprintf(pid, sizeof(pid), "%d", th->pid);
	begin_thread(f, &(const struct titles){comm, th->process ? th->process : comm, pid, th->tid,
					       th->pid == th->tid});
	put_samples(f, g, n);
	put_wait_markers(f, g, n);
	jsonw_end(&f->json, '}');
}

static void put_lock(struct firefox *f, const struct kept_hold *h, size_t n)
{
	const struct trace_lock *l = trace_lock_at(f->t, h->h.lock);

	begin_thread(f, &(const struct titles){l->name, "locks", "locks", h->h.lock, false});
	put_samples(f, NULL, 0);
	put_hold_markers(f, h, n);
	jsonw_end(&f->json, '}');
}

/* By thread, then by time. */
static int compare_waits(const void *a, const void *b)
{
	const struct gathered *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_holds(const void *a, const void *b)
{
	const struct trace_hold *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->got_ns != y->got_ns)
		return x->got_ns < y->got_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_ids(const void *a, const void *b)
{
	const struct trace_hold *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* A flow needs two ends: a hold that is not the longest one of any wait begins none. */
static void join_holds(struct firefox *f)
{
	if (!f->n_holds)
		return;
	qsort(f->holds, f->n_holds, sizeof(*f->holds), compare_ids);
	for (size_t i = 0; i < f->n_waits; i++) {
		const struct kept_hold key = {.h = {.id = f->waits[i].hold}};
		struct kept_hold *h =
			bsearch(&key, f->holds, f->n_holds, sizeof(*f->holds), compare_ids);
		if (h)
			h->flows = true;
	}
}

static void put_threads(struct firefox *f)
{
	size_t n;

	join_holds(f);
	if (f->n_waits)
		qsort(f->waits, f->n_waits, sizeof(*f->waits), compare_waits);
	if (f->n_holds)
		qsort(f->holds, f->n_holds, sizeof(*f->holds), compare_holds);
	jsonw_begin(&f->json, "threads", '[', false);
	for (size_t i = 0; i < f->n_waits; i += n) {
		for (n = 1; i + n < f->n_waits && f->waits[i + n].thread == f->waits[i].thread;)
			n++;
		put_task(f, &f->waits[i], n);
	}
	for (size_t i = 0; i < f->n_holds; i += n) {
		for (n = 1; i + n < f->n_holds && f->holds[i + n].h.lock == f->holds[i].h.lock;)
			n++;
		put_lock(f, &f->holds[i], n);
	}
	jsonw_end(&f->json, ']');
}

static int finish(struct trace_sink *s)
{
	struct firefox *f = (struct firefox *)s;
	struct jsonw *j = &f->json;

	f->start_ns = f->t->engine->model->start_ns;
	jsonw_begin(j, NULL, '{', false);
	firefox_meta_json(f->t, j);
	trace_source_json(f->t, "kontend", "kontend.firefox/1", j);
	firefox_same(j, "libs", 0, 0);
	put_threads(f);
	firefox_tables_json(&f->tables, j);
	jsonw_end(j, '}');
	return f->tables.failed ? -ENOMEM : 0;
}

static void give_back(struct trace_sink *s)
{
	struct firefox *f = (struct firefox *)s;

	firefox_tables_deinit(&f->tables);
	mem_free(f->waits);
	mem_free(f->holds);
	mem_free(f);
}

struct trace_sink *trace_firefox(struct tracefile *t)
{
	struct firefox *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->sink = (struct trace_sink){.wait = gather, .finish = finish, .free = give_back};
	f->t = t;
	f->json.out = t->out;
	return &f->sink;
}
