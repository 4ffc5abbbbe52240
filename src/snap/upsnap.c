// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot of uprobes in memory, and as bytes: see sections.h. */
#include "kontend/upsnap.h"
#include "kontend/mem.h"
#include "kontend/sections.h"

#include <errno.h>

static const uint64_t MAGIC = 0x31504e5345425055ull; /* "UPBESNP1" */

/* Sections by their number in the bytes. */
enum { S_HEAD = 1, S_AREAS, S_TASKS, S_PROBES, S_HITS, S_STRINGS, S_END };

enum { SECTIONS = S_END - S_HEAD };

#define ARRAY_OF(number, s, name)                                                                  \
	{                                                                                          \
		number, sizeof(*(s)->name), &(s)->name, &(s)->n_##name, &(s)->cap_##name           \
	}

static void describe(struct upsnap *s, struct section ret[SECTIONS])
{
	const struct section all[SECTIONS] = {
		{S_HEAD, sizeof(s->head), &s->head, NULL, NULL},
		ARRAY_OF(S_AREAS, s, areas),
		ARRAY_OF(S_TASKS, s, tasks),
		ARRAY_OF(S_PROBES, s, probes),
		ARRAY_OF(S_HITS, s, hits),
		ARRAY_OF(S_STRINGS, s, strings),
	};

	for (int i = 0; i < SECTIONS; i++)
		ret[i] = all[i];
}

int upsnap_add_area(struct upsnap *s, const struct upsnap_area *item)
{
	return sections_add(&s->areas, &s->n_areas, &s->cap_areas, item, sizeof(*item));
}

int upsnap_add_task(struct upsnap *s, const struct upsnap_task *item)
{
	return sections_add(&s->tasks, &s->n_tasks, &s->cap_tasks, item, sizeof(*item));
}

int upsnap_add_probe(struct upsnap *s, const struct upsnap_probe *item)
{
	return sections_add(&s->probes, &s->n_probes, &s->cap_probes, item, sizeof(*item));
}

int upsnap_add_hits(struct upsnap *s, const struct upsnap_hits *item)
{
	return sections_add(&s->hits, &s->n_hits, &s->cap_hits, item, sizeof(*item));
}

uint32_t upsnap_add_text(struct upsnap *s, const char *text)
{
	return sections_add_text(&s->strings, &s->n_strings, &s->cap_strings, text);
}

const char *upsnap_text(const struct upsnap *s, uint32_t offset)
{
	return offset < s->n_strings ? s->strings + offset : "";
}

void upsnap_clear(struct upsnap *s)
{
	s->head = (struct upsnap_head){0};
	s->n_areas = s->n_tasks = s->n_probes = s->n_hits = s->n_strings = 0;
}

void upsnap_deinit(struct upsnap *s)
{
	mem_free(s->areas);
	mem_free(s->tasks);
	mem_free(s->probes);
	mem_free(s->hits);
	mem_free(s->strings);
	*s = (struct upsnap){0};
}

size_t upsnap_size(const struct upsnap *s)
{
	struct upsnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	return sections_size(all, SECTIONS);
}

void upsnap_encode(const struct upsnap *s, void *ret)
{
	struct upsnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	sections_encode(MAGIC, all, SECTIONS, ret);
}

static bool texts_fit(const struct upsnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool probe_fits(const struct upsnap *s, const struct upsnap_probe *p)
{
	const uint32_t texts[] = {p->owner_comm, p->binary, p->symbol, p->name, p->reason, p->hint};

	return texts_fit(s, texts, 6) && p->n_bytes <= sizeof(p->bytes);
}

/* Whatever is referred to is there. */
static bool fits(const struct upsnap *s)
{
	bool ok = texts_fit(s, &s->head.reason, 1);

	for (size_t i = 0; ok && i < s->n_areas; i++)
		ok = texts_fit(s, &s->areas[i].comm, 1) && s->areas[i].n_recent <= UPSNAP_RECENT;
	for (size_t i = 0; ok && i < s->n_tasks; i++)
		ok = s->tasks[i].area <= s->n_areas && texts_fit(s, &s->tasks[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_probes; i++)
		ok = probe_fits(s, &s->probes[i]);
	for (size_t i = 0; ok && i < s->n_hits; i++)
		ok = s->hits[i].probe <= s->n_probes;
	return ok;
}

int upsnap_decode(struct upsnap *s, const void *data, size_t len)
{
	struct section all[SECTIONS];

	upsnap_clear(s);
	describe(s, all);
	int code = sections_decode(MAGIC, all, SECTIONS, data, len);
	if (!code && !fits(s))
		code = -EBADMSG;
	if (code)
		upsnap_clear(s);
	return code;
}
