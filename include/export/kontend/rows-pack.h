/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ROWS_PACK_H
#define KONTEND_ROWS_PACK_H

#include "kontend/error.h"
#include <stdio.h>

/*
 * A stream that compresses into @to as one frame of zstd; @to stays the caller's. Closing ends the
 * frame and fails (errno) if @to or memory did. NULL: no memory.
 */
FILE *rows_pack_open(FILE *to, int level);

#endif
