/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_PLACES_H
#define KONTEND_SRC_QUERY_PLACES_H

#include "../internal.h"
#include "kontend/query-samples.h"

/* The places of call chains, each made once. All that is asked for lies in the query's arena. */
struct places {
	struct query *q;
	struct map64 known[2]; /* of frames, and of those to which calls return: index in `all` */
	const struct query_place **all;
	size_t n, cap;
	struct map64 files; /* number of a program's file -> index in `codes` */
	const struct query_code **codes;
	size_t n_codes, cap_codes;
	bool lines;  /* debug information is read for them */
	bool failed; /* an allocation did */
};

/* Of a chain of @n frames those from @from on; @ret: room for them. */
void places_of_chain(struct places *p, const uint64_t *frames, uint32_t from, uint32_t n,
		     const struct query_place **ret);
void places_deinit(struct places *p);

#endif
