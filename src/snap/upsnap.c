// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot of uprobes: see sections.h. */
#include "kontend/upsnap.h"

static bool texts_fit(const struct upsnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool probe_fits(const struct upsnap *s, const struct upsnap_probe *p)
{
	const uint32_t texts[] = {p->owner_comm, p->binary, p->symbol, p->name, p->reason, p->hint};

	return texts_fit(s, texts, 6) && p->n_bytes <= sizeof(p->bytes);
}

/* True if all references are valid. */
static bool fits(const void *upsnap)
{
	const struct upsnap *s = upsnap;
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

static const struct section list[] = {
	SECTION_HEAD(struct upsnap),   SECTION(struct upsnap, areas),
	SECTION(struct upsnap, tasks), SECTION(struct upsnap, probes),
	SECTION(struct upsnap, hits),  SECTION(struct upsnap, strings),
};

const struct sections upsnap_sections =
	SECTIONS(0x31504e5345425055ull, struct upsnap, list, fits, NULL); /* "UPBESNP1" */
