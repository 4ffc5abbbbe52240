/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_RECOVER_INT_H
#define KONTEND_SRC_FILE_RECOVER_INT_H

#include "kontend/recover.h"
#include "writer-int.h"

/* A damaged recording: a window that moves over the file, and what was found on the way. */
struct recover {
	const struct recover_options *o;
	int fd;
	uint64_t size;
	struct writer_bytes window;
	uint64_t window_at; /* of the window in the file */

	struct writer_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct writer_bytes features[PERFDATA_FEATURE_BITS];

	uint64_t data_from, data_to; /* a run of data that is not copied yet */
	uint64_t copied;
	struct recover_stat stat;
};

/* recover-scan.c: all of @want bytes at @at, valid until the next call; NULL: not there. */
const uint8_t *recover_at(struct recover *r, uint64_t at, size_t want);
/* Walks records from @at to @end or the last whole one; data go to the new file. */
int recover_scan(struct recover *r, uint64_t at, uint64_t end, struct error *err);
/* An attr of @len bytes with @n_ids ids. */
int recover_add_attr(struct recover *r, const void *attr, size_t len, const void *ids, size_t n_ids,
		     struct error *err);

#endif
