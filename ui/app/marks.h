/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_MARKS_H
#define KONTEND_UI_APP_MARKS_H

#include "kontend/query-moment.h"

#include <stdint.h>

struct app;

enum { MARK_A, MARK_B, MARKS };

/* Two moments that are compared. */
struct app_marks {
	struct query_moment moments[MARKS];
	uint64_t ns[MARKS]; /* where they are; 0 = not set */
};

/* `mark a`, `mark b`, `mark off`; NULL: the next of them. */
void app_mark(struct app *a, const char *what);
/* False: there was none. */
bool app_marks_clear(struct app *a);
/* "B - A: 0:41 - 0:12" for the first line; NULL: they are not both set. */
enum { APP_MARKS_TEXT = 80 };
const char *app_marks_text(const struct app *a, char buf[APP_MARKS_TEXT]);

#endif
