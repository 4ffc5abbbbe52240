/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_DECODE_SAMPLE_H
#define KONTEND_SRC_DECODE_SAMPLE_H

#include "kontend/decode.h"
#include "kontend/load.h"

/* The attr that the record with this id belongs to; NULL when it cannot be told. */
static inline const struct decode_attr *decode_find_attr(const struct decode *d, uint64_t id)
{
	const uint32_t *index = map64_get(&d->ids, id);

	if (index)
		return &d->attrs[*index];
	return d->n_attrs == 1 ? &d->attrs[0] : NULL;
}

/* sample-user.c: what stands from RAW on, @p, that calls of programs are worked out from. */
int decode_user_part(const struct decode_attr *a, const uint8_t *p, const uint8_t *end,
		     struct event *ev);

/* record.c: decodes a record that is no sample, @size bytes of which are there. */
int decode_other(const struct decode *d, const uint8_t *rec, size_t size, uint32_t type,
		 struct event *ev);

#endif
