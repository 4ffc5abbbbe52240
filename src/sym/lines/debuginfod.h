/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_DEBUGINFOD_H
#define KONTEND_SYM_DEBUGINFOD_H

#include <stddef.h>

/* Why no download is possible, for users; NULL: it is. */
const char *debuginfod_missing(void);
/*
 * Asks the servers of DEBUGINFOD_URLS for the debug file of @build_id (lower-case hexadecimal), for
 * at most @most_s seconds. Returns a readable descriptor, or a negative errno with @ret_why set.
 * -ENOENT: the servers do not have it. Blocks: only for a separate process.
 */
int debuginfod_find(const char *build_id, unsigned most_s, char *ret_why, size_t size);

#endif
