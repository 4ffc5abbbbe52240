// SPDX-License-Identifier: GPL-2.0-only
/* Tables for unwinding in memory, and as bytes: see sections.h. */
#include "kontend/cfisnap.h"
#include "kontend/mem.h"
#include "kontend/sections.h"

#include <errno.h>

static const uint64_t MAGIC = 0x31504e5353494643ull; /* "CFISSNP1" */

enum { S_HEAD = 1, S_SEGMENTS, S_BYTES, S_STRINGS, S_END };

enum { SECTIONS = S_END - S_HEAD, HEADER_BYTES = 12, ENTRY_BYTES = 8 };

const char *cfisnap_path(const struct cfisnap *s)
{
	return s->head.path < s->n_strings ? s->strings + s->head.path : "";
}

void cfisnap_deinit(struct cfisnap *s)
{
	mem_free(s->segments);
	mem_free(s->bytes);
	mem_free(s->strings);
	*s = (struct cfisnap){0};
}

#define ARRAY_OF(number, s, name)                                                                  \
	{                                                                                          \
		number, sizeof(*(s)->name), &(s)->name, &(s)->n_##name, &(s)->cap_##name           \
	}

static void describe(struct cfisnap *s, struct section ret[SECTIONS])
{
	const struct section all[SECTIONS] = {
		{S_HEAD, sizeof(s->head), &s->head, NULL, NULL},
		ARRAY_OF(S_SEGMENTS, s, segments),
		ARRAY_OF(S_BYTES, s, bytes),
		ARRAY_OF(S_STRINGS, s, strings),
	};

	for (int i = 0; i < SECTIONS; i++)
		ret[i] = all[i];
}

size_t cfisnap_size(const struct cfisnap *s)
{
	struct cfisnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	return sections_size(all, SECTIONS);
}

void cfisnap_encode(const struct cfisnap *s, void *ret)
{
	struct cfisnap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	sections_encode(MAGIC, all, SECTIONS, ret);
}

/* The header is sorted by address and searched by its number of entries. */
static bool fits(const struct cfisnap *s)
{
	const struct cfisnap_head *h = &s->head;
	uint64_t at = h->header - h->addr;

	return sections_texts_fit(s->strings, s->n_strings, &h->path, 1) &&
	       h->id_len <= sizeof(h->id) && s->n_bytes <= CFISNAP_MOST &&
	       s->n_bytes >= HEADER_BYTES && at <= s->n_bytes - HEADER_BYTES &&
	       h->entries <= (s->n_bytes - HEADER_BYTES - at) / ENTRY_BYTES;
}

int cfisnap_decode(struct cfisnap *s, const void *data, size_t len)
{
	struct section all[SECTIONS];

	describe(s, all);
	int code = sections_decode(MAGIC, all, SECTIONS, data, len);
	if (!code && !fits(s))
		code = -EBADMSG;
	if (code)
		cfisnap_deinit(s);
	return code;
}
