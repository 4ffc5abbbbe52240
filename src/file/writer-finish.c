// SPDX-License-Identifier: GPL-2.0-only
/*
 * From pipe layout to file layout, in place: what the header of the file layout points at is
 * appended (feature table and sections, ids, attrs), is on the disk, and only then the header
 * overwrites the first 104 bytes, in which the pipe layout had its own and the attr of our event.
 * The data stay where they are. Before that last write the file is a pipe layout with bytes behind
 * it, after it a file layout; both are read by perf.
 */
#include "writer-int.h"
#include <errno.h>
#include <unistd.h>

/* Appends the tail, then makes the head of the file say so. */
static int write_ends(struct writer *w, const struct writer_ends *f, struct error *err)
{
	ssize_t n = pwrite(w->fd, f->tail.data, f->tail.len, (off_t)f->at);

	if (n != (ssize_t)f->tail.len || fdatasync(w->fd)) {
		int e = n < 0 ? -errno : n == (ssize_t)f->tail.len ? -EIO : -ENOSPC;
		if (ftruncate(w->fd, (off_t)w->good))
			e = -errno;
		return error_errno(err, e,
				   "cannot finish \"%s\"; it stays a stream, readable up to "
				   "its end",
				   w->path);
	}
	n = pwrite(w->fd, &f->h, sizeof(f->h), 0);
	if (n != (ssize_t)sizeof(f->h))
		return error_errno(err, n < 0 ? -errno : -EIO, "cannot write the header of \"%s\"",
				   w->path);
	return 0;
}

static int collect(struct writer *w, struct writer_ends *f)
{
	int e = 0;

	for (size_t i = 0; !e && i < writer_n_features; i++)
		e = writer_feature(w, writer_features[i], &f->features[writer_features[i]]);
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
		error_errno(err, e, "cannot finish \"%s\"", w->path);
	else
		e = write_ends(w, &f, err);
	if (!e)
		w->good += f.tail.len;
	writer_ends_deinit(&f);
	return e;
}

/* Our end needs room on a disk that may have none: the last piece of data gives way then. */
static int finish_failed(struct writer *w, struct error *err)
{
	struct error first = {0};
	int e;

	if (!w->can_seek)
		return 0;
	if (w->good <= w->data_begin)
		return error_set(err, -ENODATA, "there is nothing in \"%s\" to be read", w->path);
	e = convert(w, &first);
	if (!e || w->good_before <= w->data_begin)
		return e ? error_set(err, e, "%s", first.text) : 0;
	w->good = w->good_before;
	if (ftruncate(w->fd, (off_t)w->good))
		return error_errno(err, -errno, "cannot cut \"%s\"", w->path);
	return convert(w, err);
}

/* Without room for it what stands there is found when all is read. */
static int put_ending(struct writer *w, struct error *err)
{
	uint64_t len = w->good + w->out.len - w->ending;
	struct record r = {.kind = RECORD_ENDING, .data = &len, .len = sizeof(len)};

	if (!w->ending || !w->can_seek)
		return 0;
	w->ending = 0;
	int e = writer_put(w, &r, err);
	return e == WRITER_FULL ? 0 : e;
}

int writer_finish(struct writer *w, struct error *err)
{
	int e = 0;

	if (w->failed)
		return finish_failed(w, err);
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
	/* What writer_free() would flush is in the file already. */
	w->begun = w->begun && !w->can_seek;
	return e;
}
