/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_DECODE_SAMPLE_H
#define KONTEND_SRC_DECODE_SAMPLE_H

#include "kontend/decode.h"
#include "kontend/load.h"

/* The attr of this event id; NULL: not known. */
static inline const struct decode_attr *decode_find_attr(const struct decode *d, uint64_t id)
{
	const uint32_t *index = map64_get(&d->ids, id);

	if (index)
		return &d->attrs[*index];
	return d->n_attrs == 1 ? &d->attrs[0] : NULL;
}

/* sample-user.c: decodes the fields from RAW on, @p, that user call chains are unwound from. */
int decode_user_part(const struct decode_attr *a, const uint8_t *p, const uint8_t *end,
		     struct event *ev);

/* sample-sleep.c: decode the raw data of a userrec.h, of a sleeprec.h. 0 or DECODE_BAD. */
int decode_user(const uint8_t *raw, size_t len, struct event *ev);
int decode_sleep(const uint8_t *raw, size_t len, struct event *ev);

/* sample-run.c: decodes the raw data of a runrec.h. 0, DECODE_SKIP or DECODE_BAD. */
int decode_run(const uint8_t *raw, size_t len, struct event *ev);

/* record.c: decodes a record that is no sample; @size of its bytes are readable. */
int decode_other(const struct decode *d, const uint8_t *rec, size_t size, uint32_t type,
		 struct event *ev);

#endif
