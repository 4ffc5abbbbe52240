// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which symbols a part of a recording needs. The payloads of snapshots are taken apart only where
 * they are shown, so here every eight bytes of one are an address, if they lie between the first
 * symbol and the last: a few symbols too many do no harm, one that is missing does.
 */
#include "needs.h"

#include "kontend/disasm.h"

#include <errno.h>
#include <string.h>

/* Markers and user addresses lie outside of the table. */
static void needs_sample(const struct sym *s, uint8_t *marks, const struct event *ev)
{
	sym_mark(s, marks, ev->sample.ip);
	for (uint32_t i = 0; i < ev->sample.n_frames; i++)
		sym_mark(s, marks, ev->sample.frames[i]);
}

void needs_event(const struct sym *s, uint8_t *marks, const struct event *ev)
{
	if (ev->kind == EVENT_TIMER_ENTRY)
		sym_mark(s, marks, ev->timer.function);
	if (ev->kind == EVENT_SAMPLE)
		needs_sample(s, marks, ev);
	if (ev->kind == EVENT_CONTENTION_END)
		sym_mark(s, marks, ev->end.lock);
	if (ev->kind != EVENT_CONTENTION_BEGIN)
		return;
	sym_mark(s, marks, ev->begin.lock);
	for (uint32_t i = 0; i < ev->begin.n_frames; i++)
		sym_mark(s, marks, ev->begin.frames[i]);
}

void needs_snapshot(const struct sym *s, uint8_t *marks, const void *payload, size_t len)
{
	const uint8_t *p = payload;
	uint64_t addr;

	for (size_t at = 0; s->n && at + sizeof(addr) <= len; at++) {
		memcpy(&addr, p + at, sizeof(addr));
		/* Before the first one there is a symbol of CPU-relative data at 0. */
		if (addr >> 63 && addr <= s->entries[s->n - 1].addr)
			sym_mark(s, marks, addr);
	}
}

static void needs_code(const struct sym *s, uint8_t *marks, struct disasm *d, const uint8_t *code,
		       const struct funcsnap_func *f)
{
	struct disasm_line line;

	for (size_t at = 0; disasm_line(d, code, f->code_len, at, f->start, &line);
	     at += line.length) {
		if (line.has_target)
			sym_mark(s, marks, line.target);
		if (line.has_data)
			sym_mark(s, marks, line.data);
	}
}

int needs_functions(const struct sym *s, uint8_t *marks, const struct funcsnap *f)
{
	struct disasm *d;
	struct error err;
	int r = disasm_open(&d, disasm_machine_here(), &err);

	/* Without one the code can be read elsewhere; names of what it calls are then missing. */
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < f->n_funcs; i++)
		if (!f->funcs[i].object)
			needs_code(s, marks, d, f->code + f->funcs[i].code, &f->funcs[i]);
	disasm_close(d);
	return 0;
}
