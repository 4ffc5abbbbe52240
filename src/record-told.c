// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording that can be read again at its end is told of whole then. Of others there is what was
 * told on the way: a file that may be so long only keeps a part free for that, which bounds it.
 */
#include "record-told.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

static const uint64_t CUT_NS = 2000000000;

enum { SHARE = 16, MOST = 8 << 20, MOST_TABLES = 24 << 20 };

uint64_t record_told_reserve(const struct record_told *t)
{
	if (!t->wanted || !t->max_bytes)
		return 0;
	return t->max_bytes / SHARE < MOST ? t->max_bytes / SHARE : MOST;
}

int record_told_init(struct record_told *t, const struct opts *o, struct codesource *code,
		     struct error *err)
{
	t->wanted = o->freq && o->freq != OPTS_FREQ_DEFAULT;
	t->max_bytes = o->max_size;
	t->code = code;
	struct record_namer_options n = {
		.code = code,
		.keep_symbols = !o->no_symbol_cache,
		.most = t->max_bytes ? query_functions_within(record_told_reserve(t))
				     : query_functions_usual,
	};
	return t->wanted ? record_namer_new(&t->namer, &n, &t->sift, err) : 0;
}

int record_told_start(struct record_told *t, struct error *err)
{
	return t->namer ? record_namer_start(t->namer, err) : 0;
}

/* Other tables than of programs of usual size would fill a short file. */
static bool has_room(const struct record_told *t, const struct record_named *n)
{
	return t->tables_bytes + n->len <= MOST_TABLES &&
	       (!t->max_bytes || n->len <= t->max_bytes / SHARE);
}

static int put_one(struct record_told *t, struct record_file *f, const struct record_named *n,
		   struct error *err)
{
	struct record rec = {.kind = RECORD_SNAPSHOT, .data = n->body, .len = n->len};
	int r = record_file_put(f, &rec, err);

	if (n->is_tables)
		t->left_tables += r == WRITER_FULL;
	else
		t->left += n->left + (r == WRITER_FULL);
	return r < 0 ? r : 0;
}

static void keep(struct record_told *t, struct record_named *n)
{
	n->next = t->tables;
	t->tables = n;
	t->tables_bytes += n->len;
}

int record_told_put(struct record_told *t, struct record_file *f, struct error *err)
{
	struct record_named *n;
	int r = 0;

	while (r >= 0 && t->namer && (n = record_namer_take(t->namer))) {
		bool fits = !n->is_tables || has_room(t, n);

		t->left_tables += !fits;
		r = fits ? put_one(t, f, n, err) : 0;
		if (fits && n->is_tables)
			keep(t, n);
		else
			mem_free(n);
	}
	return r;
}

int record_told_begin(struct record_told *t, struct record_file *f, struct error *err)
{
	int r = 0;

	for (const struct record_named *n = t->tables; r == 0 && n; n = n->next)
		r = put_one(t, f, n, err);
	return r;
}

int record_told_cut(struct record_told *t, struct record_file *f, bool ended, struct error *err)
{
	if (!t->namer)
		return 0;
	record_sift_cut(&t->sift, clock_now_ns());
	record_namer_cut(t->namer, ended ? 0 : CUT_NS);
	return record_told_put(t, f, err);
}

/* What was told on the way is all there will be. */
static int tell_rest(struct record_told *t, struct record_file *f, struct record_names_stat *st,
		     struct error *err)
{
	int r = record_namer_stop(t->namer, false, err);
	int e = record_told_put(t, f, err);

	st->left_names = t->left;
	st->left_tables = t->left_tables;
	return r ? r : e;
}

const char *record_told_end(struct record_told *t, struct record_file *f,
			    const struct record_names_options *o, struct error *err)
{
	bool again = record_file_is_regular(f) && !record_names_is_long(f);
	struct record_names_stat st = {0};
	struct error last = {0};
	int r;

	if (!t->wanted)
		return NULL;
	if (again) {
		/* All of it is told anew. */
		record_namer_stop(t->namer, true, &last);
		r = record_names_put(f, o, &st, err);
	} else {
		r = tell_rest(t, f, &st, err);
	}
	return record_names_lack(r, &st, err);
}

void record_told_deinit(struct record_told *t)
{
	record_namer_free(t->namer);
	while (t->tables) {
		struct record_named *next = t->tables->next;

		mem_free(t->tables);
		t->tables = next;
	}
	*t = (struct record_told){0};
}
