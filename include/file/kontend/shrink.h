/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHRINK_H
#define KONTEND_SHRINK_H

#include "kontend/source.h"
#include "kontend/writer.h"

enum { SHRINK_NOTHING = 1 }; /* there is nothing that is not needed */

/*
 * Writes the finished recording of @w into the empty file @fd, but of the kernel's symbols only
 * those that it needs: all of them are most of a short one. @s reads the recording, from its
 * begin. 0, SHRINK_NOTHING (what was written is of no use then) or a negative errno.
 */
int shrink_copy(struct source *s, const struct writer *w, int fd, struct error *err);

#endif
