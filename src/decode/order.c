// SPDX-License-Identifier: GPL-2.0-only
/*
 * K-way merge. A stream is one ring: a FIFO of runs of records, and its decoded head event. A
 * tournament tree over the heads' times yields the earliest (on a tie, of the lower ring); when a
 * stream advances, only its path to the root is replayed: log2(rings) comparisons without branches.
 * The winner is returned in place and advanced at the next pop, so its bytes stay valid in between.
 * Within a ring the order is the ring's; an event older than its predecessor takes the
 * predecessor's place in time and keeps its own time stamp.
 * The kernel writes a loss when there is room again, with the time of then. The lost records
 * followed the previous record of the ring: so the loss is returned at that time, with its end as a
 * field. Otherwise waits on a CPU with losses would be summed up before the loss is known.
 */
#include "kontend/order.h"
#include "kontend/mem.h"
#include "kontend/prefetch.h"
#include <errno.h>

enum { AHEAD = 1024 }; /* bytes to prefetch: memory is slower than the decoder */

struct order_run {
	struct record record;
	struct order_run *next;
};

struct order_stream {
	struct event head;
	uint64_t key; /* max of the times of the head and its predecessors */
	uint32_t ring;
	const uint8_t *pos, *end; /* within the first run, after the head */
	bool gap_reported;	  /* the loss before the record at `pos` was returned */
	struct order_run *first, *last;
};

void order_init(struct order *o, struct decode *d, struct source *s)
{
	*o = (struct order){.decode = d, .source = s};
}

static void drop_run(struct order *o, struct order_stream *st)
{
	struct order_run *run = st->first;

	st->first = run->next;
	if (!st->first)
		st->last = NULL;
	st->pos = st->first ? st->first->record.data : NULL;
	st->end = st->first ? st->pos + st->first->record.len : NULL;
	if (o->source)
		source_release(o->source, &run->record);
	mem_free(run);
}

void order_deinit(struct order *o)
{
	for (size_t i = 0; i < o->n_leaves; i++) {
		struct order_stream *st = o->streams[i];
		while (st && st->first)
			drop_run(o, st);
		mem_free(st);
	}
	mem_free(o->streams);
	mem_free(o->keys);
	mem_free(o->tree);
	*o = (struct order){0};
}

/* Replays the matches between the leaf of @ring and the root. */
static void replay(struct order *o, uint32_t ring)
{
	const uint64_t *keys = o->keys;
	uint32_t *tree = o->tree;

	for (size_t node = (o->n_leaves + ring) / 2; node; node /= 2) {
		uint32_t l = tree[2 * node], r = tree[2 * node + 1];
		tree[node] = keys[r] < keys[l] ? r : l;
	}
}

static bool is_loss(const struct event *ev)
{
	return ev->kind == EVENT_LOST || ev->kind == EVENT_LOST_SAMPLES;
}

/* The head's record reports a loss before it: makes that loss a separate event, returned first. */
static void report_gap(struct order_stream *st)
{
	const struct event ev = st->head;

	st->head = (struct event){.kind = EVENT_LOST, .cpu = ev.cpu, .pid = -1, .tid = -1};
	st->head.time = st->key;
	st->head.lost.n = ev.kind == EVENT_CONTENTION_BEGIN ? ev.begin.missed : 0;
	st->head.lost.until = ev.time;
}

/* Makes the decoded event the head. Returns the bytes to advance by: 0 to decode it again. */
static size_t take_head(struct order_stream *st, size_t size)
{
	struct event *ev = &st->head;

	if (is_loss(ev)) {
		ev->time = ev->lost.until ? st->key : 0;
		return size;
	}
	if (ev->after_gap && !st->gap_reported) {
		st->gap_reported = true;
		report_gap(st);
		return 0;
	}
	if (st->gap_reported && ev->kind == EVENT_CONTENTION_BEGIN)
		ev->begin.missed = 0;
	st->gap_reported = false;
	if (ev->time > st->key && ev->time < ORDER_NO_HEAD)
		st->key = ev->time;
	return size;
}

/* Decodes the stream's next needed event, if any, into its head, and sets its key. */
static void advance(struct order *o, struct order_stream *st)
{
	while (st->first) {
		while (st->pos < st->end) {
			size_t size;
			int r = decode_event(o->decode, st->pos, (size_t)(st->end - st->pos),
					     st->ring, &st->head, &size);
			prefetch_record(st->pos + AHEAD);
			/* Without a valid size the next record of the run cannot be found. */
			if (r) {
				st->pos = size ? st->pos + size : st->end;
				continue;
			}
			st->pos += take_head(st, size);
			o->keys[st->ring] = st->key;
			return;
		}
		drop_run(o, st);
	}
	o->keys[st->ring] = ORDER_NO_HEAD;
}

/* Makes room for rings up to @ring. Allocates everything before it changes anything. */
static int grow(struct order *o, uint32_t ring)
{
	size_t n = o->n_leaves ? o->n_leaves : 1;

	while (n <= ring)
		n *= 2;
	struct order_stream **streams = mem_resize(o->streams, n, sizeof(*streams));
	if (streams)
		o->streams = streams;
	uint64_t *keys = mem_resize(o->keys, n, sizeof(*keys));
	if (keys)
		o->keys = keys;
	uint32_t *tree = mem_calloc(2 * n, sizeof(*tree));
	if (!streams || !keys || !tree) {
		mem_free(tree);
		return -ENOMEM;
	}
	mem_free(o->tree);
	o->tree = tree;
	for (size_t i = o->n_leaves; i < n; i++) {
		o->streams[i] = NULL;
		o->keys[i] = ORDER_NO_HEAD;
	}
	o->n_leaves = n;
	for (size_t i = 0; i < n; i++)
		tree[n + i] = (uint32_t)i;
	for (size_t node = n - 1; node; node--) {
		uint32_t l = tree[2 * node], r = tree[2 * node + 1];
		tree[node] = o->keys[r] < o->keys[l] ? r : l;
	}
	return 0;
}

static int add_stream(struct order *o, uint32_t ring)
{
	if (ring >= o->n_leaves && grow(o, ring))
		return -ENOMEM;
	if (o->streams[ring])
		return 0;
	o->streams[ring] = mem_calloc(1, sizeof(*o->streams[ring]));
	if (!o->streams[ring])
		return -ENOMEM;
	o->streams[ring]->ring = ring;
	return 0;
}

/* Advances the stream returned last. */
static void settle(struct order *o)
{
	struct order_stream *st = o->current;

	if (!st)
		return;
	o->current = NULL;
	advance(o, st);
	replay(o, st->ring);
}

/* Rings are CPUs or a few more; a higher number is from a damaged stream. */
enum { MAX_RINGS = 65536 };

int order_push(struct order *o, const struct record *r)
{
	if (r->ring >= MAX_RINGS)
		return -EINVAL;
	settle(o);
	int e = add_stream(o, r->ring);
	if (e)
		return e;
	struct order_stream *st = o->streams[r->ring];
	struct order_run *run = mem_calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->record = *r;
	if (st->last)
		st->last->next = run;
	else {
		st->first = run;
		st->pos = r->data;
		st->end = st->pos + r->len;
	}
	st->last = run;
	if (o->keys[r->ring] == ORDER_NO_HEAD) {
		advance(o, st);
		replay(o, r->ring);
	}
	return 0;
}

void order_flush(struct order *o, uint64_t until)
{
	if (until > o->limit)
		o->limit = until;
}

int order_pop(struct order *o, const struct event **ret)
{
	settle(o);
	if (!o->n_leaves)
		return ORDER_EMPTY;
	uint32_t ring = o->tree[1];
	uint64_t key = o->keys[ring];
	if (key > o->limit || key == ORDER_NO_HEAD)
		return ORDER_EMPTY;
	struct order_stream *st = o->streams[ring];
	if (key >= o->last_time)
		o->last_time = key;
	else if (st->head.time && !is_loss(&st->head))
		o->n_late++;
	o->current = st;
	*ret = &st->head;
	return 0;
}
