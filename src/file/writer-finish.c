// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes the pipe layout into the file layout, in place. The parts to which the header of the file
 * layout points are appended (the table of features in the order of their bits, their bodies, the
 * ids of all events, the events themselves) and synced to disk, and only then the header overwrites
 * the first 104 bytes, which had the header of the pipe layout and the attr of kontend's event. The
 * data stay in place. Before that last write the file is a pipe layout followed by more bytes,
 * afterwards a file layout; perf reads both. perf expects the table of features directly after the
 * data.
 */
#include "kontend/mem.h"
#include "writer.h"
#include <errno.h>
#include <unistd.h>

static void add_features(struct writer_ends *f)
{
	struct perfdata_section s[PERFDATA_FEATURE_BITS];
	size_t n = 0, at = 0;

	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		size_t len = f->features[bit].len;
		if (!len)
			continue;
		f->h.features[bit / 64] |= 1ull << bit % 64;
		s[n++] = (struct perfdata_section){.offset = at, .size = len};
		at += (len + 7) / 8 * 8;
	}
	for (size_t i = 0; i < n; i++)
		s[i].offset += f->at + n * sizeof(*s);
	writer_bytes_add(&f->tail, s, n * sizeof(*s));
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		writer_bytes_add(&f->tail, f->features[bit].data, f->features[bit].len);
		writer_bytes_pad(&f->tail);
	}
}

static void add_attrs(struct writer_ends *f, const struct writer_attr *attrs, size_t n)
{
	uint64_t ids = f->at + f->tail.len;

	for (size_t i = 0; i < n; i++)
		writer_bytes_add(&f->tail, attrs[i].ids, attrs[i].n_ids * sizeof(*attrs->ids));
	f->h.attr_size = WRITER_ATTR + sizeof(struct perfdata_section);
	f->h.attrs.offset = f->at + f->tail.len;
	f->h.attrs.size = n * f->h.attr_size;
	for (size_t i = 0; i < n; i++) {
		struct perfdata_section s = {.offset = ids, .size = attrs[i].n_ids * 8ull};
		writer_bytes_add(&f->tail, &attrs[i].attr, WRITER_ATTR);
		writer_bytes_add(&f->tail, &s, sizeof(s));
		ids += s.size;
	}
}

int writer_ends_build(struct writer_ends *f, const struct writer_attr *attrs, size_t n)
{
	f->h.magic = PERFDATA_MAGIC;
	f->h.size = sizeof(f->h);
	add_features(f);
	add_attrs(f, attrs, n);
	return f->tail.failed ? -ENOMEM : 0;
}

void writer_ends_deinit(struct writer_ends *f)
{
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++)
		mem_free(f->features[bit].data);
	mem_free(f->tail.data);
}

/* Appends the tail, then writes the header that refers to it. */
static int write_ends(struct writer *w, const struct writer_ends *f, struct error *err)
{
	ssize_t n = pwrite(w->fd, f->tail.data, f->tail.len, (off_t)f->at);

	if (n != (ssize_t)f->tail.len || fdatasync(w->fd)) {
		int e = n < 0 ? -errno : n == (ssize_t)f->tail.len ? -EIO : -ENOSPC;
		if (ftruncate(w->fd, (off_t)w->good))
			e = -errno;
		return error_errno(err, e,
				   "Cannot finish '%s'; it stays a stream, readable up to "
				   "its end",
				   w->path);
	}
	n = pwrite(w->fd, &f->h, sizeof(f->h), 0);
	if (n != (ssize_t)sizeof(f->h))
		return error_errno(err, n < 0 ? -errno : -EIO, "Cannot write the header of '%s'",
				   w->path);
	return 0;
}

static int collect(struct writer *w, struct writer_ends *f)
{
	int e = writer_features(w, f->features);

	return e ? e : writer_ends_build(f, w->attrs, w->n_attrs);
}

int writer_end_bytes(struct writer *w, uint64_t *ret)
{
	struct writer_ends f = {0};
	int e = collect(w, &f);

	if (!e)
		*ret = f.tail.len;
	writer_ends_deinit(&f);
	return e;
}

static int convert(struct writer *w, struct error *err)
{
	struct writer_ends f = {.at = w->good};

	f.h.data.offset = w->data_begin;
	f.h.data.size = w->good - w->data_begin;
	int e = collect(w, &f);
	if (e)
		error_errno(err, e, "Cannot finish '%s'", w->path);
	else
		e = write_ends(w, &f, err);
	if (!e)
		w->good += f.tail.len;
	writer_ends_deinit(&f);
	return e;
}

/* The end may not fit on a full disk: then the last piece of data is dropped. */
static int finish_failed(struct writer *w, struct error *err)
{
	struct error first = {0};
	int e;

	if (!w->can_seek)
		return 0;
	if (w->good <= w->data_begin)
		return error_set(err, -ENODATA, "Cannot finish '%s': it has no events", w->path);
	e = convert(w, &first);
	if (!e || w->good_before <= w->data_begin)
		return e ? error_set(err, e, "%s", first.text) : 0;
	w->good = w->good_before;
	if (ftruncate(w->fd, (off_t)w->good))
		return error_errno(err, -errno, "Cannot truncate '%s'", w->path);
	return convert(w, err);
}

/* Without room for this record readers find the trailer only in order. */
static int put_ending(struct writer *w, struct error *err)
{
	uint64_t len = w->good + w->out.len - w->ending;
	struct record r = {.kind = RECORD_TRAILER, .data = &len, .len = sizeof(len)};

	w->end = w->good + w->out.len;
	if (!w->ending || !w->can_seek)
		return 0;
	int e = writer_put(w, &r, err);
	return e == WRITER_FULL ? 0 : e;
}

int writer_finish(struct writer *w, struct error *err)
{
	int e = 0;

	if (w->failed)
		return finish_failed(w, err);
	if (w->end)
		return 0;
	if (!w->begun) {
		uint64_t t = w->now;
		struct record r = {.kind = RECORD_ROUND, .data = &t, .len = sizeof(t)};
		e = writer_put(w, &r, err);
		e = e == WRITER_FULL ? 0 : e;
	}
	if (!e)
		e = put_ending(w, err);
	if (!e)
		e = writer_flush(w, err);
	if (e && w->failed)
		finish_failed(w, NULL);
	else if (!e && w->can_seek)
		e = convert(w, err);
	w->stat.bytes = w->good;
	/* writer_free() would flush data that are in the file already. */
	w->begun = w->begun && !w->can_seek;
	return e;
}
