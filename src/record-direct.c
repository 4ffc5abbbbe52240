// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the rings into the file. Runs of whole records are collected where they lie, of one ring
 * after the other, and written by one call; only then their room in the rings is given back. So the
 * file has each ring's records in its order and ends with a whole one, unless we are killed in the
 * middle of a write: then it ends within a record, as a prefix of what would have been written.
 *
 * A batch is small enough for the cache: its record headers are read, for the counts and for where
 * the last whole record ends, just before the kernel copies it.
 */
#include "record-direct.h"

#include <errno.h>

enum { BATCH_BYTES = 256 << 10 };

static void write_batch(struct record_direct *d)
{
	if (!d->n_spans || d->status < 0)
		return;
	d->status = record_file_put_runs(d->file, d->cpu, d->pieces, d->n_pieces, d->err);
	for (int i = 0; d->status == 0 && i < d->n_spans; i++)
		ring_release(d->spans[i].ring, d->spans[i].end);
	d->n_spans = d->n_pieces = 0;
	d->bytes = 0;
}

static void add(struct record_direct *d, struct drain_ring *r, const struct ring_span *s)
{
	for (int i = 0; i < s->pieces; i++) {
		d->pieces[d->n_pieces++] = s->piece[i];
		d->bytes += s->piece[i].iov_len;
	}
	d->spans[d->n_spans].ring = &r->ring;
	d->spans[d->n_spans++].end = s->end;
	d->cpu = r->cpu;
	d->tally->samples += s->samples;
	d->tally->lost += s->lost;
	if (d->bytes >= BATCH_BYTES || d->n_spans == RECORD_DIRECT_BATCH)
		write_batch(d);
}

static int put(struct record_direct *d, const struct record *r)
{
	record_tally_add(d->tally, r);
	d->status = record_file_put(d->file, r, d->err);
	return d->status;
}

/* Ids are to be put right: what the kernel has written must be copied for that. */
static int take_copies(struct record_direct *d, struct drain_ring *r, uint64_t head)
{
	uint8_t buf[RING_RECORD_MAX];
	struct record rec = {.kind = RECORD_PERF, .ring = r->cpu, .data = buf};
	int e = 0;

	write_batch(d);
	while (d->status == 0 &&
	       (e = ring_drain(&r->ring, head, buf, sizeof(buf), &rec.len)) == 0) {
		drain_restore_ids(r, buf, rec.len);
		put(d, &rec);
	}
	return e;
}

static int take_spans(struct record_direct *d, struct drain_ring *r, uint64_t head)
{
	struct ring_span s = {.end = *r->ring.tail};
	int e = 0;

	while (d->status == 0 && (e = ring_peek(&r->ring, s.end, head, BATCH_BYTES, &s)) == 0)
		add(d, r, &s);
	return e;
}

static void sink_take(void *ctx, struct drain_ring *r, uint64_t head)
{
	struct record_direct *d = ctx;
	int e = r->renewed ? take_copies(d, r, head) : take_spans(d, r, head);

	if (e != -EBADMSG)
		return;
	/* The next record cannot be found: everything before the head is lost. */
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

	return d->status < 0 ? d->status : put(d, &r);
}

struct drain_sink record_direct_sink(struct record_direct *d)
{
	return (struct drain_sink){
		.take = sink_take,
		.taken = sink_taken,
		.put = sink_put,
		.put_always = sink_put,
		.ctx = d,
	};
}
