/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_FETCH_H
#define KONTEND_SYM_SRCLINES_FETCH_H

#include "proc.h"

enum { FETCH_WHY = 192, FETCH_ID_MOST = 64 };

/* The process that downloads one debug file, and its result. */
struct srclines_fetch {
	struct srclines_proc proc; /* pid 0: there is none */
	uint64_t begun_ns;
	uint32_t object; /* for this object */
	int file;	 /* downloaded for it; -1: none */
	unsigned failures;
	char why[FETCH_WHY]; /* "no debug information (...)" */
};

/* Why no download can succeed for a file with a build id of this length; NULL: it may. */
const char *srclines_fetch_never(struct srclines_fetch *f, size_t id_len);
/* Message for a file that srclines_search_give() rejects. */
const char *srclines_fetch_wrong(void);
/*
 * @argv: as in srclines_config; @n: at most FETCH_ID_MOST bytes of @id. 0, or a negative errno and
 * `why`.
 */
int srclines_fetch_start(struct srclines_fetch *f, const struct file_access *door,
			 const char *const *argv, uint32_t object, const uint8_t *id, size_t n);
/*
 * 1: `file` is downloaded, not checked yet; 0: not finished; negative: failed, with `why` set. If
 * not 0, the process has ended.
 */
int srclines_fetch_take(struct srclines_fetch *f);
/* The file downloaded for @object, the caller's from now on; -1: none. */
int srclines_fetch_file(struct srclines_fetch *f, uint32_t object);
void srclines_fetch_stop(struct srclines_fetch *f); /* and closes the file */

#endif
