// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a synthetic stream as a source that can go back. It knows of each record whether it was
 * given back, so it can name the earliest one that was not, and ends the program when a reader
 * gives one back twice or goes back while it holds some.
 */
#include "synth.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synth_source {
	struct source source;
	struct synth *synth;
	size_t next, reached; /* the prologue is not played again below `reached` */
	size_t first;	      /* all before it has been given back */
	uint8_t *held;	      /* by record: 1 = not given back yet */
	size_t cap;
};

static bool is_prologue(const struct record *r)
{
	return r->kind == RECORD_HOST || r->kind == RECORD_ATTR || r->kind == RECORD_FORMAT ||
	       r->kind == RECORD_KALLSYMS;
}

static void reserve_held(struct synth_source *p)
{
	size_t n = synth_count(p->synth);

	if (n <= p->cap)
		return;
	p->held = realloc(p->held, n * 2);
	if (!p->held)
		abort();
	memset(p->held + p->cap, 0, n * 2 - p->cap);
	p->cap = n * 2;
}

static int play_next(struct source *src, int timeout_ms, struct record *ret, struct error *err)
{
	struct synth_source *p = (struct synth_source *)src;

	(void)timeout_ms;
	(void)err;
	reserve_held(p);
	while (p->next < p->reached && is_prologue(synth_at(p->synth, p->next)))
		p->next++;
	if (p->next == synth_count(p->synth))
		return SOURCE_END;
	*ret = *synth_at(p->synth, p->next);
	ret->owner = (void *)(uintptr_t)p->next;
	p->held[p->next++] = 1;
	if (p->next > p->reached)
		p->reached = p->next;
	return 0;
}

static void play_release(struct source *src, struct record *r)
{
	struct synth_source *p = (struct synth_source *)src;
	size_t k = (size_t)(uintptr_t)r->owner;

	/* A record given back twice, or after going back, is a defect of the reader. */
	if (k >= p->cap || !p->held[k])
		abort();
	p->held[k] = 0;
}

static uint64_t play_mark(struct source *src)
{
	struct synth_source *p = (struct synth_source *)src;

	while (p->first < p->next && !p->held[p->first])
		p->first++;
	return p->first;
}

static int play_seek(struct source *src, uint64_t mark, struct error *err)
{
	struct synth_source *p = (struct synth_source *)src;

	(void)err;
	for (size_t i = 0; i < p->cap; i++)
		if (p->held[i])
			abort();
	p->next = p->first = mark;
	return 0;
}

static void play_free(struct source *src)
{
	free(((struct synth_source *)src)->held);
	free(src);
}

static const struct source_ops play_ops = {.next = play_next,
					   .release = play_release,
					   .mark = play_mark,
					   .seek = play_seek,
					   .free = play_free};

struct source *synth_source(struct synth *s)
{
	struct synth_source *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	synth_flush(s);
	p->source.ops = &play_ops;
	p->synth = s;
	return &p->source;
}
