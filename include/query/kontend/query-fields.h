/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FIELDS_H
#define KONTEND_QUERY_FIELDS_H

#include "kontend/query.h"

/* @fields: keys of columns with commas between. -EINVAL with @err, which names those there are. */
int query_fields_check(const char *fields, const struct table_kind *kind, enum query_by by,
		       struct error *err);
/* Makes them all that @t, an answer of @q, shows and reports, in their order; NULL: all stays. */
int query_fields(struct query *q, const char *fields, struct table *t, struct error *err);

#endif
