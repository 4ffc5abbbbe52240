/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILEMAP_H
#define KONTEND_FILEMAP_H

#include "kontend/mapguard.h"
#include <stddef.h>

/*
 * A file's bytes, mapped whole: nothing is copied, and only what is looked at is read. What is cut
 * off it meanwhile becomes zeros (mapguard.h). `= {0}` is one that is not open.
 */
struct filemap {
	const char *bytes;
	size_t len;
	struct mapguard guard;
};

/* Of a regular file that is not empty. @m stays where it is. 0, or a negative errno: not open. */
int filemap_open(struct filemap *m, int fd);
void filemap_close(struct filemap *m);

#endif
