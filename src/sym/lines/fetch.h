/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_FETCH_H
#define KONTEND_SYM_SRCLINES_FETCH_H

#include "proc.h"

enum { FETCH_WHY = 192, FETCH_ID_MOST = 64 };

/* The process that asks for one debug file, from outside, and what it brought. */
struct srclines_fetch {
	struct srclines_proc proc; /* pid 0: there is none */
	uint64_t begun_ns;
	uint32_t object; /* that it is for */
	int file;	 /* which has come for it; -1: none */
	unsigned failures;
	char why[FETCH_WHY]; /* "no debug information (...)" */
};

/* Why it is of no use to begin, for a file with so long a build id; NULL: it may be. */
const char *srclines_fetch_never(struct srclines_fetch *f, size_t id_len);
/* What is said if srclines_search_give() does not want the file. */
const char *srclines_fetch_wrong(void);
/*
 * @argv: as in srclines_config; @n: at most FETCH_ID_MOST bytes of @id. 0, or a negative errno and
 * `why`.
 */
int srclines_fetch_start(struct srclines_fetch *f, const struct file_access *door,
			 const char *const *argv, uint32_t object, const uint8_t *id, size_t n);
/*
 * 1: `file` has come, and nobody has looked into it yet; 0: it has not come so far; negative: it
 * will not, and `why` is set. The process has ended if it is not 0.
 */
int srclines_fetch_take(struct srclines_fetch *f);
/* The file that has come for @object, the caller's from now on; -1: none has. */
int srclines_fetch_file(struct srclines_fetch *f, uint32_t object);
void srclines_fetch_stop(struct srclines_fetch *f); /* and closes the file */

#endif
