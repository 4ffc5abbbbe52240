/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_REQUEST_H
#define KONTEND_BENCH_REQUEST_H

#include "kontend/bench-uprobe.h"

/*
 * The cost, to its client, of a probe on the hot function of a server: one thread keeps values by
 * keys in a hash table, as such servers do; another one has some connections to it and waits on
 * each for the answer before the next request. The probe is on the lookup of a key.
 */
enum bench_request_op { BENCH_REQUEST_SET, BENCH_REQUEST_GET, BENCH_REQUEST_OPS };

const char *bench_request_op_name(enum bench_request_op op); /* "SET" */

struct bench_request_row {
	enum bench_request_op op;
	bool probed; /* false: the same function without a probe */
	enum uprobe_target kind;
	bool is_return;
	/* Requests, and the server's CPU time for each. */
	struct bench_parts_result took;
};

/* Runs the measurement described in @row and fills in the results: @parts times @part_ns. 0 or
 * negative. */
int bench_request_row(struct bench_request_row *row, uint32_t parts, uint64_t part_ns,
		      struct error *err);

#endif
