/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KEEP_COLUMNS_H
#define KONTEND_KEEP_COLUMNS_H

#include "kontend/error.h"

/*
 * Sets the columns of a table in the configuration at @path, which need not exist; @keys NULL: the
 * built-in ones. All other lines stay. 0, -EINVAL for an empty text, or another negative errno,
 * with @err.
 */
int keep_columns(const char *path, const char *table, const char *keys, struct error *err);

#endif
