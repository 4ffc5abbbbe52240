// SPDX-License-Identifier: GPL-2.0-only
/*
 * The selected row to the clipboard. Views keep no rows between two frames: so the frame is drawn
 * once more, and the code that draws the selected row adds its full text.
 */
#include "kontend/mem.h"
#include "kontend/textbuf.h"
#include "priv.h"

#include <errno.h>
#include <string.h>

/* As much as the last line has room for; tabs would be no blanks there. */
static void say_copied(struct app *a, const char *text)
{
	char line[sizeof(a->message)];
	struct textbuf b = textbuf_make(line, sizeof(line));

	for (const char *p = text; *p; p++)
		textbuf_str(&b, *p == '\t' ? "  " : (char[]){*p, '\0'});
	app_say(a, ROLE_BOLD, "copied: %s", textbuf_end(&b));
}

static void copy(struct app *a, char *text)
{
	const struct display_ops *ops = a->display->ops;
	int r = ops->copy ? ops->copy(a->display, text) : -EOPNOTSUPP;

	if (r == 0)
		say_copied(a, text);
	else if (r == -EOPNOTSUPP)
		app_say(a, ROLE_ERROR,
			"Not copied: this terminal is not known to have a clipboard (OSC 52)");
	else
		app_say(a, ROLE_ERROR, "Not copied: %s", strerror(-r));
}

void app_copy(struct app *a)
{
	char *text = mem_calloc(DISPLAY_COPY_MAX, 1);

	if (!text) {
		app_say(a, ROLE_ERROR, "Not copied: %s", strerror(ENOMEM));
		return;
	}
	struct textbuf row = textbuf_make(text, DISPLAY_COPY_MAX);
	a->screen.row = &row;
	app_draw(a);
	a->screen.row = NULL;
	textbuf_end(&row);
	if (*text)
		copy(a, text);
	else
		app_say(a, ROLE_DIM, "No row is selected here that could be copied");
	mem_free(text);
}
