// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user interface on a real terminal with a canned stream: pty-app [STREAM [THEME]]. For the pty
 * tests, and for looking at screens without root: it needs no tracefs. Exits with 128 + the signal
 * that ended it, 1 when the terminal cannot be used.
 */
#include "kontend/app.h"
#include "kontend/term.h"
#include "streams.h"
#include <stdio.h>
#include <stdlib.h>

static int run(struct engine *e, struct display *d, struct error *err)
{
	const struct app_options options = {.child_exit_fd = -1};
	struct app *app;
	int r = app_new(&app, e, d, &options, err);

	if (r < 0)
		return r;
	r = app_run(app, err);
	if (r == 0 && app_signal(app))
		r = 128 + app_signal(app);
	app_free(app);
	return r;
}

int main(int argc, char **argv)
{
	struct term_options options = {
		.theme = argc > 2 ? argv[2] : NULL,
		.ascii = getenv("PTY_ASCII") != NULL,
		.no_mouse = getenv("PTY_NO_MOUSE") != NULL,
	};
	struct synth *synth = stream_make(argc > 1 ? argv[1] : "storm");
	struct error err = {0};
	struct display *d = NULL;
	struct engine e;
	int r;

	if (!synth) {
		fprintf(stderr, "pty-app: no such stream\n");
		return 2;
	}
	r = engine_init(&e, synth_source(synth), NULL, &err);
	if (r < 0)
		return 2;
	r = term_new(&d, &options, &err);
	if (r == 0) {
		r = run(&e, d, &err);
		d->ops->free(d);
	}
	engine_deinit(&e);
	synth_free(synth);
	if (r < 0) {
		fprintf(stderr, "pty-app: %s\n", err.text);
		return 1;
	}
	return r;
}
