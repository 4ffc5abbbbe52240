// SPDX-License-Identifier: GPL-2.0-only
/*
 * The common part of a cut and of a shrunk copy: which symbols they need. Payloads of snapshots are
 * not parsed here, so every eight bytes of one count as an address if they are between the first
 * symbol and the last: a few symbols too many do no harm, a missing one does.
 */
#include "rewrite.h"

#include "kontend/disasm.h"
#include "kontend/hash.h"
#include "kontend/load.h"
#include "kontend/mem.h"
#include "kontend/runrec.h"

#include <errno.h>

enum { WAIT_MS = 100, ASKED_BITS = 12 };
_Static_assert(1 << ASKED_BITS == REWRITE_ASKED, "as many as hashes");

int rewrite_no_memory(struct error *err)
{
	return error_enomem(err, "writing the recording again");
}

int rewrite_init(struct rewrite *w, struct error *err)
{
	*w = (struct rewrite){0};
	sym_init(&w->sym);
	return decode_init(&w->decode, err);
}

void rewrite_deinit(struct rewrite *w)
{
	decode_deinit(&w->decode);
	sym_deinit(&w->sym);
	mem_free(w->marks);
}

int rewrite_pass(struct source *s, rewrite_fn *take, void *ctx, struct error *err)
{
	struct record r;

	for (;;) {
		int e = source_next(s, WAIT_MS, &r, err);
		if (e == SOURCE_IDLE)
			continue;
		if (!e) {
			e = take(ctx, s, &r, err);
			source_release(s, &r);
		}
		if (e)
			return e == SOURCE_END ? 0 : e;
	}
}

int rewrite_learn(struct rewrite *w, const struct record *r, struct error *err)
{
	int e = 0;

	if (r->kind == RECORD_ATTR)
		e = decode_add_attr(&w->decode, r->data, r->len, err);
	if (r->kind == RECORD_FORMAT)
		e = decode_add_format(&w->decode, r->data, r->len, err);
	return e == -ENOMEM ? rewrite_no_memory(err) : e;
}

int rewrite_symbols(struct rewrite *w, const struct record *r, struct error *err)
{
	if (w->marks)
		return REWRITE_AS_IS;
	int e = sym_load(&w->sym, r->data, r->len, err);
	if (e || w->sym.state != SYM_OK)
		return e ? e : REWRITE_AS_IS;
	w->marks = mem_calloc(w->sym.n, 1);
	return w->marks ? 0 : rewrite_no_memory(err);
}

/* Markers and user addresses are outside of the table. Most chains have come before. */
static void mark_all(struct rewrite *w, const uint64_t *addrs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t *asked = &w->asked[hash_slot(addrs[i], ASKED_BITS)];

		if (*asked != addrs[i])
			sym_mark(&w->sym, w->marks, addrs[i]);
		*asked = addrs[i];
	}
}

/* Marks the symbols of @ev. False: it names none. */
static bool mark_event(struct rewrite *w, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_TIMER_ENTRY:
		mark_all(w, &ev->timer.function, w->marks != NULL);
		return true;
	case EVENT_SAMPLE:
		mark_all(w, &ev->sample.ip, w->marks != NULL);
		mark_all(w, ev->sample.frames, w->marks ? ev->sample.n_frames : 0);
		return true;
	case EVENT_CONTENTION_BEGIN:
		mark_all(w, &ev->begin.lock, w->marks != NULL);
		mark_all(w, ev->begin.frames, w->marks ? ev->begin.n_frames : 0);
		return true;
	case EVENT_MM_ACQUIRED:
		mark_all(w, ev->mm.frames, w->marks ? ev->mm.n_frames : 0);
		return true;
	case EVENT_HOLDER:
		mark_all(w, &ev->holder.lock, w->marks != NULL);
		mark_all(w, ev->holder.frames, w->marks ? ev->holder.n_frames : 0);
		return true;
	case EVENT_SLEEP:
		mark_all(w, ev->sleep.frames, w->marks ? ev->sleep.n_frames : 0);
		return true;
	case EVENT_RUN:
		mark_all(w, (const uint64_t *)ev->run->frames, w->marks ? ev->run->n_frames : 0u);
		mark_all(w, (const uint64_t *)ev->run->frames + ev->run->n_frames + ev->run->n_user,
			 w->marks ? ev->run->n_waker_frames : 0u);
		return true;
	case EVENT_USER:
		return true;
	case EVENT_CONTENTION_END:
		mark_all(w, &ev->end.lock, w->marks != NULL);
		return true;
	case EVENT_RELEASE:
		mark_all(w, &ev->release.lock, w->marks != NULL);
		return true;
	default:
		return false;
	}
}

bool rewrite_run(struct rewrite *w, const struct record *r, uint64_t first, uint64_t last)
{
	const uint8_t *data = r->data;
	bool found = false;
	struct event ev;
	size_t size;

	for (size_t at = 0; at < r->len; at += size) {
		int e = decode_event(&w->decode, data + at, r->len - at, r->ring, &ev, &size);

		if (!size)
			break;
		if (!e && ev.time >= first && ev.time <= last)
			found |= mark_event(w, &ev);
	}
	return found;
}

bool rewrite_has_no_address(uint16_t kind)
{
	return kind == SNAPSHOT_MACHINE || kind == SNAPSHOT_EVENTS || kind == SNAPSHOT_PMUS;
}

void rewrite_snapshot(struct rewrite *w, const struct record *r)
{
	const struct sym *s = &w->sym;
	const uint8_t *p = r->data;

	for (size_t at = sizeof(struct record_snapshot);
	     w->marks && s->n && at + sizeof(uint64_t) <= r->len; at++) {
		uint64_t addr = load_u64(p + at);
		/* the first symbol may be CPU-relative data at 0, so check for a kernel address
		 * instead */
		if (addr >> 63 && addr <= s->entries[s->n - 1].addr)
			sym_mark(s, w->marks, addr);
	}
}

static void mark_code(struct rewrite *w, struct disasm *d, const uint8_t *code,
		      const struct funcsnap_func *f)
{
	struct disasm_line line;

	for (size_t at = 0; disasm_line(d, code, f->code_len, at, f->start, &line);
	     at += line.length) {
		mark_all(w, &line.target, line.has_target);
		mark_all(w, &line.data, line.has_data);
	}
}

int rewrite_functions(struct rewrite *w, const struct funcsnap *f)
{
	struct disasm *d;
	struct error err;
	int r = disasm_open(&d, disasm_machine_here(), &err);

	/* Without it the code can be read elsewhere; names of functions that it calls are then
	 * missing. */
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < f->n_funcs; i++)
		if (!f->funcs[i].object)
			mark_code(w, d, f->code + f->funcs[i].code, &f->funcs[i]);
	disasm_close(d);
	return 0;
}

int rewrite_excerpt(struct rewrite *w, struct record *ret, struct error *err)
{
	char *text = NULL;

	*ret = (struct record){.kind = RECORD_KALLSYMS};
	if (sym_excerpt(&w->sym, w->marks, &text, &ret->len))
		return rewrite_no_memory(err);
	ret->data = text;
	return 0;
}
