// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread with an engine that reads a part of the stream from a queue, as in a replay, and lists
 * its functions every few seconds. Of the locks that it sees it asks for the names, which come with
 * the snapshots of locks. The pause between two lists grows with the time that a list
 * takes. Both threads use only the queue, and the fields under the lock.
 */
#include "resolve-thread.h"

#include "kontend/clock.h"
#include "kontend/engine.h"
#include "kontend/funcsnap.h"
#include "kontend/limits.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/srclines.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { WAIT_MS = 100, QUEUE_BYTES = 8 << 20, COST_SHARE = 20 };

static const uint64_t SECOND_NS = 1000000000, FIRST_NS = 1000000000, EVERY_NS = 2000000000,
		      LOAD_NS = 20000000;

/* Small limits: sums are not used, only the set of functions. */
static const struct model_limits limits = {
	.locks = 4096, .stacks = 8192, .tasks = 16384, .cells = 16384, .hist_groups = 16384};

/* For the names of members of variables. */
static const struct srclines_config lines = {.argv = srclines_worker_argv};

struct queue_source {
	struct source source;
	struct queue *queue;
};

struct resolve_thread {
	struct resolve_thread_options o;
	struct queue *queue;
	pthread_t thread;
	bool started;
	atomic_bool dropped;

	/* used only by the thread */
	struct engine engine;
	struct query query;
	struct map64 reported; /* written in this file, see query-functions.h */
	struct map64 tables;   /* by object: reported */
	size_t functions, names, code;
	uint64_t next_ns;

	pthread_mutex_t lock;
	pthread_cond_t was_cut;
	struct symbol_batch *first, **last;
	bool cut; /* a cut is requested */
	int failed;
	struct error err;
};

static int queue_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct queue *q = ((struct queue_source *)s)->queue;
	struct pollfd p = {.fd = queue_fd(q), .events = POLLIN};
	int r = queue_pop(q, ret);

	(void)err;
	if (r == QUEUE_EMPTY && timeout_ms && poll(&p, 1, timeout_ms) > 0)
		r = queue_pop(q, ret);
	return r == QUEUE_EMPTY ? SOURCE_IDLE : r == QUEUE_END ? SOURCE_END : r;
}

static void queue_done(struct source *s, struct record *r)
{
	queue_release(((struct queue_source *)s)->queue, r);
}

static void queue_source_free(struct source *s)
{
	mem_free(s);
}

static const struct source_ops queue_ops = {
	.next = queue_next, .release = queue_done, .free = queue_source_free};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "no memory to find out what functions are called");
}

static int open_engine(struct resolve_thread *n, struct error *err)
{
	struct queue_source *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return no_memory(err);
	*s = (struct queue_source){.source.ops = &queue_ops, .queue = n->queue};
	int r = engine_init(&n->engine, &s->source, &limits, err);
	if (r < 0) {
		mem_free(s);
		return r;
	}
	n->engine.code = n->o.code;
	n->engine.keep_symbols = n->o.keep_symbols;
	n->engine.lines = &lines;
	n->engine.lock_requests = n->o.lock_requests;
	n->engine.asks_names = true;
	return query_init(&n->query, &n->engine) < 0 ? no_memory(err) : 0;
}

static void hand_over(struct resolve_thread *n, struct symbol_batch *found)
{
	pthread_mutex_lock(&n->lock);
	*n->last = found;
	n->last = &found->next;
	pthread_mutex_unlock(&n->lock);
}

static int encode(struct resolve_thread *n, const struct funcsnap *f, struct error *err)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_FUNCS, .version = FUNCSNAP_VERSION, .flags = RECORD_SNAPSHOT_MORE};
	size_t len = sizeof(head) + funcsnap_size(f);
	struct symbol_batch *found = mem_calloc(1, sizeof(*found) + len);

	if (!found)
		return no_memory(err);
	found->len = len;
	found->left = f->head.left_names + f->head.left_code;
	memcpy(found->body, &head, sizeof(head));
	funcsnap_encode(f, found->body + sizeof(head));
	hand_over(n, found);
	return 0;
}

static size_t left_of(size_t most, size_t used)
{
	return used < most ? most - used : 0;
}

static int find_names(struct resolve_thread *n, struct funcsnap *ret, struct error *err)
{
	struct query_functions_limits l = {
		.functions = left_of(n->o.most.functions, n->functions),
		.names = left_of(n->o.most.names, n->names),
		.code = left_of(n->o.most.code, n->code),
		.reported = &n->reported,
	};
	query_begin(&n->query);
	int r = query_functions_meet(&n->query, err);
	while (r == 0 && !n->dropped && query_load_names(&n->query, LOAD_NS))
		;
	return r ? r : query_functions(&n->query, &l, ret, err);
}

/* Hands over a snapshot body, which it frees. */
static int hand_over_tables(struct resolve_thread *n, char *body, size_t len, struct error *err)
{
	struct symbol_batch *found = mem_calloc(1, sizeof(*found) + len);
	struct record_snapshot head;

	if (found) {
		memcpy(found->body, body, len);
		memcpy(&head, body, sizeof(head));
		head.flags = RECORD_SNAPSHOT_MORE;
		memcpy(found->body, &head, sizeof(head));
		found->len = len;
		found->is_tables = true;
		hand_over(n, found);
	}
	mem_free(body);
	return found ? 0 : no_memory(err);
}

/* Each table is handed over once: the receiver keeps it for later files. */
static int report_tables(struct resolve_thread *n, struct error *err)
{
	size_t objects = n->engine.model->profile->spaces.objects->n, len;
	char *body;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < objects; i++) {
		int has = map64_get(&n->tables, i) ? 0 : engine_tables(&n->engine, i, &body, &len);

		if (has == -ENOMEM)
			return no_memory(err);
		if (has != 1)
			continue;
		r = hand_over_tables(n, body, len, err);
		if (r == 0 && map64_put(&n->tables, i, 1) < 0)
			r = no_memory(err);
	}
	return r;
}

static int report_names(struct resolve_thread *n, struct error *err)
{
	struct funcsnap found = {0};
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	int r = n->dropped ? 0 : find_names(n, &found, err);

	if (r == 0 && found.n_funcs)
		r = encode(n, &found, err);
	if (r == 0 && !n->dropped)
		r = report_tables(n, err);
	n->functions += found.n_funcs;
	n->names += found.n_strings;
	n->code += found.n_code;
	funcsnap_deinit(&found);
	uint64_t end = clock_ns(CLOCK_MONOTONIC), pause = (end - begin) * COST_SHARE;
	n->next_ns = end + (pause > EVERY_NS ? pause : EVERY_NS);
	return r;
}

static void begin_file(struct resolve_thread *n)
{
	model_zero(n->engine.model);
	map64_clear(&n->reported);
	n->functions = n->names = n->code = 0;
	pthread_mutex_lock(&n->lock);
	n->cut = false;
	pthread_cond_signal(&n->was_cut);
	pthread_mutex_unlock(&n->lock);
}

static bool is_to_cut(struct resolve_thread *n)
{
	pthread_mutex_lock(&n->lock);
	bool cut = n->cut;
	pthread_mutex_unlock(&n->lock);
	return cut;
}

/* If a cut was requested before the queue was found empty, everything in it belongs to the file. */
static int resolve_step(struct resolve_thread *n, struct error *err)
{
	bool cut = is_to_cut(n);
	int r = engine_pump(&n->engine, cut ? 0 : WAIT_MS, err);

	if (r == ENGINE_END)
		return report_names(n, err) < 0 ? -1 : ENGINE_END;
	cut = cut && r == ENGINE_IDLE;
	if (r < 0 || (!cut && clock_ns(CLOCK_MONOTONIC) < n->next_ns))
		return r;
	r = report_names(n, err);
	if (r == 0 && cut)
		begin_file(n);
	return r;
}

static void fail(struct resolve_thread *n, const struct error *err)
{
	pthread_mutex_lock(&n->lock);
	n->failed = err->code ? err->code : -EIO;
	n->err = *err;
	n->cut = false;
	pthread_cond_signal(&n->was_cut);
	pthread_mutex_unlock(&n->lock);
}

static void *run(void *arg)
{
	struct resolve_thread *n = arg;
	struct error err = {0};
	int r = open_engine(n, &err);

	n->next_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_NS;
	while (r >= 0 && r != ENGINE_END && !n->dropped)
		r = resolve_step(n, &err);
	if (r < 0)
		fail(n, &err);
	if (n->query.engine)
		query_deinit(&n->query);
	if (n->engine.source)
		engine_deinit(&n->engine);
	return NULL;
}

int resolve_thread_new(struct resolve_thread **ret, const struct resolve_thread_options *o,
		       struct record_sampler *ret_sampler, struct error *err)
{
	struct resolve_thread *n = mem_calloc(1, sizeof(*n));

	if (!n)
		return no_memory(err);
	n->o = *o;
	n->last = &n->first;
	int r = queue_new(&n->queue, QUEUE_BYTES, err);
	if (r < 0) {
		mem_free(n);
		return r;
	}
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->was_cut, NULL);
	*ret_sampler = (struct record_sampler){.to = n->queue, .credit = RECORD_SAMPLER_CREDIT};
	*ret = n;
	return 0;
}

int resolve_thread_start(struct resolve_thread *n, struct error *err)
{
	int e = pthread_create(&n->thread, NULL, run, n);

	n->started = !e;
	return e ? error_errno(err, -e, "Cannot start a thread that names functions") : 0;
}

struct symbol_batch *resolve_thread_take(struct resolve_thread *n)
{
	pthread_mutex_lock(&n->lock);
	struct symbol_batch *found = n->first;
	if (found)
		n->first = found->next;
	if (!n->first)
		n->last = &n->first;
	pthread_mutex_unlock(&n->lock);
	return found;
}

void resolve_thread_cut(struct resolve_thread *n, uint64_t most_ns)
{
	uint64_t end = clock_ns(CLOCK_REALTIME) + most_ns;
	struct timespec until = {(time_t)(end / SECOND_NS), (long)(end % SECOND_NS)};
	int e = 0;

	pthread_mutex_lock(&n->lock);
	n->cut = n->started && !n->failed;
	while (n->cut && !e)
		e = pthread_cond_timedwait(&n->was_cut, &n->lock, &until);
	pthread_mutex_unlock(&n->lock);
}

int resolve_thread_stop(struct resolve_thread *n, bool drop, struct error *err)
{
	n->dropped |= drop;
	queue_close(n->queue);
	if (n->started)
		pthread_join(n->thread, NULL);
	n->started = false;
	return n->failed ? error_set(err, n->failed, "%s", n->err.text) : 0;
}

void resolve_thread_free(struct resolve_thread *n)
{
	struct symbol_batch *found;

	if (!n)
		return;
	if (n->started)
		resolve_thread_stop(n, true, NULL);
	while ((found = resolve_thread_take(n)))
		mem_free(found);
	map64_deinit(&n->reported);
	map64_deinit(&n->tables);
	queue_free(n->queue);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->was_cut);
	mem_free(n);
}
