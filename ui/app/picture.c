// SPDX-License-Identifier: GPL-2.0-only
/* The screen, for a file: with the names that were still being looked up, in its colours. */
#include "kontend/picture.h"

#include "kontend/query-load.h"
#include "priv.h"
#include <stdio.h>

enum { SETTLE_FRAMES = 100, IN_VAIN = 2, TITLE = 64 };

void app_settle(struct app *a, uint64_t most_ns)
{
	int in_vain = 0;

	app_draw(a);
	for (int i = 0; i < SETTLE_FRAMES && a->again && in_vain < IN_VAIN; i++) {
		/* Names may have come while it was drawn: then there is nothing to wait for. */
		in_vain = query_load_wait(&a->query, most_ns) ? 0 : in_vain + 1;
		app_draw(a);
	}
}

static struct picture picture_of(struct app *a, char title[TITLE])
{
	snprintf(title, TITLE, "kontend: %s", app_top(a)->view->ops->name);
	return (struct picture){.screen = &a->screen, .theme = a->theme, .title = title};
}

int app_picture(struct app *a, enum picture_format format, FILE *out)
{
	char title[TITLE];
	const struct picture p = picture_of(a, title);

	return picture_write(&p, format, out);
}

int app_picture_text(struct app *a, enum picture_format format, char **ret)
{
	char title[TITLE];
	const struct picture p = picture_of(a, title);

	return picture_text(&p, format, ret);
}
