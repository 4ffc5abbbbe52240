/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SHRINK_H
#define KONTEND_RECORD_SHRINK_H

#include "kontend/error.h"
#include "kontend/writer.h"
#include <stdint.h>

/*
 * Removes unneeded symbols from the finished recording @path, open as @fd, if that is worthwhile;
 * another file that has its name by now is left alone. @w: its writer. *ret_bytes: the new size; 0:
 * unchanged. Set also after an error, which is negative.
 */
int record_shrink(const char *path, int fd, const struct writer *w, uint64_t *ret_bytes,
		  struct error *err);

#endif
