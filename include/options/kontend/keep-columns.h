/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KEEP_COLUMNS_H
#define KONTEND_KEEP_COLUMNS_H

#include "kontend/error.h"

/*
 * Writes into the configuration at @path, which need not be there, that these columns of a table
 * are wanted; @keys NULL: that the built-in ones are. All else in it stays as it is. 0, -EINVAL
 * for an empty text, or another negative errno, with @err.
 */
int keep_columns(const char *path, const char *table, const char *keys, struct error *err);

#endif
