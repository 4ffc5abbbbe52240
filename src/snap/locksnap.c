// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot of locks: see sections.h. */
#include "kontend/locksnap.h"

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

static bool reader_fits(const struct locksnap *s, const struct locksnap_reader *r)
{
	return r->queue < s->n_queues && r->state < LOCKSNAP_STATES && texts_fit(s, &r->comm, 1) &&
	       frames_fit(s, r->frame, r->n_frames) && (!r->n_frames || r->in < r->n_frames);
}

/* True if all references are valid. */
static bool fits(const void *locksnap)
{
	const struct locksnap *s = locksnap;
	bool ok = texts_fit(s, &s->head.reason, 1) && texts_fit(s, &s->head.no_readers, 1) &&
		  texts_fit(s, &s->head.no_sleepers, 1);

	for (size_t i = 0; ok && i < s->n_names; i++) {
		const uint32_t texts[] = {s->names[i].comm, s->names[i].text};
		ok = s->names[i].kind < LOCKSNAP_KINDS && texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_queues; i++)
		ok = queue_fits(s, &s->queues[i]);
	for (size_t i = 0; ok && i < s->n_waiters; i++)
		ok = waiter_fits(s, &s->waiters[i]);
	for (size_t i = 0; ok && i < s->n_readers; i++)
		ok = reader_fits(s, &s->readers[i]);
	for (size_t i = 0; ok && i < s->n_sleeps; i++) {
		const uint32_t texts[] = {s->sleeps[i].file, s->sleeps[i].device};
		ok = s->sleeps[i].doing < LOCKSNAP_DOINGS && texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_sleepers; i++)
		ok = s->sleepers[i].kind && s->sleepers[i].kind < LOCKSNAP_SLEEPS &&
		     texts_fit(s, &s->sleepers[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_vars; i++)
		ok = texts_fit(s, &s->vars[i].name, 1) &&
		     (!i || s->vars[i - 1].offset <= s->vars[i].offset);
	return ok;
}

static const struct section list[] = {
	SECTION_HEAD(struct locksnap),	   SECTION(struct locksnap, names),
	SECTION(struct locksnap, queues),  SECTION(struct locksnap, waiters),
	SECTION(struct locksnap, strings), SECTION(struct locksnap, frames),
	SECTION(struct locksnap, areas),   SECTION(struct locksnap, vars),
	SECTION(struct locksnap, empty),   SECTION(struct locksnap, gone),
	SECTION(struct locksnap, readers), SECTION(struct locksnap, sleeps),
	SECTION(struct locksnap, ended),   SECTION(struct locksnap, sleepers),
};

const struct sections locksnap_sections =
	SECTIONS(0x31504e534b434f4cull, struct locksnap, list, fits, NULL); /* "LOCKSNP1" */
