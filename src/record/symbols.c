// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and code of functions in a recording. If the recording can be read again at its end, it
 * gets all names then. Otherwise it gets names while it is made: a file with a size limit keeps a
 * part free for them, and they are limited to that part. Names of variables alone, of locks of
 * programs, are few, and always come while it is made.
 *
 * The code of functions that lock is written before the first event, as a recording may end at any
 * moment. Each part is a file of its own, so each gets the code.
 */
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/opts.h"
#include "kontend/record-symbols.h"
#include "kontend/sym.h"
#include "kontend/textsnap.h"
#include "resolve-thread.h"

#include <errno.h>
#include <string.h>

static const uint64_t CUT_NS = 2000000000;

enum { SHARE = 16, MOST = 8 << 20, MOST_VARIABLES = 64 << 10, MOST_TABLES = 24 << 20 };

/* Names of variables alone are few. */
static uint64_t share(const struct record_symbols *t)
{
	uint64_t most = t->wanted ? MOST : MOST_VARIABLES;

	return t->max_bytes / SHARE < most ? t->max_bytes / SHARE : most;
}

uint64_t record_symbols_reserve(const struct record_symbols *t)
{
	return t->resolver && t->max_bytes ? share(t) : 0;
}

/* Waits have functions of programs. */
static bool has_user_frames(const struct opts *o)
{
	return !o->no_stack && (!o->user_frames || strcmp(o->user_frames, "off") != 0);
}

int record_symbols_init(struct record_symbols *t, const struct opts *o, struct codesource *code,
			struct lock_requests *requests, struct error *err)
{
	t->wanted = (o->freq && o->freq != OPTS_FREQ_DEFAULT) || has_user_frames(o);
	t->max_bytes = o->max_size;
	t->code = code;
	struct resolve_thread_options n = {
		.code = code,
		.keep_symbols = !o->no_symbol_cache,
		.lock_requests = requests,
		.most = t->max_bytes ? query_functions_within(share(t)) : query_functions_usual,
	};
	if (!t->wanted && o->user_locks && !strcmp(o->user_locks, "off"))
		return 0;
	int r = resolve_thread_new(&t->resolver, &n, &t->sampler, err);
	t->sampler.only_locks = !t->wanted;
	t->sampler.all_locks = t->wanted && requests;
	return r;
}

/* Only for locks of programs it starts when there is one. */
int record_symbols_start(struct record_symbols *t, struct error *err)
{
	if (!t->resolver || t->started || (!t->wanted && !t->sampler.has_locks))
		return 0;
	t->started = true;
	return resolve_thread_start(t->resolver, err);
}

/* Larger tables than those of ordinary programs would fill a short file. */
static bool has_room(const struct record_symbols *t, const struct symbol_batch *n)
{
	return t->tables_bytes + n->len <= MOST_TABLES &&
	       (!t->max_bytes || n->len <= t->max_bytes / SHARE);
}

static int put_one(struct record_symbols *t, struct record_file *f, const struct symbol_batch *n,
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

static void keep_tables(struct record_symbols *t, struct symbol_batch *n)
{
	n->next = t->tables;
	t->tables = n;
	t->tables_bytes += n->len;
}

int record_symbols_put(struct record_symbols *t, struct record_file *f, struct error *err)
{
	struct symbol_batch *n;
	int r = record_symbols_start(t, err);

	while (r >= 0 && t->resolver && (n = resolve_thread_take(t->resolver))) {
		bool fits = !n->is_tables || has_room(t, n);

		t->left_tables += !fits;
		r = fits ? put_one(t, f, n, err) : 0;
		if (fits && n->is_tables)
			keep_tables(t, n);
		else
			mem_free(n);
	}
	return r;
}

int record_symbols_begin(struct record_symbols *t, struct record_file *f, struct error *err)
{
	int r = 0;

	for (const struct symbol_batch *n = t->tables; r == 0 && n; n = n->next)
		r = put_one(t, f, n, err);
	return r;
}

int record_symbols_cut(struct record_symbols *t, struct record_file *f, bool ended,
		       struct error *err)
{
	if (!t->resolver)
		return 0;
	record_sampler_cut(&t->sampler, clock_now_ns());
	resolve_thread_cut(t->resolver, ended ? 0 : CUT_NS);
	return record_symbols_put(t, f, err);
}

/* Writes the rest of the names found during the recording. */
static int report_rest(struct record_symbols *t, struct record_file *f,
		       struct resolve_final_stat *st, struct error *err)
{
	int r = record_symbols_start(t, err);

	r = r ? r : resolve_thread_stop(t->resolver, false, err);
	int e = record_symbols_put(t, f, err);

	st->left_names = t->left;
	st->left_tables = t->left_tables;
	return r ? r : e;
}

const char *record_symbols_end(struct record_symbols *t, struct record_file *f,
			       const struct resolve_final_options *o, struct error *err)
{
	bool again = t->wanted && record_file_is_regular(f) && !resolve_final_is_long(f);
	struct resolve_final_stat st = {0};
	struct error last = {0};
	int r;

	if (!t->resolver)
		return NULL;
	if (again) {
		/* All names are found again. */
		resolve_thread_stop(t->resolver, true, &last);
		r = record_file_flush(f, err);
		r = r ? r
		      : resolve_final_put(record_file_writer(f), record_file_fd(f), o, &st, err);
	} else {
		r = report_rest(t, f, &st, err);
	}
	return resolve_final_lack(r, &st, err);
}

void record_symbols_deinit(struct record_symbols *t)
{
	resolve_thread_free(t->resolver);
	while (t->tables) {
		struct symbol_batch *next = t->tables->next;

		mem_free(t->tables);
		t->tables = next;
	}
	*t = (struct record_symbols){0};
}

int record_text_of(struct record_text *t, struct codesource *c, const struct sym *sym,
		   struct error *err)
{
	struct record_snapshot head = {.kind = SNAPSHOT_TEXT, .version = TEXTSNAP_VERSION};
	int r = 0;

	if (!c || !c->name || t->body)
		return 0;
	if (sym->state == SYM_OK)
		r = textsnap_take(sym, c, sizeof(head), &t->body, &t->len);
	if (t->body) {
		memcpy(t->body, &head, sizeof(head));
		t->len += sizeof(head);
	}
	return r == -ENOMEM ? error_enomem(err, "the kernel's code") : 0;
}

int record_text_take(struct record_text *t, struct codesource *c, const struct record *kallsyms,
		     struct error *err)
{
	struct sym sym;

	if (!c || !c->name || t->body)
		return 0;
	sym_init(&sym);
	int r = sym_load(&sym, kallsyms->data, kallsyms->len, err);
	if (r == 0)
		r = record_text_of(t, c, &sym, err);
	sym_deinit(&sym);
	return r == -ENOMEM ? error_enomem(err, "the kernel's code") : 0;
}

int record_text_put(const struct record_text *t, struct record_file *f, struct error *err)
{
	struct record rec = {.kind = RECORD_SNAPSHOT, .data = t->body, .len = t->len};
	int r = t->body ? record_file_put(f, &rec, err) : 0;

	return r < 0 ? r : 0;
}

void record_text_deinit(struct record_text *t)
{
	mem_free(t->body);
	*t = (struct record_text){0};
}
