/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_REQUEST_H
#define KONTEND_BENCH_REQUEST_H

#include "kontend/bench-uprobe.h"

/*
 * What a probe on the hot function of a server costs who asks it: a thread that keeps values by
 * keys in a hash table, as such servers do, and one that has some connections to it, on each of
 * which it waits for the answer before it asks again. Looking up a key is what has the probe.
 */
enum bench_request_op { BENCH_REQUEST_SET, BENCH_REQUEST_GET, BENCH_REQUEST_OPS };

const char *bench_request_op_name(enum bench_request_op op); /* "SET" */

struct bench_request_row {
	enum bench_request_op op;
	bool probed; /* false: the same function without one */
	enum bench_uprobe_kind kind;
	bool is_return;
	/* Requests, and the CPU time of the server for one, whatever else runs there. */
	struct bench_parts_result took;
};

/* Measures what @row asks for, which is filled in: @parts times @part_ns. 0 or negative. */
int bench_request_row(struct bench_request_row *row, uint32_t parts, uint64_t part_ns,
		      struct error *err);

#endif
