/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SAMPLER_H
#define KONTEND_RECORD_SAMPLER_H

#include "kontend/queue.h"

#include <stdbool.h>
#include <sys/uio.h>

/*
 * A part of the stream that is recorded, for who finds out what functions are called: everything
 * but samples, and of these so many bytes a second that this costs little however many there are.
 */
struct record_sampler {
	struct queue *to;   /* NULL: nobody wants it */
	uint64_t credit_ns; /* until when `credit` is up to date */
	int64_t credit;	    /* bytes of samples that may still be taken; negative: too many were */
	bool closed;	    /* of samples nothing is taken until the next round */
	uint32_t ring;	    /* of the last run */
	uint64_t taken;	    /* bytes of samples of it, since the round or that of another ring */
};

enum { RECORD_SAMPLER_CREDIT = 1 << 20 }; /* to begin with, and never more */

/* A copy of what is wanted of it. @now_ns: by the session's clock. */
void record_sampler_put(struct record_sampler *s, const struct record *r, uint64_t now_ns);
/* A run of whole records in @n pieces, which may end within records. */
void record_sampler_run(struct record_sampler *s, uint32_t ring, const struct iovec *pieces, int n);
/*
 * What was put so far is all of a file, up to @now_ns, and rounds are about what was drained before
 * them: so one is put that says that. Of the next file samples are taken as at the start.
 */
void record_sampler_cut(struct record_sampler *s, uint64_t now_ns);

#endif
