/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PPROF_H
#define KONTEND_PPROF_H

#include "kontend/query-samples.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * A profile for pprof and for stores of profiles: profile.proto, compressed by gzip. Waits have the
 * values contentions and delay, like Go's profile of mutexes; samples have samples and CPU time.
 * Data can be added any number of times, since the model is cleared in between.
 */
struct pprof;

/*
 * Limits, as a store may keep a series for each label: the number of values of a label, of samples,
 * and of places. Later ones become `other`, so that sums stay exact; those with most time are added
 * first.
 */
enum {
	PPROF_VALUES = 100,
	PPROF_SAMPLES = 1 << 16,
	PPROF_PLACES = 1 << 17,
	PPROF_LIVE_SAMPLES = 1 << 14, /* with `live`, where memory is needed for other things,
				       * too */
	PPROF_LIVE_PLACES = 1 << 15,
};

struct pprof_spec {
	enum query_samples_what what;
	const struct query_zoom *zoom; /* NULL: everything; borrowed */
	const char *version;	       /* of the program; borrowed */
	bool live; /* no source lines, and only names that are loaded already: the caller must
		    * not block */
};

/* 0, -ENOMEM, or -ENOTSUP: not built in; with @err. */
int pprof_new(struct pprof **ret, const struct pprof_spec *s, struct error *err);
/* Adds all data of the model. 0 or -ENOMEM with @err: then it may be incomplete. */
int pprof_add(struct pprof *p, struct query *q, struct error *err);
/* 0, -ENOMEM, or the error of the write, with @err. */
int pprof_write(struct pprof *p, FILE *out, struct error *err);
/* The same as an OTLP request of v1development; @packed: compressed by gzip. */
int pprof_write_otlp(struct pprof *p, FILE *out, bool packed, struct error *err);
/*
 * Parses the @n bytes of a collector's answer to an accepted request: the number of profiles that
 * it rejected nevertheless, and its message, or "", into @why. -EBADMSG: not an answer of OTLP.
 */
int pprof_otlp_left_out(const void *answer, size_t n, int64_t *ret, char *why, size_t size);
void pprof_free(struct pprof *p); /* NULL is fine */

#endif
