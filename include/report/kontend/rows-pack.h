/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ROWS_PACK_H
#define KONTEND_ROWS_PACK_H

#include "kontend/error.h"
#include <stdio.h>

/*
 * A stream that packs what is written to it, as one frame of zstd, into @to, which stays the
 * caller's. Closing it ends the frame; it fails (errno) where @to or memory did. NULL: no memory.
 */
FILE *rows_pack_open(FILE *to, int level);

#endif
