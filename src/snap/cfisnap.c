// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot of unwind tables: see sections.h. */
#include "kontend/cfisnap.h"

enum { HEADER_BYTES = 12, ENTRY_BYTES = 8 };

const char *cfisnap_path(const struct cfisnap *s)
{
	return cfisnap_text(s, s->head.path);
}

/* The header is sorted by address; lookups search its number of entries. */
static bool fits(const void *cfisnap)
{
	const struct cfisnap *s = cfisnap;
	const struct cfisnap_head *h = &s->head;
	uint64_t at = h->header - h->addr;

	return sections_texts_fit(s->strings, s->n_strings, &h->path, 1) &&
	       h->id_len <= sizeof(h->id) && s->n_bytes <= CFISNAP_MOST &&
	       s->n_bytes >= HEADER_BYTES && at <= s->n_bytes - HEADER_BYTES &&
	       h->entries <= (s->n_bytes - HEADER_BYTES - at) / ENTRY_BYTES;
}

static const struct section list[] = {
	SECTION_HEAD(struct cfisnap),
	SECTION(struct cfisnap, segments),
	SECTION(struct cfisnap, bytes),
	SECTION(struct cfisnap, strings),
};

const struct sections cfisnap_sections =
	SECTIONS(0x31504e5353494643ull, struct cfisnap, list, fits, NULL); /* "CFISSNP1" */
