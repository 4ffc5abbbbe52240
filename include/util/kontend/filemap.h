/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILEMAP_H
#define KONTEND_FILEMAP_H

#include "kontend/mapguard.h"
#include <stddef.h>

/*
 * A file's bytes, mapped as a whole: nothing is copied, and only used pages are read. If the file
 * is truncated meanwhile, the missing part becomes zeros (mapguard.h). `= {0}` is closed.
 */
struct filemap {
	const char *bytes;
	size_t len;
	struct mapguard guard;
};

/* Maps a regular file that is not empty. @m must not move. 0, or a negative errno: not open. */
int filemap_open(struct filemap *m, int fd);
void filemap_close(struct filemap *m);

#endif
