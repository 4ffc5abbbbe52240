// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ahead of the engine, in a thread. The thread writes batches of events and records into a
 * ring, and the engine reads them. An event is copied, except the parts that it borrows from its
 * record. So a record that the merge gives back stays with the batch, and goes back to the source
 * when the engine has applied the batch. Only the thread uses source, decoder and merge.
 *
 * The engine needs some facts of the merge, such as counts of late records. They are written beside
 * the events, so the result does not depend on how far ahead the thread is.
 *
 * The file decides how much memory its records take: a packed snapshot of a few hundred bytes may
 * unpack to 16 MB. So the thread counts bytes, too. When it holds HELD_MOST bytes more than after
 * the last drain, it waits until the engine has read all batches, and gives back all their records.
 * Records that the engine keeps do not count, as the engine itself limits these.
 */
#include "engine-int.h"
#include "kontend/mem.h"
#include <pthread.h>

/*
 * A batch fits into the cache of a core. A thread that waits is woken when half of the ring is
 * ready: on an idle machine, waking a thread takes longer than reading a few batches.
 */
enum { EVENTS = 512, RECORDS = 32, RUNS = 256, BATCHES = 128, WAKE = BATCHES / 2 };
/*
 * Room for the records that the engine gives back: more than it holds, plus those of all batches.
 */
enum { GIVEN = 1024 + RECORDS * BATCHES };
enum { IDLE_MS = 1000 };

static const uint64_t HELD_MOST = 64 << 20;

struct entry {
	struct record record;
	struct engine_merged merged;
	uint32_t before; /* events of the batch that precede it */
	bool is_kept;
};

struct batch {
	size_t n_events, n_records, n_runs;
	int end;
	struct error err;
	struct engine_merged merged; /* at each event, except last_time */
	uint64_t last_times[EVENTS];
	struct event events[EVENTS];
	struct entry records[RECORDS];
	struct record runs[RUNS]; /* given back by the merge */
};

struct ahead {
	struct source deferred; /* source of the merge: what it gives back goes into the batch */
	struct source *source;
	struct decode *decode;
	struct order *order;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	uint64_t written, read; /* number of batches so far */
	bool stop, ended;
	bool waits;   /* the engine waits for WAKE batches, or for the end */
	bool blocked; /* the thread waits for room for WAKE batches */
	bool drains;  /* the thread waits until the engine has read all batches */
	struct record given[GIVEN];
	size_t n_given;
	/* Used by the thread. */
	struct batch *batch;  /* being written */
	uint64_t held_before; /* bytes that the source held after the last drain */
	bool is_over;
	char apart[128]; /* keeps what follows out of the same cache line */
	/* Used by the engine. */
	struct batch *at;
	size_t event, record;
	struct batch batches[BATCHES];
};

static void free_ahead(struct ahead *a)
{
	a->order->source = a->source;
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	pthread_cond_destroy(&a->room);
	mem_free(a);
}

/* Gives back the records of a batch that the engine has applied. */
static void recycle(struct ahead *a, struct batch *b)
{
	for (size_t i = 0; i < b->n_runs; i++)
		source_release(a->source, &b->runs[i]);
	for (size_t i = 0; i < b->n_records; i++)
		if (!b->records[i].is_kept)
			source_release(a->source, &b->records[i].record);
	b->n_events = b->n_records = b->n_runs = 0;
}

static void take_given(struct ahead *a)
{
	for (size_t i = 0; i < a->n_given; i++)
		source_release(a->source, &a->given[i]);
	a->n_given = 0;
}

/* Called with the lock held: gives the batch to the engine. */
static void publish(struct ahead *a)
{
	a->written++;
	if (a->waits && (a->ended || a->drains || a->written - a->read >= WAKE)) {
		a->waits = false;
		pthread_cond_signal(&a->more);
	}
}

/* Takes the next batch, as soon as the engine has applied its old contents. */
static void hand_over(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	publish(a);
	a->blocked = a->written - a->read == BATCHES;
	while (!a->stop && a->blocked)
		pthread_cond_wait(&a->room, &a->lock);
	a->is_over = a->stop;
	take_given(a);
	pthread_mutex_unlock(&a->lock);
	a->batch = &a->batches[a->written % BATCHES];
	recycle(a, a->batch);
}

/*
 * Called when too many bytes are held: waits until the engine has read all batches, then gives back
 * their records.
 */
static void drain_batches(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->drains = true;
	publish(a);
	while (!a->stop && a->read < a->written)
		pthread_cond_wait(&a->room, &a->lock);
	a->drains = false;
	a->is_over = a->stop;
	take_given(a);
	pthread_mutex_unlock(&a->lock);
	for (size_t i = 0; !a->is_over && i < BATCHES; i++)
		recycle(a, &a->batches[i]);
	a->batch = &a->batches[a->written % BATCHES];
	recycle(a, a->batch);
	a->held_before = source_held(a->source);
}

/* Called when the merge gives back a run: events of the batch may still borrow from it. */
static void defer_run(struct source *s, struct record *r)
{
	struct ahead *a = (struct ahead *)s;

	if (a->batch->n_runs == RUNS)
		hand_over(a);
	a->batch->runs[a->batch->n_runs++] = *r;
}

static const struct source_ops deferred_ops = {.release = defer_run};

static void put_event(struct ahead *a, const struct event *ev)
{
	const struct order *o = a->order;
	struct batch *b = a->batch;
	bool differs = b->merged.n_late != o->n_late || b->merged.n_bad != a->decode->n_bad;

	if (b->n_events == EVENTS || (b->n_events && differs)) {
		hand_over(a);
		b = a->batch;
	}
	if (!b->n_events)
		merge_look(a->decode, o, &b->merged);
	b->last_times[b->n_events] = o->last_time;
	b->events[b->n_events++] = *ev;
}

static void merge(struct ahead *a, uint64_t until)
{
	const struct event *ev;

	order_flush(a->order, until);
	while (!a->is_over && !order_pop(a->order, &ev))
		put_event(a, ev);
}

static void put_record(struct ahead *a, const struct record *r)
{
	if (a->batch->n_records == RECORDS)
		hand_over(a);
	struct batch *b = a->batch;
	struct entry *e = &b->records[b->n_records++];
	*e = (struct entry){.record = *r, .before = (uint32_t)b->n_events};
	merge_look(a->decode, a->order, &e->merged);
	if (r->kind == RECORD_TICK)
		e->merged.mark = source_mark(a->source);
}

/* 0, SOURCE_END or a negative errno. */
static int step_ahead(struct ahead *a, struct error *err)
{
	struct record rec;
	uint64_t until;
	int r = source_next(a->source, IDLE_MS, &rec, err);

	if (r == SOURCE_END)
		merge(a, UINT64_MAX);
	if (r)
		return r == SOURCE_IDLE ? 0 : r;
	r = merge_take(a->decode, a->order, &rec, err);
	if (r < 0)
		source_release(a->source, &rec);
	if (r)
		return r < 0 ? r : 0;
	if (merge_until(&rec, &until))
		merge(a, until);
	put_record(a, &rec);
	if (source_held(a->source) > a->held_before + HELD_MOST && !a->is_over)
		drain_batches(a);
	return 0;
}

static void *run(void *arg)
{
	struct ahead *a = arg;
	struct error err = {0};
	int r = 0;

	while (!r && !a->is_over)
		r = step_ahead(a, &err);
	a->batch->end = r;
	a->batch->err = err;
	pthread_mutex_lock(&a->lock);
	a->ended = true;
	publish(a);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct ahead *ahead_new(struct source *s, struct decode *d, struct order *o)
{
	struct ahead *a = mem_calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->deferred.ops = &deferred_ops;
	a->source = s;
	a->decode = d;
	a->order = o;
	a->batch = a->batches;
	a->held_before = source_held(s);
	o->source = &a->deferred;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->room, NULL);
	if (!pthread_create(&a->thread, NULL, run, a))
		return a;
	free_ahead(a);
	return NULL;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->room);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	for (size_t i = 0; i < BATCHES; i++)
		recycle(a, &a->batches[i]);
	take_given(a);
	free_ahead(a);
}

static struct batch *next_batch(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->waits = a->read == a->written;
	while (a->waits)
		pthread_cond_wait(&a->more, &a->lock);
	pthread_mutex_unlock(&a->lock);
	a->event = a->record = 0;
	return &a->batches[a->read % BATCHES];
}

static void leave_batch(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->read++;
	if (a->drains && a->read == a->written)
		pthread_cond_signal(&a->room);
	if (a->blocked && a->written - a->read <= BATCHES - WAKE) {
		a->blocked = false;
		pthread_cond_signal(&a->room);
	}
	pthread_mutex_unlock(&a->lock);
	a->at = NULL;
}

/* False: the batch has been read. */
static bool next_in(struct ahead *a, struct batch *b, struct ahead_item *ret)
{
	struct entry *e = a->record < b->n_records ? &b->records[a->record] : NULL;
	size_t from = a->event, to = e ? e->before : b->n_events;

	a->event = to;
	if (from < to) {
		*ret = (struct ahead_item){.events = b->events + from,
					   .last_times = b->last_times + from,
					   .n = to - from,
					   .merged = b->merged};
		return true;
	}
	a->record += e != NULL;
	if (e)
		*ret = (struct ahead_item){.record = &e->record, .merged = e->merged};
	else
		*ret = (struct ahead_item){.end = b->end};
	return e || b->end;
}

void ahead_next(struct ahead *a, struct ahead_item *ret, struct error *err)
{
	for (;;) {
		if (!a->at)
			a->at = next_batch(a);
		if (next_in(a, a->at, ret))
			break;
		leave_batch(a);
	}
	if (ret->end < 0)
		*err = a->at->err;
}

void ahead_keep(struct ahead *a)
{
	a->at->records[a->record - 1].is_kept = true;
}

void ahead_release(struct ahead *a, const struct record *r)
{
	pthread_mutex_lock(&a->lock);
	a->given[a->n_given++] = *r;
	pthread_mutex_unlock(&a->lock);
}
