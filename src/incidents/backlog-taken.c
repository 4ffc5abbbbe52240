// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of a part of a backlog, as a source for another thread: the records before the stream,
 * then the state before the log, then the chunks. It consists of copies, and of chunks that never
 * change. Records have numbers, which are the marks of the source; at most one record is handed out
 * at a time. Chunks are unpacked one after the other, so going back unpacks from the start again.
 */
#include "backlog-int.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include <errno.h>
#include <string.h>

enum { RUN_BYTES = 65528 };

struct taken {
	struct source source;
	struct record
		*first; /* records before the log; owns their bytes, except those of symbols */
	size_t n_first, cap_first;
	struct recordlog_chunk *symbols;
	struct recordlog_chunk **chunks;
	size_t n_chunks;
	struct recordlog_reader reader, symbols_reader;
	uint64_t next; /* number of the next record */
	bool is_out;   /* the record before it is handed out */
	/* The position in the log. */
	size_t chunk, at;
	const uint8_t *bytes; /* bytes of the chunk; NULL: not unpacked yet */
	uint64_t here;	      /* number of the record at that position */
};

static struct taken *taken_of(struct source *s)
{
	return (struct taken *)s;
}

static int next_in_log(struct taken *t, struct record *ret, struct error *err)
{
	while (t->chunk < t->n_chunks) {
		const struct recordlog_chunk *c = t->chunks[t->chunk];

		if (!t->bytes)
			t->bytes = recordlog_reader_load(&t->reader, c);
		if (!t->bytes)
			return error_enomem(err, "reading the last seconds again");
		if (recordlog_next(t->bytes, c->raw_len, &t->at, ret)) {
			t->here++;
			return 0;
		}
		t->chunk++;
		t->at = 0;
		t->bytes = NULL;
	}
	return SOURCE_END;
}

/* The symbols are unpacked on demand, and freed when they are given back. */
static int unpack_symbols(struct taken *t, struct record *ret, struct error *err)
{
	const uint8_t *raw = recordlog_reader_load(&t->symbols_reader, t->symbols);
	size_t at = 0;

	if (!raw || !recordlog_next(raw, t->symbols->raw_len, &at, ret))
		return error_enomem(err, "the symbols of the kernel");
	return 0;
}

static int taken_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct taken *t = taken_of(s);
	int r = 0;

	(void)timeout_ms;
	if (t->next < t->n_first)
		*ret = t->first[t->next];
	if (t->next < t->n_first && ret->kind == RECORD_KALLSYMS)
		r = unpack_symbols(t, ret, err);
	else if (t->next >= t->n_first)
		r = next_in_log(t, ret, err);
	t->is_out = r == 0;
	t->next += r == 0;
	return r;
}

static void taken_release(struct source *s, struct record *r)
{
	struct taken *t = taken_of(s);

	if (r->kind == RECORD_KALLSYMS)
		recordlog_reader_deinit(&t->symbols_reader);
	t->is_out = false;
}

static uint64_t taken_mark(struct source *s)
{
	return taken_of(s)->next - taken_of(s)->is_out;
}

static int taken_seek(struct source *s, uint64_t mark, struct error *err)
{
	struct taken *t = taken_of(s);
	struct record r;
	int e = 0;

	t->is_out = false;
	t->next = mark;
	t->chunk = t->at = 0;
	t->bytes = NULL;
	t->here = t->n_first;
	while (!e && t->here < mark)
		e = next_in_log(t, &r, err);
	return e < 0 ? e : 0;
}

static void taken_free(struct source *s)
{
	struct taken *t = taken_of(s);

	for (size_t i = 0; i < t->n_first; i++)
		mem_free((void *)(uintptr_t)t->first[i].data);
	for (size_t i = 0; i < t->n_chunks; i++)
		recordlog_chunk_unref(t->chunks[i]);
	recordlog_chunk_unref(t->symbols);
	mem_free(t->first);
	mem_free(t->chunks);
	recordlog_reader_deinit(&t->reader);
	recordlog_reader_deinit(&t->symbols_reader);
	mem_free(t);
}

static const struct source_ops taken_ops = {
	.next = taken_next,
	.release = taken_release,
	.mark = taken_mark,
	.seek = taken_seek,
	.free = taken_free,
};

/* Adds a copy of a record. Its bytes follow @head. */
static int add_record(struct taken *t, const struct record *r, const void *head, size_t head_len)
{
	struct record copy = {.kind = r->kind, .ring = r->ring, .len = head_len + r->len};
	uint8_t *bytes;

	if (mem_grow(&t->first, &t->cap_first, t->n_first, sizeof(*t->first)))
		return -ENOMEM;
	bytes = mem_calloc(copy.len + 1, 1);
	if (!bytes)
		return -ENOMEM;
	if (head_len)
		memcpy(bytes, head, head_len);
	if (r->len)
		memcpy(bytes + head_len, r->data, r->len);
	copy.data = bytes;
	t->first[t->n_first++] = copy;
	return 0;
}

static int add_symbols(struct taken *t, const struct backlog *b)
{
	const struct record r = {.kind = RECORD_KALLSYMS, .data = "", .len = 0};

	if (!b->before.symbols)
		return 0;
	t->symbols = b->before.symbols;
	recordlog_chunk_ref(t->symbols);
	return add_record(t, &r, NULL, 0);
}

/* The host record comes first, and the symbols directly after it, as in every stream. */
static int add_prologue(struct taken *t, const struct backlog *b, uint64_t clock_ns,
			uint64_t wall_ns)
{
	int e = 0;

	for (size_t i = 0; !e && i < b->before.n; i++) {
		struct record r = b->before.records[i];
		struct record_host h;

		if (r.kind != RECORD_HOST || r.len != sizeof(h)) {
			e = add_record(t, &r, NULL, 0);
			continue;
		}
		memcpy(&h, r.data, sizeof(h));
		h.clock_ns = clock_ns;
		h.wall_ns = wall_ns;
		r.data = &h;
		e = add_record(t, &r, NULL, 0);
		e = e || t->symbols ? e : add_symbols(t, b);
	}
	return e || t->symbols ? e : add_symbols(t, b);
}

static int add_names(struct taken *t, const struct backlog_known *k)
{
	struct sideband names;
	int e = backlog_known_put(k, &names);
	size_t n;

	if (e)
		return e;
	for (size_t at = 0; !e && at < names.len; at += n) {
		struct record r = {.kind = RECORD_PERF, .ring = k->ring};

		n = sideband_run(&names, at, RUN_BYTES);
		r.data = names.data + at;
		r.len = n;
		e = add_record(t, &r, NULL, 0);
	}
	sideband_deinit(&names);
	return e;
}

static int add_cpus(struct taken *t, const struct backlog_known *k)
{
	int e = 0;

	for (size_t i = 0; !e && i < k->n_offline; i++) {
		const struct record_cpu c = {.cpu = (uint32_t)i, .online = RECORD_CPU_OFFLINE};
		const struct record r = {.kind = RECORD_CPU, .data = &c, .len = sizeof(c)};

		if (k->offline[i])
			e = add_record(t, &r, NULL, 0);
	}
	return e;
}

static int add_snapshots(struct taken *t, const struct snapshot_set *set)
{
	int e = 0;

	for (size_t i = 0; !e && i < set->n; i++) {
		const struct snapshot *s = set->last[i];
		const struct record r = {.kind = RECORD_SNAPSHOT, .data = s->bytes, .len = s->len};

		e = add_record(t, &r, &s->head, sizeof(s->head));
	}
	return e;
}

static int share_chunks(struct taken *t, const struct recordlog *l)
{
	if (!l->n)
		return 0;
	t->chunks = mem_dup(l->chunks, l->n, sizeof(*l->chunks));
	if (!t->chunks)
		return -ENOMEM;
	t->n_chunks = l->n;
	for (size_t i = 0; i < l->n; i++)
		recordlog_chunk_ref(l->chunks[i]);
	return 0;
}

int backlog_copy(const struct backlog *b, uint64_t clock_ns, uint64_t wall_ns, struct source **ret)
{
	struct taken *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->source.ops = &taken_ops;
	int e = add_prologue(t, b, clock_ns, wall_ns);
	e = e ? e : add_names(t, &b->known);
	e = e ? e : add_cpus(t, &b->known);
	e = e ? e : add_snapshots(t, b->known.engine.model->snapshots);
	e = e ? e : share_chunks(t, &b->log);
	if (e) {
		taken_free(&t->source);
		return e;
	}
	t->here = t->n_first;
	*ret = &t->source;
	return 0;
}
