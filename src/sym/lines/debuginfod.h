/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_DEBUGINFOD_H
#define KONTEND_SYM_DEBUGINFOD_H

#include <stddef.h>

/* Why nothing can be asked for, for people; NULL: it can. */
const char *debuginfod_missing(void);
/*
 * Asks the servers of DEBUGINFOD_URLS for the debug file of @build_id (lower case hexadecimal), for
 * @most_s seconds at most. A descriptor, to be read, or a negative errno with @ret_why set:
 * -ENOENT: they do not have it. Blocks: only for a process of its own.
 */
int debuginfod_find(const char *build_id, unsigned most_s, char *ret_why, size_t size);

#endif
