/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_SCAN_H
#define KONTEND_SRC_FILE_READER_SCAN_H

#include "reader.h"

/* The next run of @g, or the reason why there is none. */
enum reader_stop {
	READER_STOP_RUN,  /* *ret is a run, g->pos after it */
	READER_STOP_MORE, /* the record at g->pos is incomplete */
	READER_STOP_USER, /* *ret is a record of perf at g->pos */
	READER_STOP_EXT,  /* *ret is a sample of kontend at g->pos */
	READER_STOP_BAD,  /* no record at g->pos, or an unaligned one of the kernel */
};
struct reader_run {
	const uint8_t *from;
	size_t len;
	uint32_t ring;
};
enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret);

/* When events may leave the merge. */
void reader_finished_round(struct reader *r);
int reader_begin(struct reader *r);  /* before the first run: queues HOST. 0 or -ENOMEM */
int reader_round(struct reader *r);  /* 1: queued a tick or a round; 0; -ENOMEM */
int reader_finish(struct reader *r); /* queues what is missing at the end. 0 or -ENOMEM */

#endif
