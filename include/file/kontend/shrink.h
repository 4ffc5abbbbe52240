/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHRINK_H
#define KONTEND_SHRINK_H

#include "kontend/source.h"
#include "kontend/writer.h"

enum { SHRINK_NOTHING = 1 }; /* all symbols are needed */

/*
 * Copies the finished recording of @w into the empty file @fd, but only those of the kernel's
 * symbols that it needs: all of them are most of a short recording. @s reads the recording from its
 * beginning. 0, SHRINK_NOTHING (the caller discards what was written) or a negative errno.
 */
int shrink_copy(struct source *s, const struct writer *w, int fd, struct error *err);

#endif
