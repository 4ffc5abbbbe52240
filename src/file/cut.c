// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of perf records are cut record by record: times come from the decoder, and a record of
 * unknown type has the time of the previous one in its ring. Nothing is copied: each stretch of
 * records that stay is written as one piece. Reading ends when the stream says that it is complete
 * up to the end of the range and, if short waits are in sums, when the first sums after the end
 * were read. The recording is read twice: symbols must come first, but only the first pass finds
 * out which ones are needed; all of them would make up most of a small cut.
 */
#include "kontend/cut.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "rewrite.h"
#include <errno.h>
#include <string.h>

enum { MOST_RINGS = 4096, STATE_SHRINK = 1000000, KNOWN_SHRINK = 1000 };

/*
 * Sums of short waits are read once a second, so a cut begins and ends between two readings: each
 * end gets a snapshot of its own, with the sums estimated for that moment. All snapshots come here
 * in the order of the stream.
 */
struct cut_shorts {
	void *last; /* the body of the latest snapshot; NULL: none has come */
	size_t len;
	uint64_t last_ns;
};

struct cut {
	struct rewrite rewrite;
	struct writer *writer;
	uint64_t begin; /* mark of the stream's first record */
	bool has_begin;
	const struct cut_part *part;
	uint64_t from_ns, to_ns; /* of the first pass */
	uint64_t now_ns;	 /* everything up to here was emitted */
	bool has_events;
	struct snapshot_set before;	  /* the latest ones before the range */
	struct cut_shorts shorts;	  /* of the current pass */
	uint64_t copy[8192];		  /* of one record: 64 KiB at most */
	uint64_t ring_ns[MOST_RINGS + 1]; /* time of the last record that has one */
};

/*
 * If @at_ns lies between the latest snapshot and @r, *ret is a snapshot of that time, and the
 * caller frees its body with mem_free(): 1; else 0, or -ENOMEM.
 */
static int cut_shorts_at(const struct cut_shorts *s, const struct record *r, uint64_t at_ns,
			 struct record *ret)
{
	const size_t head = sizeof(struct record_snapshot);

	return s->last ? snapshot_shorts_between((const char *)s->last + head, s->len - head,
						 s->last_ns, r, at_ns, ret)
		       : 0;
}

/* Makes @r the latest snapshot. 0 or -ENOMEM. */
static int cut_shorts_took(struct cut_shorts *s, const struct record *r)
{
	void *copy = mem_dup(r->data, r->len, 1);

	if (!copy)
		return -ENOMEM;
	mem_free(s->last);
	s->last = copy;
	s->len = r->len;
	(void)snapshot_is_shorts(r, &s->last_ns);
	return 0;
}

/* There are such snapshots, but none of @until_ns or later yet. */
static bool cut_shorts_lacks(const struct cut_shorts *s, uint64_t until_ns)
{
	return s->last && s->last_ns < until_ns;
}

static void cut_shorts_deinit(struct cut_shorts *s)
{
	mem_free(s->last);
	*s = (struct cut_shorts){0};
}

/* Numbers of rings come from the file: those above any real number share one entry. */
static uint64_t *time_of(struct cut *c, uint32_t ring)
{
	return &c->ring_ns[ring < MOST_RINGS ? ring : MOST_RINGS];
}

/* Records of a state that began before the range and continues: names, forks, maps. */
static bool says_state(uint32_t type)
{
	return type != PERF_RECORD_SAMPLE && type != PERF_RECORD_LOST &&
	       type != PERF_RECORD_LOST_SAMPLES && type != PERF_RECORD_THROTTLE &&
	       type != PERF_RECORD_UNTHROTTLE;
}

/* State up to `known_ns` is already in the records without a time. */
static bool is_known(const struct cut *c, uint64_t time)
{
	return time && time <= c->part->known_ns;
}

enum verdict { CUT_DROP, CUT_KEEP, CUT_KEEP_STATE };

/* *ret_size 0: the rest of the run is not needed. */
static enum verdict judge(struct cut *c, uint32_t ring, const uint8_t *p, size_t len,
			  size_t *ret_size)
{
	uint64_t *time = time_of(c, ring);
	struct perf_event_header h;
	struct event ev;

	int result = decode_event(&c->rewrite.decode, p, len, ring, &ev, ret_size);
	bool known = result == 0;
	if (result != DECODE_BAD && ev.time && ev.time <= INT64_MAX)
		*time = ev.time;
	if (!*ret_size || *time > c->to_ns)
		return CUT_DROP;
	if (*time > c->from_ns)
		return known && c->part->keep && !c->part->keep(c->part->ctx, &ev) ? CUT_DROP
										   : CUT_KEEP;
	memcpy(&h, p, sizeof(h));
	return says_state(h.type) && !is_known(c, *time) ? CUT_KEEP_STATE : CUT_DROP;
}

/* The time of a record that is no sample; NULL: it has none. */
static uint8_t *time_in(const struct cut *c, uint8_t *p, size_t size)
{
	const struct decode *d = &c->rewrite.decode;
	const struct decode_attr *a = d->n_attrs ? &d->attrs[0] : NULL;
	const uint32_t *index;
	uint64_t id;

	size = decode_whole_size(d, p, size);
	if (d->identifier && size >= sizeof(struct perf_event_header) + sizeof(id)) {
		memcpy(&id, p + size - sizeof(id), sizeof(id));
		index = map64_get(&d->ids, id);
		a = index ? &d->attrs[*index] : NULL;
	}
	if (!a || !a->trail_time || a->trail_time + sizeof(struct perf_event_header) > size)
		return NULL;
	return p + size - a->trail_time;
}

/* Fork and exit records contain a second time, and that one counts. */
static uint8_t *task_time_in(uint8_t *p, size_t size)
{
	enum { PLACE = sizeof(struct perf_event_header) + 4 * sizeof(uint32_t) };
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	if (h.type != PERF_RECORD_FORK && h.type != PERF_RECORD_EXIT)
		return NULL;
	return size >= PLACE + sizeof(uint64_t) ? p + PLACE : NULL;
}

static void move_time(const struct cut *c, uint8_t *at)
{
	const uint64_t shrink = c->part->known_ns ? KNOWN_SHRINK : STATE_SHRINK;
	uint64_t t;

	if (!at)
		return;
	memcpy(&t, at, sizeof(t));
	if (t && t < c->from_ns)
		t = c->from_ns - (c->from_ns - t) / shrink;
	memcpy(at, &t, sizeof(t));
}

/*
 * State from before the range gets a time shortly before it, in the same order: otherwise the cut
 * would begin at the first such record, perhaps hours earlier. If most of the state is known anyway
 * the rest spans seconds, so only records within the same microsecond may change their order.
 */
static int put_state(struct cut *c, const struct record *r, size_t from, size_t size,
		     struct error *err)
{
	struct record copy = *r;

	memcpy(c->copy, (const uint8_t *)r->data + from, size);
	copy.data = c->copy;
	copy.len = size;
	move_time(c, time_in(c, (uint8_t *)c->copy, size));
	move_time(c, task_time_in((uint8_t *)c->copy, size));
	return writer_put(c->writer, &copy, err);
}

static int put_piece(struct cut *c, const struct record *r, size_t from, size_t to,
		     struct error *err)
{
	struct record piece = *r;

	piece.data = (const uint8_t *)r->data + from;
	piece.len = to - from;
	return from < to ? writer_put(c->writer, &piece, err) : 0;
}

static int take_run(struct cut *c, const struct record *r, struct error *err)
{
	const uint8_t *data = r->data;
	size_t from = 0, size;
	int e = 0;

	for (size_t at = 0; at < r->len && !e; at += size) {
		enum verdict v = judge(c, r->ring, data + at, r->len - at, &size);

		if (!size)
			return put_piece(c, r, from, at, err);
		if (v == CUT_KEEP)
			continue;
		e = put_piece(c, r, from, at, err);
		from = at + size;
		if (!e && v == CUT_KEEP_STATE)
			e = put_state(c, r, at, size, err);
	}
	return e ? e : put_piece(c, r, from, r->len, err);
}

/* 0 for records without a time. */
static uint64_t note_time(struct cut *c, const struct record *r)
{
	uint64_t t = 0;

	if ((r->kind == RECORD_ROUND || r->kind == RECORD_TICK) && r->len == sizeof(t))
		memcpy(&t, r->data, sizeof(t));
	if (t > c->now_ns)
		c->now_ns = t;
	return t;
}

static int take_time(struct cut *c, const struct record *r, struct error *err)
{
	uint64_t t = note_time(c, r);

	return t > c->from_ns && t <= c->to_ns ? writer_put(c->writer, r, err) : 0;
}

/* A single table before the first event can be reduced; others are written as they are. */
static int take_symbols(struct cut *c, const struct record *r, struct error *err)
{
	int e = c->has_events ? REWRITE_AS_IS : rewrite_symbols(&c->rewrite, r, err);

	return e == REWRITE_AS_IS ? writer_put(c->writer, r, err) : e;
}

static int keep_snapshot(struct cut *c, const struct record *r, struct error *err)
{
	return snapshot_set_put(&c->before, r->data, r->len) == -ENOMEM ? rewrite_no_memory(err)
									: 0;
}

/* If @at_ns lies between @r and the sums before it, calls @put with the sums of that time. */
static int take_shorts(struct cut *c, const struct record *r, uint64_t at_ns,
		       int (*put)(struct cut *, const struct record *, struct error *),
		       struct error *err)
{
	struct record at;
	int e = cut_shorts_at(&c->shorts, r, at_ns, &at);

	if (e < 0)
		return rewrite_no_memory(err);
	if (e > 0) {
		e = put(c, &at, err);
		mem_free((void *)(uintptr_t)at.data);
		if (e)
			return e;
	}
	return cut_shorts_took(&c->shorts, r) < 0 ? rewrite_no_memory(err) : 0;
}

/* Keeps the latest snapshots before the range, by the time when they were taken. */
static int look_at_snapshot(struct cut *c, const struct record *r, struct error *err)
{
	const struct snapshot *last;
	struct record_snapshot head;

	if (!snapshot_parse(r->data, r->len, &head) || head.flags & RECORD_SNAPSHOT_LOST)
		return 0;
	/* there may be several, and each adds something */
	if (head.kind == SNAPSHOT_FUNCS || head.kind == SNAPSHOT_CFI)
		return writer_put(c->writer, r, err);
	if (snapshot_is_lasting(head.kind))
		return keep_snapshot(c, r, err);
	if (!rewrite_has_no_address(head.kind)) {
		c->has_events = true;
		rewrite_snapshot(&c->rewrite, r);
	}
	/* Sums estimated for the beginning replace the latest ones before it. */
	int e = head.kind == SNAPSHOT_SHORT ? take_shorts(c, r, c->from_ns, keep_snapshot, err) : 0;
	if (e || head.time_ns > c->from_ns)
		return e;
	last = snapshot_set_get(&c->before, head.kind);
	return last && last->head.time_ns > head.time_ns ? 0 : keep_snapshot(c, r, err);
}

/* Snapshots keep their times, as they come before everything else. */
static int put_snapshots(struct cut *c, struct error *err)
{
	int e = 0;

	for (size_t i = 0; !e && i < c->before.n; i++) {
		const struct snapshot *s = c->before.last[i];
		struct record r = {.kind = RECORD_SNAPSHOT, .len = sizeof(s->head) + s->len};
		uint8_t *body = mem_calloc(1, r.len);

		if (!body)
			return rewrite_no_memory(err);
		memcpy(body, &s->head, sizeof(s->head));
		memcpy(body + sizeof(s->head), s->bytes, s->len);
		r.data = body;
		e = writer_put(c->writer, &r, err);
		mem_free(body);
	}
	return e;
}

static int put_record(struct cut *c, const struct record *r, struct error *err)
{
	return writer_put(c->writer, r, err);
}

static int take_snapshot(struct cut *c, const struct record *r, struct error *err)
{
	struct record_snapshot head;
	uint64_t time_ns;
	/* Sums estimated for the end are the last ones of the cut. */
	int e = snapshot_is_shorts(r, &time_ns) ? take_shorts(c, r, c->to_ns, put_record, err) : 0;

	if (e)
		return e;
	if (!snapshot_parse(r->data, r->len, &head) || head.time_ns <= c->from_ns ||
	    head.time_ns > c->to_ns)
		return 0;
	return writer_put(c->writer, r, err);
}

/* Everything that the range needs was taken. */
static int stop_at_end(const struct cut *c, int e)
{
	if (e)
		return e;
	return c->now_ns < c->to_ns || cut_shorts_lacks(&c->shorts, c->to_ns) ? 0 : SOURCE_END;
}

static int put_head(struct cut *c, const struct record *r, struct error *err)
{
	int e = rewrite_learn(&c->rewrite, r, err);

	return e ? e : writer_put(c->writer, r, err);
}

/* First pass: writes the records before the stream, and finds the symbols that are needed. */
static int take_first(void *ctx, struct source *s, const struct record *r, struct error *err)
{
	struct cut *c = ctx;

	if (r->kind == RECORD_KALLSYMS)
		return take_symbols(c, r, err);
	if (r->kind == RECORD_HOST || r->kind == RECORD_ATTR || r->kind == RECORD_FORMAT)
		return put_head(c, r, err);
	if (!c->has_begin)
		c->begin = source_mark(s);
	c->has_begin = true;
	if (r->kind == RECORD_PERF)
		c->has_events |= rewrite_run(&c->rewrite, r, c->from_ns + 1, c->to_ns);
	note_time(c, r);
	return stop_at_end(c, r->kind == RECORD_SNAPSHOT ? look_at_snapshot(c, r, err) : 0);
}

static int take_kind(struct cut *c, const struct record *r, struct error *err)
{
	switch (r->kind) {
	case RECORD_PERF:
		return take_run(c, r, err);
	case RECORD_ROUND:
	case RECORD_TICK:
		return take_time(c, r, err);
	case RECORD_DROP:
	case RECORD_FILL:
		return c->now_ns >= c->from_ns ? writer_put(c->writer, r, err) : 0;
	case RECORD_CPU:
		return writer_put(c->writer, r, err);
	case RECORD_SNAPSHOT:
		return take_snapshot(c, r, err);
	default:
		return 0;
	}
}

/* Second pass: the range itself. */
static int take_second(void *ctx, struct source *s, const struct record *r, struct error *err)
{
	(void)s;
	return stop_at_end(ctx, take_kind(ctx, r, err));
}

/* Rates are over the range: the time before it is no part of the cut. */
static int put_start(struct cut *c, struct error *err)
{
	uint64_t start = c->part->start_ns ? c->part->start_ns : c->from_ns;
	struct record r = {.kind = RECORD_START, .data = &start, .len = sizeof(start)};

	return writer_put(c->writer, &r, err);
}

static int put_symbols(struct cut *c, struct error *err)
{
	struct record r;

	if (!c->rewrite.marks)
		return 0;
	int e = rewrite_excerpt(&c->rewrite, &r, err);
	if (!e)
		e = writer_put(c->writer, &r, err);
	mem_free((void *)(uintptr_t)r.data);
	return e;
}

/* Lasting snapshots have no kernel addresses, as in look_at_snapshot(). */
static void look_at_more(struct cut *c)
{
	struct record_snapshot head;

	for (size_t i = 0; i < c->part->n_more; i++)
		if (snapshot_parse(c->part->more[i].data, c->part->more[i].len, &head) &&
		    !snapshot_is_lasting(head.kind))
			rewrite_snapshot(&c->rewrite, &c->part->more[i]);
}

static int put_more(struct cut *c, struct error *err)
{
	int e = 0;

	for (size_t i = 0; !e && i < c->part->n_more; i++)
		e = writer_put(c->writer, &c->part->more[i], err);
	return e;
}

static int run(struct cut *c, struct source *s, struct error *err)
{
	int e = rewrite_pass(s, take_first, c, err);

	look_at_more(c);
	if (!e)
		e = put_symbols(c, err);
	if (!e)
		e = put_more(c, err);
	if (!e)
		e = put_snapshots(c, err);
	if (!e)
		e = put_start(c, err);
	if (e || !c->has_begin)
		return e;
	c->now_ns = 0;
	cut_shorts_deinit(&c->shorts);
	e = source_seek(s, c->begin, err);
	return e ? e : rewrite_pass(s, take_second, c, err);
}

int cut_range(struct source *s, struct writer *w, const struct cut_part *p, struct error *err)
{
	if (!source_can_seek(s))
		return error_set(err, -ESPIPE, "Cannot cut: the input cannot be read twice");
	struct cut *c = mem_calloc(1, sizeof(*c));
	if (!c)
		return rewrite_no_memory(err);
	c->writer = w;
	c->part = p;
	c->from_ns = p->from_ns;
	c->to_ns = p->to_ns;
	int e = rewrite_init(&c->rewrite, err);
	if (!e) {
		e = run(c, s, err);
		rewrite_deinit(&c->rewrite);
	}
	snapshot_set_deinit(&c->before);
	cut_shorts_deinit(&c->shorts);
	mem_free(c);
	return e;
}
