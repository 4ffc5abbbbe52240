/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_SCAN_H
#define KONTEND_SRC_FILE_READER_SCAN_H

#include "reader.h"

/* One run from @g, or what is in its way. */
enum reader_stop {
	READER_STOP_RUN,  /* *ret is a run, g->pos after it */
	READER_STOP_MORE, /* the record at g->pos is not all there */
	READER_STOP_USER, /* *ret is a record of perf at g->pos */
	READER_STOP_EXT,  /* *ret is a sample of ours at g->pos */
	READER_STOP_BAD,  /* no record at g->pos, or one of the kernel's that is not aligned */
};
struct reader_run {
	const uint8_t *from;
	size_t len;
	uint32_t ring;
};
enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret);

/* When events may leave the merge. */
void reader_finished_round(struct reader *r);
int reader_begin(struct reader *r);  /* before the first run: HOST. 0 or -ENOMEM */
int reader_round(struct reader *r);  /* 1: queued a tick or a round; 0; -ENOMEM */
int reader_finish(struct reader *r); /* queues what is missing at the end. 0 or -ENOMEM */

#endif
