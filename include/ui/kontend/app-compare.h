/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_APP_COMPARE_H
#define KONTEND_APP_COMPARE_H

#include "kontend/query-compare.h"

struct app;

/* Both marks are set: views that compare show B minus A. */
bool app_compare_on(const struct app *a);
/* Of the window that was chosen, at both marks: the table "compare". */
int app_compare(struct app *a, const struct query_spec *s, struct table *ret, struct error *err);

#endif
