// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a running kernel go into a recording before its first event, as it may end at any
 * moment; which of them it needs is known only at its end. So a finished one is read twice, as a
 * cut is: for what stands before the stream and the symbols that are needed, then for the rest,
 * which is handed through as it is.
 */
#include "kontend/shrink.h"
#include "kontend/decode.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "needs.h"
#include <errno.h>

enum { SHRINK_WAIT_MS = 100 };

struct shrink {
	struct decode decode;
	struct writer *writer;
	struct sym sym;
	uint8_t *marks;	       /* of its entries */
	struct funcsnap funcs; /* that it has the code of */
	uint64_t begin;	       /* mark of the stream's first record */
	bool has_begin;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "no memory to leave out symbols that are not needed");
}

/* One table that can be cut down; of several each would be for a part of the stream. */
static int take_symbols(struct shrink *k, const struct record *r, struct error *err)
{
	if (k->marks)
		return SHRINK_NOTHING;
	int e = sym_load(&k->sym, r->data, r->len, err);
	if (e || k->sym.state != SYM_OK)
		return e ? e : SHRINK_NOTHING;
	k->marks = mem_calloc(k->sym.n, 1);
	return k->marks ? 0 : no_memory(err);
}

/* 0 also for the few records before the symbols, which have no events. */
static int look_at_run(struct shrink *k, const struct record *r)
{
	const uint8_t *data = r->data;
	struct event ev;
	size_t size;

	for (size_t at = 0; at < r->len; at += size) {
		int e = decode_event(&k->decode, data + at, r->len - at, r->ring, &ev, &size);

		if (!size)
			return 0;
		if (e || !event_has_addresses(&ev))
			continue;
		if (!k->marks)
			return SHRINK_NOTHING;
		needs_event(&k->sym, k->marks, &ev);
	}
	return 0;
}

static int look_at_snapshot(struct shrink *k, const struct record *r)
{
	struct record_snapshot head;

	if (!k->marks || !snapshot_parse(r->data, r->len, &head))
		return k->marks ? 0 : SHRINK_NOTHING;
	needs_snapshot(&k->sym, k->marks, (const uint8_t *)r->data + sizeof(head),
		       r->len - sizeof(head));
	return 0;
}

static int look_at_stream(struct shrink *k, struct source *s, const struct record *r)
{
	if (!k->has_begin)
		k->begin = source_mark(s);
	k->has_begin = true;
	if (r->kind == RECORD_PERF)
		return look_at_run(k, r);
	return r->kind == RECORD_SNAPSHOT ? look_at_snapshot(k, r) : 0;
}

/* It needs no symbols, and stands before the events then. */
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
	return e == -ENOMEM ? no_memory(err) : writer_put(k->writer, r, err);
}

static int take_first(struct shrink *k, struct source *s, const struct record *r, struct error *err)
{
	int e = 0;

	if (is_lasting(r))
		return take_lasting(k, r, err);
	switch (r->kind) {
	case RECORD_KALLSYMS:
		return take_symbols(k, r, err);
	case RECORD_ATTR:
		e = decode_add_attr(&k->decode, r->data, r->len, err);
		break;
	case RECORD_FORMAT:
		e = decode_add_format(&k->decode, r->data, r->len, err);
		break;
	case RECORD_HOST:
	case RECORD_NOTE: /* a source says it once */
		break;
	default:
		return look_at_stream(k, s, r);
	}
	if (e == -ENOMEM)
		return no_memory(err);
	return e ? e : writer_put(k->writer, r, err);
}

static int take_second(struct shrink *k, struct source *s, const struct record *r,
		       struct error *err)
{
	(void)s;
	return is_lasting(r) ? 0 : writer_put(k->writer, r, err);
}

typedef int take_fn(struct shrink *k, struct source *s, const struct record *r, struct error *err);

static int pass(struct shrink *k, struct source *s, take_fn *take, struct error *err)
{
	struct record r;
	int e;

	while ((e = source_next(s, SHRINK_WAIT_MS, &r, err)) != SOURCE_END) {
		if (e == SOURCE_IDLE)
			continue;
		if (!e) {
			e = take(k, s, &r, err);
			source_release(s, &r);
		}
		if (e)
			return e;
	}
	return 0;
}

static int put_symbols(struct shrink *k, struct error *err)
{
	struct record r = {.kind = RECORD_KALLSYMS};
	char *text;

	if (needs_functions(&k->sym, k->marks, &k->funcs) ||
	    sym_excerpt(&k->sym, k->marks, &text, &r.len))
		return no_memory(err);
	r.data = text;
	int e = writer_put(k->writer, &r, err);
	mem_free(text);
	return e;
}

static int run(struct shrink *k, struct source *s, struct error *err)
{
	int e = pass(k, s, take_first, err);

	if (!e && (!k->marks || !k->has_begin))
		e = SHRINK_NOTHING;
	if (!e)
		e = put_symbols(k, err);
	if (!e)
		e = source_seek(s, k->begin, err);
	return e ? e : pass(k, s, take_second, err);
}

int shrink_copy(struct source *s, struct writer *w, struct error *err)
{
	struct shrink k = {.writer = w};
	int e = decode_init(&k.decode, err);

	if (e)
		return e;
	sym_init(&k.sym);
	e = run(&k, s, err);
	decode_deinit(&k.decode);
	sym_deinit(&k.sym);
	funcsnap_deinit(&k.funcs);
	mem_free(k.marks);
	return e;
}
