/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_PERF_CREATIONS_H
#define KONTEND_QUERY_PERF_CREATIONS_H

#include "kontend/perfsnap.h"
#include "kontend/query.h"

/* Tasks that have created breakpoints since the first look, from the latest snapshot. */

/* Table "creations": a row a process that has created breakpoints. */
int query_perf_creations(struct query *q, const struct query_spec *s, struct table *ret,
			 struct error *err);

/* All of them together. */
struct query_perf_creations_sum {
	enum snap_creations how;
	uint64_t created, refused, lost; /* lost: there was no room for whose they are */
	const char *who; /* the task that created, or was refused, most; NULL: none */
	uint64_t most;	 /* that it created */
	/* "gdb/30500", or several: "perf/31038 4, gdb/30500 1"; "": none, or not known. */
	const char *refused_who;
	const char *reason; /* why not each is seen, if each was to be; "" */
};

/* 0 or -ENOMEM. */
int query_perf_creations_sum(struct query *q, struct query_perf_creations_sum *ret);
extern const struct table_kind query_perf_creations_kind;

#endif
