/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PPROF_H
#define KONTEND_PPROF_H

#include "kontend/query-samples.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * A profile as pprof and stores of profiles read it: profile.proto, packed by gzip. Of waits the
 * values are contentions and delay, as Go's profile of mutexes has them; of samples, samples and
 * CPU time. What was measured can be added again and again, as the model begins anew.
 */
struct pprof;

/*
 * Bounds, as each different label may be a series to a store: of different values of a label, of
 * samples, and of places. What comes later is `other`, so that sums stay exact; those with most
 * time come first.
 */
enum {
	PPROF_VALUES = 100,
	PPROF_SAMPLES = 1 << 16,
	PPROF_PLACES = 1 << 17,
	PPROF_LIVE_SAMPLES = 1 << 14, /* with `live`, whose memory others want */
	PPROF_LIVE_PLACES = 1 << 15,
};

struct pprof_spec {
	enum query_samples_what what;
	const struct query_zoom *zoom; /* NULL: everything; borrowed */
	const char *version;	       /* of the program; borrowed */
	bool live; /* there are no lines, and names only that are there: nobody waits */
};

/* 0, -ENOMEM, or -ENOTSUP: it was not built in; with @err. */
int pprof_new(struct pprof **ret, const struct pprof_spec *s, struct error *err);
/* Adds all that the model has. 0 or -ENOMEM with @err: then some of it may be missing. */
int pprof_add(struct pprof *p, struct query *q, struct error *err);
/* 0, -ENOMEM, or what writing failed with, with @err. */
int pprof_write(struct pprof *p, FILE *out, struct error *err);
/* The same as a request of OTLP with all of it, of v1development; @packed: by gzip. */
int pprof_write_otlp(struct pprof *p, FILE *out, bool packed, struct error *err);
/*
 * What a collector that took a request has answered, of @n bytes: how many profiles it left out
 * nevertheless, and its words, or "", into @why. -EBADMSG: that is no answer of OTLP.
 */
int pprof_otlp_left_out(const void *answer, size_t n, int64_t *ret, char *why, size_t size);
void pprof_free(struct pprof *p); /* NULL is fine */

#endif
