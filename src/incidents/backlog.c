// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live source whose last seconds are kept. It passes each record on as it came, and puts a copy
 * into a packed log. A chunk of the log is closed when it is full or has a second of the stream. If
 * all its events are older than wanted, the state before the log (backlog-known.c) applies the
 * chunk, and the log drops it. So at every moment that state and the log are the whole stream, and
 * the time up to which they overlap is known.
 *
 * The time of the latest event of a chunk is known some rounds after it was closed: a round has the
 * time when the drain before it began, and events that a drain finds after that time are not later
 * than the begin of the next drain.
 */
#include "backlog-int.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { DEFAULT_BYTES = 32 << 20, ROUNDS = 3 };

static const uint64_t DEFAULT_SPAN_NS = 10000000000, CHUNK_NS = 1000000000;

static struct backlog *backlog_of(struct source *s)
{
	return (struct backlog *)s;
}

static bool is_prologue(const struct record *r)
{
	return r->kind == RECORD_HOST || r->kind == RECORD_ATTR || r->kind == RECORD_FORMAT;
}

static int keep_record(struct backlog_prologue *p, const struct record *r)
{
	if (mem_grow(&p->records, &p->cap, p->n, sizeof(*p->records)))
		return -ENOMEM;
	void *data = mem_dup(r->data, r->len, 1);
	if (!data)
		return -ENOMEM;
	p->records[p->n++] = (struct record){.kind = r->kind, .data = data, .len = r->len};
	return 0;
}

/* Symbols are some megabytes of text, which each incident needs once. */
static int keep_symbols(struct backlog *b, const struct record *r)
{
	struct recordlog_chunk *c = recordlog_chunk_new(&b->log.pack, r);

	if (c) {
		recordlog_chunk_unref(b->before.symbols);
		b->before.symbols = c;
	}
	return b->before.symbols ? 0 : -ENOMEM;
}

static void feed_chunk(struct backlog *b)
{
	struct error err = {0};

	b->lacks |= backlog_known_feed(&b->known, b->log.chunks[b->fed++], &err) < 0;
}

/* The time from which records are to be kept. */
static uint64_t wanted(const struct backlog *b)
{
	uint64_t from = b->stream_ns > b->options.span_ns ? b->stream_ns - b->options.span_ns : 0;

	return b->hold_ns && b->hold_ns < from ? b->hold_ns : from;
}

static size_t room(const struct backlog *b)
{
	return b->hold_ns ? b->options.bytes * 2 : b->options.bytes;
}

static void drop_chunk(struct backlog *b)
{
	uint64_t until = b->log.chunks[0]->until_ns;

	if (until > b->begin_ns)
		b->begin_ns = until;
	/* The chunk is so new that the time of its latest event is not known. */
	if (!until)
		b->torn = ROUNDS;
	recordlog_drop(&b->log, 1);
	b->fed -= b->fed > 0;
}

static void trim(struct backlog *b)
{
	struct recordlog *l = &b->log;
	uint64_t from = wanted(b);

	while (b->fed < l->n && l->chunks[b->fed]->until_ns && l->chunks[b->fed]->until_ns <= from)
		feed_chunk(b);
	while (b->fed && l->chunks[0]->until_ns && l->chunks[0]->until_ns <= b->known.until_ns)
		drop_chunk(b);
	while (l->bytes > room(b)) {
		if (!b->fed)
			feed_chunk(b);
		drop_chunk(b);
	}
}

/* Counts a round for closed chunks, from the newest back to the first whose time is known. */
static void count_round(struct recordlog *l, uint64_t time_ns)
{
	for (size_t i = l->n - (l->open != NULL); i > 0 && !l->chunks[i - 1]->until_ns; i--)
		if (++l->chunks[i - 1]->rounds == ROUNDS)
			l->chunks[i - 1]->until_ns = time_ns;
}

static void note_round(struct backlog *b, uint64_t time_ns)
{
	/* A round that is not later than the one before belongs to no drain. */
	bool goes_on = time_ns > b->round_ns;

	if (goes_on) {
		b->round_ns = time_ns;
		count_round(&b->log, time_ns);
	}
	if (b->torn && goes_on && !--b->torn)
		b->begin_ns = time_ns;
	trim(b);
}

static void note_time(struct backlog *b, const struct record *r)
{
	uint64_t t;

	if ((r->kind != RECORD_ROUND && r->kind != RECORD_TICK) || r->len != sizeof(t))
		return;
	memcpy(&t, r->data, sizeof(t));
	if (t > b->stream_ns)
		b->stream_ns = t;
	if (r->kind == RECORD_TICK)
		b->tick_ns = t;
	if (r->kind == RECORD_ROUND)
		note_round(b, t);
}

static int log_record(struct backlog *b, const struct record *r)
{
	if (b->stream_ns - b->opened_ns >= CHUNK_NS)
		recordlog_close(&b->log);
	const struct recordlog_chunk *open = b->log.open;
	int e = recordlog_append(&b->log, r);
	if (b->log.open != open)
		b->opened_ns = b->stream_ns;
	return e;
}

/* A record that cannot be kept does not stop the measurement: copies say that it is missing. */
static void remember(struct backlog *b, const struct record *r)
{
	struct error err = {0};

	if (r->kind == RECORD_KALLSYMS) {
		b->lacks |= keep_symbols(b, r) < 0;
		return;
	}
	if (is_prologue(r)) {
		b->headless |= keep_record(&b->before, r) < 0;
		b->lacks |= backlog_known_head(&b->known, r, &err) < 0;
		return;
	}
	if (log_record(b, r))
		b->torn = ROUNDS; /* a record is missing */
	note_time(b, r);
	if (b->log.bytes > room(b))
		trim(b);
}

static int backlog_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct backlog *b = backlog_of(s);
	int r = source_next(b->inner, timeout_ms, ret, err);

	if (r == 0)
		remember(b, ret);
	return r;
}

static void backlog_release(struct source *s, struct record *r)
{
	source_release(backlog_of(s)->inner, r);
}

static int backlog_fd(struct source *s)
{
	return source_fd(backlog_of(s)->inner);
}

static void backlog_set_tick(struct source *s, uint64_t tick_ns)
{
	source_set_tick(backlog_of(s)->inner, tick_ns);
}

static void backlog_tick_now(struct source *s)
{
	source_tick_now(backlog_of(s)->inner);
}

static void deinit(struct backlog *b)
{
	for (size_t i = 0; i < b->before.n; i++)
		mem_free((void *)(uintptr_t)b->before.records[i].data);
	mem_free(b->before.records);
	recordlog_chunk_unref(b->before.symbols);
	recordlog_deinit(&b->log);
	backlog_known_deinit(&b->known);
	mem_free(b);
}

static void backlog_free(struct source *s)
{
	struct backlog *b = backlog_of(s);

	source_free(b->inner);
	deinit(b);
}

static const struct source_ops backlog_ops = {
	.next = backlog_next,
	.release = backlog_release,
	.fd = backlog_fd,
	.set_tick = backlog_set_tick,
	.tick_now = backlog_tick_now,
	.free = backlog_free,
};

int backlog_new(struct source **ret, struct source *inner, const struct backlog_options *o,
		struct error *err)
{
	struct backlog *b = mem_calloc(1, sizeof(*b));

	if (!b)
		return error_enomem(err, "the last seconds");
	b->source.ops = &backlog_ops;
	b->inner = inner;
	if (o)
		b->options = *o;
	if (!b->options.bytes)
		b->options.bytes = DEFAULT_BYTES;
	if (!b->options.span_ns)
		b->options.span_ns = DEFAULT_SPAN_NS;
	int r = backlog_known_init(&b->known, err);
	if (r == 0 && recordlog_init(&b->log))
		r = error_enomem(err, "the last seconds");
	if (r) {
		deinit(b);
		return r;
	}
	*ret = &b->source;
	return 0;
}

static uint64_t begin_of(const struct backlog *b)
{
	return b->torn ? b->stream_ns : b->begin_ns;
}

void backlog_stat(struct source *s, struct backlog_stat *ret)
{
	const struct backlog *b = backlog_of(s);

	*ret = (struct backlog_stat){
		.begin_ns = begin_of(b),
		.stream_ns = b->stream_ns,
		.tick_ns = b->tick_ns,
		.bytes = b->log.bytes + RECORDLOG_CHUNK,
		.known_bytes = backlog_known_bytes(&b->known) +
			       (b->before.symbols ? recordlog_chunk_bytes(b->before.symbols) : 0),
		.raw_bytes = b->log.raw_bytes,
	};
}

void backlog_hold(struct source *s, uint64_t from_ns)
{
	struct backlog *b = backlog_of(s);

	b->hold_ns = from_ns;
	trim(b);
}

int backlog_take(struct source *s, uint64_t clock_ns, uint64_t wall_ns, struct backlog_taken *ret,
		 struct error *err)
{
	struct backlog *b = backlog_of(s);

	*ret = (struct backlog_taken){
		.begin_ns = begin_of(b), .known_ns = b->known.until_ns, .lacks = b->lacks};
	if (b->headless)
		return error_set(err, -ENOMEM,
				 "There was no memory to keep the records from before the events, "
				 "without which nothing can be read");
	recordlog_close(&b->log);
	int r = backlog_copy(b, clock_ns, wall_ns, &ret->source);
	r = r ? r : backlog_known_names(&b->known, &ret->names, &ret->names_len);
	if (r == 0)
		return 0;
	backlog_taken_deinit(ret);
	return error_enomem(err, "taking the last seconds");
}

void backlog_taken_deinit(struct backlog_taken *t)
{
	source_free(t->source);
	mem_free(t->names);
	*t = (struct backlog_taken){0};
}
