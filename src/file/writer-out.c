// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output. Bytes are collected into whole records before they are written, and `good` is the length
 * of all whole records in the file: if a write fails halfway, the file is truncated to it and stays
 * readable. With compression each piece of a ring and each long sample of kontend is a zstd frame
 * of its own, in as many records as necessary. A whole frame is compressed directly from its
 * source, which takes a quarter less time than a stream that first copies bytes to remember them.
 *
 * A file may have a maximum length, which includes its end; the size of the end is known as soon as
 * the head is written. The length of uncompressed data is known before they are written, that of
 * compressed data only afterwards: so where the limit may be exceeded, the buffer is first written
 * out, the data are compressed into it, and removed from it again if they are too long.
 */
#include "kontend/mem.h"
#include "writer.h"
#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	OUT_BYTES = 256 << 10,
	FRAME = 256 << 10, /* bytes in one: a reader can resume at the start of each */
	FRAME_LEAST = 64 << 10,
};

int writer_bytes_add(struct writer_bytes *b, const void *data, size_t len)
{
	if (b->cap - b->len < len && !b->failed) {
		size_t cap = b->cap ? b->cap : 4096;
		while (cap - b->len < len)
			cap *= 2;
		uint8_t *more = mem_resize(b->data, cap, 1);
		b->failed = !more;
		b->data = more ? more : b->data;
		b->cap = more ? cap : b->cap;
	}
	if (b->failed)
		return -ENOMEM;
	if (len && data)
		memcpy(b->data + b->len, data, len);
	else if (len)
		memset(b->data + b->len, 0, len);
	b->len += len;
	return 0;
}

int writer_bytes_pad(struct writer_bytes *b)
{
	return writer_bytes_add(b, NULL, (8 - b->len % 8) % 8);
}

int writer_no_memory(const struct writer *w, struct error *err)
{
	return error_enomem(err, "writing '%s'", w->path);
}

/* Like writev(); for a full pipe it calls the caller's `wait`, and returns its errno. */
static ssize_t write_some(struct writer *w, const struct iovec *v, int n_v)
{
	ssize_t n = -1;

	if (!w->wait)
		return writev(w->fd, v, n_v);
	if (!w->in_bits) {
		n = syscall(SYS_pwritev2, w->fd, v, n_v, -1L, -1L, RWF_NOWAIT);
		/* Fails for FIFOs, and for pipes before Linux 6.4. */
		w->in_bits = n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL);
		if (n >= 0 || (errno != EAGAIN && !w->in_bits))
			return n;
	}
	int stop = w->wait(w->ctx, w->fd);
	errno = stop ? stop : EINTR;
	if (stop || !w->in_bits)
		return -1;
	/* A pipe that is writable at all takes this much. */
	return write(w->fd, v->iov_base, v->iov_len < PIPE_BUF ? v->iov_len : PIPE_BUF);
}

/* Consumes @v. */
static int write_all(struct writer *w, struct iovec *v, int n_v, struct error *err)
{
	while (n_v) {
		if (!v->iov_len) {
			v++;
			n_v--;
			continue;
		}
		ssize_t n = write_some(w, v, n_v);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = -errno;
			w->failed = true;
			if (w->can_seek && !ftruncate(w->fd, (off_t)w->good))
				lseek(w->fd, (off_t)w->good, SEEK_SET);
			return error_errno(err, e, "Cannot write '%s' after %llu bytes%s", w->path,
					   (unsigned long long)w->good,
					   w->begun && w->good > w->data_begin
						   ? "; what is written so far is readable"
						   : "");
		}
		for (int i = 0; n && i < n_v; i++) {
			size_t done = (size_t)n < v[i].iov_len ? (size_t)n : v[i].iov_len;
			v[i].iov_base = (char *)v[i].iov_base + done;
			v[i].iov_len -= done;
			n -= (ssize_t)done;
		}
	}
	return 0;
}

/* Writes the buffer, followed by @more, in one call; then all of it counts as whole. */
static int write_out(struct writer *w, const struct iovec *more, int n_more, struct error *err)
{
	struct iovec v[1 + WRITER_RUNS];
	uint64_t len = w->out.len;

	if (w->failed)
		return error_set(err, -EIO, "Cannot continue writing '%s'", w->path);
	v[0] = (struct iovec){w->out.data, w->out.len};
	for (int i = 0; i < n_more; i++) {
		v[1 + i] = more[i];
		len += more[i].iov_len;
	}
	int e = write_all(w, v, 1 + n_more, err);
	if (!e && len) {
		w->good_before = w->good;
		w->good += len;
	}
	w->out.len = 0;
	w->stat.bytes = w->good;
	return e;
}

int writer_flush(struct writer *w, struct error *err)
{
	return write_out(w, NULL, 0, err);
}

static int put_out(struct writer *w, const void *data, size_t len, struct error *err)
{
	struct iovec v = {(void *)(uintptr_t)data, len};
	int e = 0;

	if (len >= OUT_BYTES && !w->on_trial)
		return write_out(w, &v, 1, err);
	if (w->out.len + len > OUT_BYTES && !w->on_trial)
		e = writer_flush(w, err);
	if (!e && writer_bytes_add(&w->out, data, len))
		e = writer_no_memory(w, err);
	return e;
}

/* The most that @len bytes become: frames of at least 64 KiB, records of 64 KiB, each with its
 * header.
 */
static uint64_t packed_most(size_t len)
{
	return pack_bound(len) + (len / 65536 + 2) * 128;
}

uint64_t writer_room(const struct writer *w)
{
	uint64_t used = w->good + w->out.len + w->end_bytes;

	if (!w->max_bytes)
		return UINT64_MAX;
	return used < w->max_bytes ? w->max_bytes - used : 0;
}

int writer_fits(const struct writer *w, uint64_t len)
{
	return w->begun && len > writer_room(w) ? WRITER_FULL : 0;
}

/* Before @len bytes are compressed that may exceed the limit: 0 or negative. */
static int begin_trial(struct writer *w, size_t len, struct error *err)
{
	if (!w->begun || writer_room(w) >= packed_most(len))
		return 0;
	int e = writer_flush(w, err);
	w->on_trial = !e;
	return e;
}

/* After that, with the result @e: WRITER_FULL if the data were removed again. */
static int end_trial(struct writer *w, int e)
{
	bool too_long = w->on_trial && w->good + w->out.len + w->end_bytes > w->max_bytes;

	w->on_trial = false;
	if (!too_long)
		return e;
	w->out.len = 0;
	return e ? e : WRITER_FULL;
}

/* A whole frame, in records of at most a 16-bit size; a write contains all of them. */
static int put_frame(struct writer *w, const uint8_t *frame, size_t len, struct error *err)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_COMPRESSED};
	int e = 0;

	for (size_t n; !e && len; frame += n, len -= n) {
		n = pack_piece(len);
		h.size = (uint16_t)(sizeof(h) + n);
		w->stat.packed_to += h.size;
		if (w->out.len + h.size > OUT_BYTES && !w->on_trial)
			e = writer_flush(w, err);
		if (!e)
			e = put_out(w, &h, sizeof(h), err);
		if (!e)
			e = put_out(w, frame, n, err);
	}
	return e;
}

/*
 * A block that fills more than one record unpacks to nothing in the first of them. So data that
 * do not shrink to one record become frames of FRAME_LEAST: their only block fits into a record, or
 * libzstd stores it as it is, and perf unpacks a part of such a block.
 */
static int put_packed(struct writer *w, const uint8_t *data, size_t len, struct error *err)
{
	size_t room = pack_bound(FRAME);
	uint32_t rest = w->pack.rest;

	/* filled with zeros once, not each time */
	if (w->packed.cap < room && writer_bytes_add(&w->packed, NULL, room))
		return writer_no_memory(w, err);
	long n = pack_some(&w->pack, data, len, w->packed.data, w->packed.cap, 1);
	if (n < 0)
		return error_errno(err, (int)n, "Cannot compress for '%s'", w->path);
	if (n <= PACK_PIECE_MOST || len <= FRAME_LEAST) {
		w->stat.packed_from += len;
		return put_frame(w, w->packed.data, (size_t)n, err);
	}
	int e = 0;
	w->pack.rest = rest;
	for (size_t piece; !e && len; data += piece, len -= piece) {
		piece = len < FRAME_LEAST ? len : FRAME_LEAST;
		e = put_packed(w, data, piece, err);
	}
	return e;
}

int writer_data(struct writer *w, const void *data, size_t len, struct error *err)
{
	const uint8_t *p = data;
	int e = 0;

	if (!w->pack.level)
		return put_out(w, data, len, err);
	for (size_t n; !e && len; p += n, len -= n) {
		n = len < FRAME ? len : FRAME;
		e = put_packed(w, p, n, err);
	}
	return e;
}

int writer_put_plain(struct writer *w, const void *data, size_t len, struct error *err)
{
	int e = writer_fits(w, len);

	return e ? e : put_out(w, data, len, err);
}

int writer_put_data(struct writer *w, const struct iovec *runs, int n, struct error *err)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += runs[i].iov_len;
	int e = w->pack.level ? begin_trial(w, len, err) : writer_fits(w, len);
	for (int i = 0; !e && i < n; i++)
		e = writer_data(w, runs[i].iov_base, runs[i].iov_len, err);
	return w->pack.level ? end_trial(w, e) : e;
}

int writer_put_direct(struct writer *w, const struct iovec *runs, int n, struct error *err)
{
	uint64_t len = 0;

	if (w->pack.level)
		return writer_put_data(w, runs, n, err);
	for (int i = 0; i < n; i++)
		len += runs[i].iov_len;
	int e = writer_fits(w, len);
	return e ? e : write_out(w, runs, n, err);
}
