/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_DECODE_SAMPLE_H
#define KONTEND_SRC_DECODE_SAMPLE_H

#include "kontend/decode.h"
#include "kontend/load.h"
#include "kontend/waitrec.h"

#include <string.h>

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

/* On what a system call is: @at is where it would be. False: it is not valid. */
static inline bool decode_on(const uint8_t *at, const uint8_t *end, bool is_there,
			     struct waitrec_on *ret)
{
	*ret = (struct waitrec_on){0};
	if (!is_there)
		return true;
	if ((size_t)(end - at) < sizeof(*ret))
		return false;
	memcpy(ret, at, sizeof(*ret));
	return ret->kind < WAITREC_ON_KINDS;
}

/*
 * sample-sleep.c: decode the raw data of a userrec.h, of a sleeprec.h, of a struct waitrec_frames.
 * 0 or DECODE_BAD.
 */
int decode_user(const uint8_t *raw, size_t len, struct event *ev);
int decode_sleep(const uint8_t *raw, size_t len, struct event *ev);
int decode_frames(const uint8_t *raw, size_t len, struct event *ev);

/* sample-run.c: decodes the raw data of a runrec.h. 0, DECODE_SKIP or DECODE_BAD. */
int decode_run(const uint8_t *raw, size_t len, struct event *ev);

/* record.c: decodes a record that is no sample; @size of its bytes are readable. */
int decode_other(const struct decode *d, const uint8_t *rec, size_t size, uint32_t type,
		 struct event *ev);

#endif
