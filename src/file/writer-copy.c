// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a finished recording to another file with other symbols: everything else is copied as it
 * is, compressed or not; offsets in the file are written again.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "writer.h"
#include <errno.h>

enum { PIECE = 1 << 20 };

/* Copies bytes of the file of @from. */
static int copy(struct writer *w, const struct writer *from, uint64_t at, uint64_t end,
		struct error *err)
{
	uint8_t *piece = mem_resize(NULL, PIECE, 1);
	int e = piece ? 0 : writer_no_memory(w, err);

	for (size_t n; !e && at < end; at += n) {
		struct iovec v = {piece, n = end - at < PIECE ? end - at : PIECE};
		e = fdio_read_at(from->fd, at, piece, n)
			    ? writer_put_plain(w, v.iov_base, n, err)
			    : error_set(err, -EIO, "Cannot read '%s' again", w->path);
	}
	mem_free(piece);
	return e;
}

static int write_copy(struct writer *w, const struct writer *from, const struct record *symbols,
		      struct error *err)
{
	int e = copy(w, from, 0, from->symbols.from, err);

	w->now = from->symbols.time;
	if (!e)
		e = writer_put(w, symbols, err);
	w->now = from->now;
	/* The trailer was compressed apart and can be read apart: only its offset changes. */
	if (!e && from->ending)
		w->ending = w->good + w->out.len + (from->ending - from->symbols.to);
	if (!e)
		e = copy(w, from, from->symbols.to, from->end, err);
	return e ? e : writer_finish(w, err);
}

int writer_copy(const struct writer *w, int fd, const struct record *symbols, struct error *err)
{
	const struct writer_symbols *s = &w->symbols;

	if (!w->end || !w->can_seek || s->several || s->from == s->to)
		return WRITER_AS_IT_IS;
	struct writer copy = *w;
	copy.fd = fd;
	copy.good = copy.good_before = copy.end = copy.ending = copy.max_bytes = 0;
	copy.begun = true;
	copy.out = copy.packed = (struct writer_bytes){0};
	copy.pack = (struct pack){.level = w->pack.level};
	int e = write_copy(&copy, w, symbols, err);
	mem_free(copy.out.data);
	mem_free(copy.packed.data);
	pack_deinit(&copy.pack);
	return e;
}
