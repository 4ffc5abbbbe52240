// SPDX-License-Identifier: GPL-2.0-only
/* What is shown, for a file: with the names that were still being looked up, in its colours. */
#include "kontend/picture.h"

#include "kontend/query-load.h"
#include "priv.h"
#include <stdio.h>

enum { SETTLE_FRAMES = 100 };

void app_settle(struct app *a, uint64_t most_ns)
{
	app_draw(a);
	for (int i = 0; i < SETTLE_FRAMES && a->again; i++) {
		if (!query_load_wait(&a->query, most_ns))
			return;
		app_draw(a);
	}
}

int app_picture(struct app *a, enum picture_format format, FILE *out)
{
	const struct view *v = app_top(a)->view;
	char title[64];

	snprintf(title, sizeof(title), "kontend: %s", v->ops->name);
	const struct picture p = {.screen = &a->screen, .theme = a->theme, .title = title};
	return picture_write(&p, format, out);
}
