// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a running kernel go into a recording before its first event, as it may end at any
 * moment; which of them it needs is known only at its end. So a finished one is read twice, as a
 * cut is: for what stands before the stream and the symbols that are needed, then for the rest,
 * which is handed through as it is.
 */
#include "kontend/shrink.h"
#include "kontend/snapshot.h"
#include "rewrite.h"
#include <errno.h>

struct shrink {
	struct rewrite rewrite;
	struct writer *writer;
	struct funcsnap funcs; /* that it has the code of */
};

/* Before the symbols there are a few records, which have no events. */
static int look_at_stream(struct shrink *k, struct source *s, const struct record *r)
{
	struct rewrite *w = &k->rewrite;

	rewrite_begin(w, s);
	if (r->kind == RECORD_SNAPSHOT) {
		rewrite_snapshot(w, r);
		return w->marks ? 0 : SHRINK_NOTHING;
	}
	if (r->kind != RECORD_PERF)
		return 0;
	return rewrite_run(w, r, 0, UINT64_MAX) && !w->marks ? SHRINK_NOTHING : 0;
}

/* It needs no symbols, and comes before the events then. */
static bool is_lasting(const struct record *r)
{
	struct record_snapshot head;

	return r->kind == RECORD_SNAPSHOT && snapshot_parse(r->data, r->len, &head) &&
	       snapshot_is_lasting(head.kind);
}

static int take_lasting(struct shrink *k, const struct record *r, struct error *err)
{
	struct record_snapshot head;
	struct funcsnap more = {0};
	int e = 0;

	snapshot_parse(r->data, r->len, &head);
	if (head.kind == SNAPSHOT_FUNCS)
		e = funcsnap_decode(&more, (const uint8_t *)r->data + sizeof(head),
				    r->len - sizeof(head));
	/* What is damaged needs nothing. */
	if (!e)
		e = funcsnap_merge(&k->funcs, &more);
	funcsnap_deinit(&more);
	return e == -ENOMEM ? rewrite_no_memory(err) : writer_put(k->writer, r, err);
}

static int take_first(void *ctx, struct source *s, const struct record *r, struct error *err)
{
	struct shrink *k = ctx;

	if (is_lasting(r))
		return take_lasting(k, r, err);
	switch (r->kind) {
	case RECORD_KALLSYMS:
		/* Of several tables each would be for a part of the stream. */
		return rewrite_symbols(&k->rewrite, r, err);
	case RECORD_ATTR:
	case RECORD_FORMAT:
	case RECORD_HOST:
	case RECORD_NOTE: /* a source says it once */
		return rewrite_head(&k->rewrite, r, err);
	default:
		return look_at_stream(k, s, r);
	}
}

static int take_second(void *ctx, struct source *s, const struct record *r, struct error *err)
{
	const struct shrink *k = ctx;

	(void)s;
	return is_lasting(r) ? 0 : writer_put(k->writer, r, err);
}

static int run(struct shrink *k, struct source *s, struct error *err)
{
	struct rewrite *w = &k->rewrite;
	int e = rewrite_pass(s, take_first, k, err);

	if (!e && (!w->marks || !w->has_begin))
		e = SHRINK_NOTHING;
	if (!e && rewrite_functions(w, &k->funcs))
		e = rewrite_no_memory(err);
	if (!e)
		e = rewrite_put_symbols(w, err);
	if (!e)
		e = source_seek(s, w->begin, err);
	return e ? e : rewrite_pass(s, take_second, k, err);
}

int shrink_copy(struct source *s, struct writer *w, struct error *err)
{
	struct shrink k = {.writer = w};
	int e = rewrite_init(&k.rewrite, w, err);

	if (e)
		return e;
	e = run(&k, s, err);
	rewrite_deinit(&k.rewrite);
	funcsnap_deinit(&k.funcs);
	return e;
}
