/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_EXPORT_ROWS_H
#define KONTEND_CMD_EXPORT_ROWS_H

#include "kontend/filter-options.h"
#include "kontend/opts.h"

/* `kontend export --format ndjson`: the answer is the exit status. @only: which waits. */
int cmd_export_rows(const struct opts *o, const struct filter_options *only);

#endif
