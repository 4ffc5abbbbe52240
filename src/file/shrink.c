// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a recording with only the kernel symbols that it needs. All symbols of a running kernel
 * are recorded before the first event, as the recording may end at any moment; only at its end is
 * it known which ones it needs. So a finished recording is read once more to find these. Then
 * everything but the symbols is copied as it is, compressed or not.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "rewrite.h"
#include "writer.h"
#include <errno.h>

enum { PIECE = 1 << 20 };

struct shrink {
	struct rewrite rewrite;
	struct funcsnap funcs; /* of which the recording has the code */
};

static int take_lasting(struct shrink *k, const struct record *r, uint16_t kind, struct error *err)
{
	struct funcsnap more = {0};
	int e = 0;

	if (kind == SNAPSHOT_FUNCS)
		e = funcsnap_decode(&more,
				    (const uint8_t *)r->data + sizeof(struct record_snapshot),
				    r->len - sizeof(struct record_snapshot));
	/* A damaged snapshot needs no symbols. */
	if (!e)
		e = funcsnap_merge(&k->funcs, &more);
	funcsnap_deinit(&more);
	return e == -ENOMEM ? rewrite_no_memory(err) : 0;
}

/* Only lasting snapshots, and those without addresses, may come before the symbols. */
static int take_snapshot(struct shrink *k, const struct record *r, struct error *err)
{
	struct record_snapshot head;

	if (snapshot_parse(r->data, r->len, &head) && snapshot_is_lasting(head.kind))
		return take_lasting(k, r, head.kind, err);
	if (rewrite_has_no_address(head.kind))
		return 0;
	rewrite_snapshot(&k->rewrite, r);
	return k->rewrite.marks ? 0 : WRITER_SHRINK_NOTHING;
}

static int take_record(void *ctx, struct source *s, const struct record *r, struct error *err)
{
	struct shrink *k = ctx;

	(void)s;
	switch (r->kind) {
	case RECORD_KALLSYMS:
		/* Several tables would each be for a part of the stream. */
		return rewrite_symbols(&k->rewrite, r, err);
	case RECORD_SNAPSHOT:
		return take_snapshot(k, r, err);
	case RECORD_PERF:
		return rewrite_run(&k->rewrite, r, 0, UINT64_MAX) && !k->rewrite.marks
			       ? WRITER_SHRINK_NOTHING
			       : 0;
	default:
		return rewrite_learn(&k->rewrite, r, err);
	}
}

/* Copies bytes of the file of @from. */
static int copy_bytes(struct writer *w, const struct writer *from, uint64_t at, uint64_t end,
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
	int e = copy_bytes(w, from, 0, from->symbols.from, err);

	w->now = from->symbols.time;
	if (!e)
		e = writer_put(w, symbols, err);
	w->now = from->now;
	/* The trailer was compressed apart and can be read apart: only its offset changes. */
	if (!e && from->ending)
		w->ending = w->good + w->out.len + (from->ending - from->symbols.to);
	if (!e)
		e = copy_bytes(w, from, from->symbols.to, from->end, err);
	return e ? e : writer_finish(w, err);
}

/*
 * Copies the finished recording into @fd, an empty file that can be read and seeks, with @symbols
 * in place of the kernel's; offsets in the file are written again. 0, negative, or
 * WRITER_SHRINK_NOTHING: it has no table of symbols, or several.
 */
static int copy_with(const struct writer *w, int fd, const struct record *symbols,
		     struct error *err)
{
	const struct writer_symbols *s = &w->symbols;

	if (!w->end || !w->can_seek || s->several || s->from == s->to)
		return WRITER_SHRINK_NOTHING;
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

static int write_needed(struct shrink *k, struct source *s, const struct writer *w, int fd,
			struct error *err)
{
	struct record symbols;
	int e = rewrite_pass(s, take_record, k, err);

	if (e || !k->rewrite.marks)
		return e ? e : WRITER_SHRINK_NOTHING;
	if (rewrite_functions(&k->rewrite, &k->funcs))
		return rewrite_no_memory(err);
	e = rewrite_excerpt(&k->rewrite, &symbols, err);
	if (!e)
		e = copy_with(w, fd, &symbols, err);
	mem_free((void *)(uintptr_t)symbols.data);
	return e;
}

int writer_shrink(struct source *s, const struct writer *w, int fd, struct error *err)
{
	struct shrink *k = mem_calloc(1, sizeof(*k));

	if (!k)
		return rewrite_no_memory(err);
	int e = rewrite_init(&k->rewrite, err);
	if (!e) {
		e = write_needed(k, s, w, fd, err);
		rewrite_deinit(&k->rewrite);
	}
	funcsnap_deinit(&k->funcs);
	mem_free(k);
	return e;
}
