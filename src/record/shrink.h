/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SHRINK_H
#define KONTEND_RECORD_SHRINK_H

#include "kontend/error.h"
#include "kontend/writer.h"
#include <stdint.h>

/*
 * Leaves out of the finished recording @path, which is open as @fd, the symbols that it does not
 * need, where that is worth while; a file that has taken its name since is left alone. @w: who
 * wrote it. *ret_bytes: its size now, 0: it is as it was. Also after an error, which is negative.
 */
int record_shrink(const char *path, int fd, const struct writer *w, uint64_t *ret_bytes,
		  struct error *err);

#endif
