// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pause of a history. It begins at a tick of its own, made from the latest round: only at a
 * tick it is known which events are applied, so only there the engine can leave a state and come
 * back to it. Records that arrive during the pause go into the log, after the limit. The way back
 * is the same as in all time travel: the model as it was, the reader at the mark, and from there on
 * all records in order.
 */
#include "history-int.h"
#include "kontend/snapshot.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { COLLECT_RECORDS = 256 };

static struct history *history_of(struct source *s)
{
	return (struct history *)s;
}

static uint64_t count_records(const struct record *r)
{
	const uint8_t *p = r->data;
	struct perf_event_header h;
	uint64_t n = 0;

	for (size_t at = 0; r->len - at >= sizeof(h); at += h.size, n++) {
		memcpy(&h, p + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > r->len - at)
			break;
	}
	return n;
}

/* In a pause, records that do not fit are counted. */
static void lose(struct history *h, const struct record *r)
{
	struct record_drop drop = {0};

	if (r->kind == RECORD_PERF)
		drop = (struct record_drop){count_records(r), r->len};
	else if (r->kind == RECORD_DROP && r->len == sizeof(drop))
		memcpy(&drop, r->data, sizeof(drop));
	h->lost.records += drop.records;
	h->lost.bytes += drop.bytes;
	h->lost_records += drop.records;
}

/* A snapshot may be too large to keep, but the log says that there was one. */
static int note_snapshot(struct history *h, const struct record *r)
{
	struct record_snapshot head = {0};
	struct record note = {.kind = RECORD_SNAPSHOT, .data = &head, .len = sizeof(head)};

	snapshot_parse(r->data, r->len, &head);
	head.flags |= RECORD_SNAPSHOT_LOST;
	return recordlog_append(&h->log, &note);
}

/* Records that are rare and small, and without which later records may make no sense. */
static bool is_needed(const struct record *r)
{
	return r->kind != RECORD_PERF && r->kind != RECORD_ROUND && r->kind != RECORD_TICK &&
	       r->kind != RECORD_FILL && r->kind != RECORD_DROP;
}

static void take_in(struct history *h, const struct record *r)
{
	bool is_full = h->log.bytes >= h->frozen_bytes + h->options.bytes;

	if (is_full && r->kind == RECORD_SNAPSHOT && !note_snapshot(h, r))
		return;
	/*
	 * After a loss, all further records are lost up to the end, so that one record can report
	 * the gap.
	 */
	if (((is_full || h->lost.records) && !is_needed(r)) || recordlog_append(&h->log, r))
		lose(h, r);
	else
		history_note_time(h, r);
}

/*
 * Appends a tick to the log, unless the log ends with a tick. If no round is later than the last
 * tick, the new one is 1 ns later than that, as two ticks at one time cannot be distinguished.
 */
static int add_tick(struct history *h)
{
	uint64_t t = h->stream_ns;
	const struct record tick = {.kind = RECORD_TICK, .data = &t, .len = sizeof(t)};

	if (!t || h->after_tick == h->log.end)
		return 0;
	if (t <= h->tick_ns)
		t = h->tick_ns + 1;
	int r = recordlog_append(&h->log, &tick);
	if (!r)
		history_note_time(h, &tick);
	return r;
}

int history_freeze(struct source *s, struct engine *e, struct error *err)
{
	struct history *h = history_of(s);
	int r = 0;

	if (h->is_frozen)
		return 0;
	if (add_tick(h))
		return error_enomem(err, "pausing");
	h->is_frozen = true;
	h->limit = h->log.end;
	h->frozen_bytes = h->log.bytes;
	/* The last record is the tick. The pump stops there, before it reaches the end. */
	while (h->next < h->limit && r >= 0)
		r = engine_pump(e, 0, err);
	if (r < 0)
		h->is_frozen = false;
	return r < 0 ? r : 0;
}

int history_collect(struct source *s, struct error *err)
{
	struct history *h = history_of(s);

	for (unsigned n = 0; n < COLLECT_RECORDS; n++) {
		struct record rec;
		int r = source_next(h->inner, 0, &rec, err);
		if (r)
			return r;
		take_in(h, &rec);
		source_release(h->inner, &rec);
	}
	return 0;
}

int history_travel(struct source *s, struct engine *e, struct error *err)
{
	struct history *h = history_of(s);
	struct model begin;

	if (!h->is_frozen || !h->n_bases)
		return HISTORY_EMPTY;
	if (!h->is_away) {
		if (model_copy(&h->now, e->model))
			return error_enomem(err, "leaving this moment");
		h->now_place = e->place;
		h->is_away = true;
	}
	int r = engine_packed_copy(&begin, &h->bases[0].model, &h->pack);
	if (r)
		return error_errno(err, r, "Cannot go back in time");
	r = engine_rewind(e, &begin, &h->bases[0].place, err);
	if (r)
		model_deinit(&begin);
	return r;
}

int history_thaw(struct source *s, struct engine *e, struct error *err)
{
	struct history *h = history_of(s);

	if (h->is_away) {
		int r = engine_rewind(e, &h->now, &h->now_place, err);
		if (r)
			return r;
		h->is_away = false;
	}
	h->is_frozen = false;
	return 0;
}
