// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes records from the rings into the file. Runs of whole records stay in the rings, one ring
 * after another, until one call writes them all; only then their space in the rings is released. So
 * the file has the records of each ring in order, and ends with a whole record. If kontend is
 * killed during a write, the file may end within a record, as a prefix of the complete file.
 *
 * If the kernel counts its events, everything up to the head of a ring is written unread, since the
 * head is at the end of a whole record. Otherwise, or if the file may have room for a part only,
 * the headers of records are read, to count them and to find the last record that fits. Such a
 * batch is small enough to stay in the CPU cache while the kernel copies it.
 *
 * Records are counted without decoding them: by steps from header to header through bytes that are
 * still in the CPU cache. Sizes come from memory shared with the kernel, so an invalid size ends
 * the walk.
 */
#include "kontend/clock.h"
#include "kontend/load.h"
#include "kontend/record-direct.h"
#include "kontend/waitrec-sample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { BATCH_BYTES = 256 << 10, TIGHT_BYTES = 64 << 10 };

static bool sample_counts(const struct record_tally *t, const uint8_t *p, size_t size)
{
	uint32_t magic;

	if (!t->is_fed)
		return true;
	if (size < WAITREC_MAGIC_AT + sizeof(magic))
		return false;
	memcpy(&magic, p + WAITREC_MAGIC_AT, sizeof(magic));
	return waitrec_sample_is_wait(magic);
}

static void add_perf(struct record_tally *t, const uint8_t *p, size_t len)
{
	struct perf_event_header h;

	for (; len >= sizeof(h); p += h.size, len -= h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > len)
			return;
		if (h.type == PERF_RECORD_SAMPLE) {
			t->samples += sample_counts(t, p, h.size);
		} else if (h.type == PERF_RECORD_LOST && h.size >= 24) {
			/* The body is the id of the event, then the number of lost records. */
			t->lost += load_u64(p + 16);
		} else if (h.type == PERF_RECORD_LOST_SAMPLES && h.size >= 16) {
			t->lost += load_u64(p + 8);
		}
	}
}

void record_tally_add(struct record_tally *t, const struct record *r)
{
	struct record_drop drop;

	if (r->kind == RECORD_PERF) {
		add_perf(t, r->data, r->len);
	} else if (r->kind == RECORD_DROP && r->len == sizeof(drop)) {
		memcpy(&drop, r->data, sizeof(drop));
		t->dropped += drop.records;
	}
}

static void write_batch(struct record_direct *d)
{
	if (!d->n_spans || d->status < 0)
		return;
	d->status = record_file_put_runs(d->file, d->cpu, d->pieces, d->n_pieces, d->err);
	d->full |= d->status == WRITER_FULL;
	for (int i = 0; d->status == 0 && i < d->n_spans; i++) {
		ring_release(d->spans[i].ring, d->spans[i].end);
		d->tally->samples += d->spans[i].samples;
		d->tally->lost += d->spans[i].lost;
	}
	d->status = d->status == WRITER_FULL ? 0 : d->status;
	d->n_spans = d->n_pieces = 0;
	d->bytes = 0;
}

/* Bytes that may still be added to the batch. */
static uint64_t room(const struct record_direct *d)
{
	uint64_t all = record_file_room(d->file), used = d->reserve + d->bytes;

	return all > used ? all - used : 0;
}

/* Compression can make data slightly larger. */
static bool is_plenty(uint64_t room, uint64_t len)
{
	return room >= len + len / 32 + TIGHT_BYTES;
}

static void add_span(struct record_direct *d, struct drain_ring *r, const struct ring_span *s)
{
	if (d->sampler)
		record_sampler_run(d->sampler, r->cpu, s->piece, s->pieces);
	for (int i = 0; i < s->pieces; i++) {
		d->pieces[d->n_pieces++] = s->piece[i];
		d->bytes += s->piece[i].iov_len;
	}
	d->spans[d->n_spans++] = (struct record_span){&r->ring, s->end, s->samples, s->lost};
	d->cpu = r->cpu;
	if (d->bytes >= BATCH_BYTES || d->n_spans == RECORD_DIRECT_BATCH)
		write_batch(d);
}

static int put_record(struct record_direct *d, const struct record *r)
{
	int e = d->full ? WRITER_FULL : record_file_put(d->file, r, d->err);

	d->full |= e == WRITER_FULL;
	d->status = e < 0 ? e : 0;
	if (e != 0)
		return d->status;
	record_tally_add(d->tally, r);
	if (d->sampler)
		record_sampler_put(d->sampler, r, clock_now_ns());
	return 0;
}

/* Copies the records of a ring, as their event ids must be corrected before they are written. */
static int take_copies(struct record_direct *d, struct drain_ring *r, uint64_t head)
{
	uint8_t buf[RING_RECORD_MAX];
	struct record rec = {.kind = RECORD_PERF, .ring = r->cpu, .data = buf};
	int e = 0;

	write_batch(d);
	while (d->status == 0 && !d->full) {
		d->full = !is_plenty(room(d), RING_RECORD_MAX);
		if (d->full || (e = ring_drain(&r->ring, head, buf, sizeof(buf), &rec.len)) != 0)
			break;
		drain_restore_ids(r, buf, rec.len);
		put_record(d, &rec);
	}
	return e;
}

static int take_spans(struct record_direct *d, struct drain_ring *r, uint64_t head)
{
	struct ring_span s = {.end = *r->ring.tail};
	int e = 0;

	if (d->counted && is_plenty(room(d), head - s.end)) {
		e = ring_all(&r->ring, head, &s);
		if (e == 0)
			add_span(d, r, &s);
		return e;
	}
	while (d->status == 0 && !d->full) {
		uint64_t left = room(d),
			 most = is_plenty(left, BATCH_BYTES) ? BATCH_BYTES : TIGHT_BYTES;
		uint64_t from = s.end;
		e = ring_peek(&r->ring, from, head, left < most ? left : most, &s);
		if (e != 0)
			break;
		d->full = s.end - from > left;
		if (!d->full)
			add_span(d, r, &s);
		if (most == TIGHT_BYTES)
			write_batch(d);
	}
	return e;
}

static void sink_take(void *ctx, struct drain_ring *r, uint64_t head)
{
	struct record_direct *d = ctx;

	if (d->full)
		return;
	int e = r->renewed ? take_copies(d, r, head) : take_spans(d, r, head);

	if (e != -EBADMSG)
		return;
	/* Without the start of the next record, everything before the head is lost. */
	write_batch(d);
	r->drop.bytes += ring_used(&r->ring, head);
	r->drop.records++;
	ring_release(&r->ring, head);
}

static void sink_taken(void *ctx)
{
	write_batch(ctx);
}

static int sink_put(void *ctx, enum record_kind kind, uint32_t ring, const void *data, size_t len)
{
	struct record_direct *d = ctx;
	struct record r = {.kind = kind, .ring = ring, .data = data, .len = len};

	return d->status < 0 ? d->status : put_record(d, &r);
}

/*
 * False after a rotation: the losses that events count since the start are not those of the last
 * file.
 */
static bool sink_is_whole(void *ctx)
{
	const struct record_direct *d = ctx;

	return !record_file_parts(d->file)->finished;
}

struct drain_sink record_direct_sink(struct record_direct *d)
{
	return (struct drain_sink){
		.take = sink_take,
		.taken = sink_taken,
		.put = sink_put,
		.put_always = sink_put,
		.is_whole = sink_is_whole,
		.ctx = d,
	};
}
