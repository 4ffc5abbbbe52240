// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot of locks as arrays in memory, and as bytes: see sections.h. */
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include "kontend/sections.h"

#include <errno.h>

static const uint64_t MAGIC = 0x31504e534b434f4cull; /* "LOCKSNP1" */

enum {
	S_HEAD = 1,
	S_NAMES,
	S_QUEUES,
	S_WAITERS,
	S_STRINGS,
	S_FRAMES,
	S_AREAS,
	S_VARS,
	S_EMPTY,
	S_GONE,
	S_END
};

enum { SECTIONS = S_END - S_HEAD };

int locksnap_add_name(struct locksnap *s, const struct locksnap_name *item)
{
	return sections_add(&s->names, &s->n_names, &s->cap_names, item, sizeof(*item));
}

int locksnap_add_queue(struct locksnap *s, const struct locksnap_queue *item)
{
	return sections_add(&s->queues, &s->n_queues, &s->cap_queues, item, sizeof(*item));
}

int locksnap_add_waiter(struct locksnap *s, const struct locksnap_waiter *item)
{
	return sections_add(&s->waiters, &s->n_waiters, &s->cap_waiters, item, sizeof(*item));
}

int locksnap_add_area(struct locksnap *s, const struct locksnap_area *item)
{
	return sections_add(&s->areas, &s->n_areas, &s->cap_areas, item, sizeof(*item));
}

int locksnap_add_var(struct locksnap *s, const struct locksnap_var *item)
{
	return sections_add(&s->vars, &s->n_vars, &s->cap_vars, item, sizeof(*item));
}

int locksnap_add_frame(struct locksnap *s, const uint64_t *addr)
{
	return sections_add(&s->frames, &s->n_frames, &s->cap_frames, addr, sizeof(*addr));
}

int locksnap_add_empty(struct locksnap *s, uint64_t addr)
{
	return sections_add(&s->empty, &s->n_empty, &s->cap_empty, &addr, sizeof(addr));
}

int locksnap_add_gone(struct locksnap *s, int32_t tid)
{
	return sections_add(&s->gone, &s->n_gone, &s->cap_gone, &tid, sizeof(tid));
}

uint32_t locksnap_add_text(struct locksnap *s, const char *text)
{
	return sections_add_text(&s->strings, &s->n_strings, &s->cap_strings, text);
}

const char *locksnap_text(const struct locksnap *s, uint32_t offset)
{
	return offset < s->n_strings ? s->strings + offset : "";
}

void locksnap_clear(struct locksnap *s)
{
	s->head = (struct locksnap_head){0};
	s->n_names = s->n_queues = s->n_waiters = s->n_strings = 0;
	s->n_areas = s->n_vars = s->n_frames = s->n_empty = s->n_gone = 0;
}

void locksnap_deinit(struct locksnap *s)
{
	mem_free(s->names);
	mem_free(s->queues);
	mem_free(s->waiters);
	mem_free(s->areas);
	mem_free(s->vars);
	mem_free(s->frames);
	mem_free(s->empty);
	mem_free(s->gone);
	mem_free(s->strings);
	*s = (struct locksnap){0};
}

#define ARRAY_OF(number, s, name)                                                                  \
	{                                                                                          \
		number, sizeof(*(s)->name), &(s)->name, &(s)->n_##name, &(s)->cap_##name           \
	}

static void describe(struct locksnap *s, struct section ret[SECTIONS])
{
	const struct section all[SECTIONS] = {
		{S_HEAD, sizeof(s->head), &s->head, NULL, NULL},
		ARRAY_OF(S_NAMES, s, names),
		ARRAY_OF(S_QUEUES, s, queues),
		ARRAY_OF(S_WAITERS, s, waiters),
		ARRAY_OF(S_STRINGS, s, strings),
		ARRAY_OF(S_FRAMES, s, frames),
		ARRAY_OF(S_AREAS, s, areas),
		ARRAY_OF(S_VARS, s, vars),
		ARRAY_OF(S_EMPTY, s, empty),
		ARRAY_OF(S_GONE, s, gone),
	};

	for (int i = 0; i < SECTIONS; i++)
		ret[i] = all[i];
}

size_t locksnap_size(const struct locksnap *s)
{
	struct locksnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	return sections_size(all, SECTIONS);
}

void locksnap_encode(const struct locksnap *s, void *ret)
{
	struct locksnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	sections_encode(MAGIC, all, SECTIONS, ret);
}

static bool texts_fit(const struct locksnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool frames_fit(const struct locksnap *s, uint32_t first, uint32_t n)
{
	return first <= s->n_frames && n <= s->n_frames - first;
}

static bool queue_fits(const struct locksnap *s, const struct locksnap_queue *q)
{
	return q->type < LOCKSNAP_TYPES && q->holder_state < LOCKSNAP_STATES &&
	       texts_fit(s, &q->holder_comm, 1) &&
	       frames_fit(s, q->holder_frame, q->holder_n_frames);
}

static bool waiter_fits(const struct locksnap *s, const struct locksnap_waiter *w)
{
	return w->queue < s->n_queues && texts_fit(s, &w->comm, 1) &&
	       frames_fit(s, w->frame, w->n_frames);
}

/* Whatever is referred to is there. */
static bool fits(const struct locksnap *s)
{
	bool ok = texts_fit(s, &s->head.reason, 1);

	for (size_t i = 0; ok && i < s->n_names; i++) {
		const uint32_t texts[] = {s->names[i].comm, s->names[i].text};
		ok = s->names[i].kind < LOCKSNAP_KINDS && texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_queues; i++)
		ok = queue_fits(s, &s->queues[i]);
	for (size_t i = 0; ok && i < s->n_waiters; i++)
		ok = waiter_fits(s, &s->waiters[i]);
	for (size_t i = 0; ok && i < s->n_vars; i++)
		ok = texts_fit(s, &s->vars[i].name, 1) &&
		     (!i || s->vars[i - 1].offset <= s->vars[i].offset);
	return ok;
}

int locksnap_decode(struct locksnap *s, const void *data, size_t len)
{
	struct section all[SECTIONS];

	locksnap_clear(s);
	describe(s, all);
	int code = sections_decode(MAGIC, all, SECTIONS, data, len);
	if (!code && !fits(s))
		code = -EBADMSG;
	if (code)
		locksnap_clear(s);
	return code;
}
