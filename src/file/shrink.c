// SPDX-License-Identifier: GPL-2.0-only
/*
 * All symbols of a running kernel are recorded before the first event, as the recording may end at
 * any moment; only at its end is it known which of them it needs. So a finished recording is read
 * once more to find these; then everything but the symbols is copied as it is, compressed or not.
 */
#include "kontend/shrink.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "rewrite.h"
#include <errno.h>

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

/* Only lasting snapshots may come before the symbols. */
static int take_snapshot(struct shrink *k, const struct record *r, struct error *err)
{
	struct record_snapshot head;

	if (snapshot_parse(r->data, r->len, &head) && snapshot_is_lasting(head.kind))
		return take_lasting(k, r, head.kind, err);
	rewrite_snapshot(&k->rewrite, r);
	return k->rewrite.marks ? 0 : SHRINK_NOTHING;
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
			       ? SHRINK_NOTHING
			       : 0;
	default:
		return rewrite_learn(&k->rewrite, r, err);
	}
}

static int run(struct shrink *k, struct source *s, const struct writer *w, int fd,
	       struct error *err)
{
	struct record symbols;
	int e = rewrite_pass(s, take_record, k, err);

	if (e || !k->rewrite.marks)
		return e ? e : SHRINK_NOTHING;
	if (rewrite_functions(&k->rewrite, &k->funcs))
		return rewrite_no_memory(err);
	e = rewrite_excerpt(&k->rewrite, &symbols, err);
	if (!e)
		e = writer_copy(w, fd, &symbols, err);
	mem_free((void *)(uintptr_t)symbols.data);
	return e == WRITER_AS_IT_IS ? SHRINK_NOTHING : e;
}

int shrink_copy(struct source *s, const struct writer *w, int fd, struct error *err)
{
	struct shrink *k = mem_calloc(1, sizeof(*k));

	if (!k)
		return rewrite_no_memory(err);
	int e = rewrite_init(&k->rewrite, err);
	if (!e) {
		e = run(k, s, w, fd, err);
		rewrite_deinit(&k->rewrite);
	}
	funcsnap_deinit(&k->funcs);
	mem_free(k);
	return e;
}
