/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ORDER_H
#define KONTEND_ORDER_H

#include "kontend/decode.h"
#include "kontend/source.h"

/* Positive result of order_pop(). */
enum { ORDER_EMPTY = 1 };

#define ORDER_NO_HEAD UINT64_MAX

struct order_stream;

/*
 * Merges the rings by time. Each ring is a queue of records in ring order; order decodes the head
 * of each and returns the earliest until the limit set by order_flush() is reached. An event older
 * than one already returned is `late`: counted, and returned next.
 */
struct order {
	struct decode *decode;
	struct source *source;	       /* gets the records back; NULL: no source */
	struct order_stream **streams; /* n_leaves, NULL where no ring has that number */
	/* Tournament: the winner of node i is the earlier one of nodes 2i and 2i+1; leaves are the
	 * streams. */
	uint64_t *keys; /* of each stream's head, ORDER_NO_HEAD without */
	uint32_t *tree;
	size_t n_leaves;    /* a power of two */
	uint64_t limit;	    /* events up to this time may be returned */
	uint64_t last_time; /* time of the last returned event */
	uint64_t n_late;
	struct order_stream
		*current; /* owner of the last returned event: advanced at the next pop */
};

void order_init(struct order *o, struct decode *d, struct source *s);
void order_deinit(struct order *o); /* releases all records */

/* Takes over a RECORD_PERF. 0 or -ENOMEM (then the caller keeps the record). */
int order_push(struct order *o, const struct record *r);

/* Call when all records up to @until have been pushed. */
void order_flush(struct order *o, uint64_t until);

/* The next event by time, valid until the next call of order; ORDER_EMPTY: none up to the limit. */
int order_pop(struct order *o, const struct event **ret);

#endif
