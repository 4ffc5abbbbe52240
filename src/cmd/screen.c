// SPDX-License-Identifier: GPL-2.0-only
/* The common part of live and replay: a terminal, and the user interface on it. */
#include "screen.h"
#include "kontend/ending.h"
#include "kontend/keep-columns.h"
#include "kontend/query-verdict.h"
#include "kontend/term.h"
#include "verbs.h"

#include <errno.h>
#include <signal.h>

/* Signals that end us wait until the terminal's settings are restored. */
static void hold_signals(void)
{
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int run_app(struct engine *e, struct run *run, const struct app_options *a,
		   struct display *display, struct error *err)
{
	struct app *app;
	int r = app_new(&app, e, display, a, err);

	if (r < 0)
		return r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE;
	if (run && run->mux.n)
		hold_signals(); /* app_run() hears them, and its end holds them again */
	r = run ? run_start(run, err) : 0;
	if (r == 0)
		r = app_run(app, err);
	int sig = app_signal(app);
	app_free(app);
	if (r < 0)
		return CMD_EXIT_FAILURE;
	return sig ? CMD_EXIT_SIGNAL + sig : CMD_EXIT_OK;
}

static int keep_here(void *ctx, const char *where, const char *table, const char *keys,
		     struct error *err)
{
	(void)ctx;
	return keep_columns(where, table, keys, err);
}

static int keep_there(void *ctx, const char *where, const char *table, const char *keys,
		      struct error *err)
{
	(void)where;
	return sandboxed_keep(ctx, table, keys, err);
}

int cmd_screen_save(void *ctx, int dir, const char *name, bool is_base, int fd, char *ret,
		    size_t size, struct error *err)
{
	(void)ctx;
	return app_save_fd(dir, name, is_base, fd, ret, size, err);
}

static int save_there(void *ctx, const char *name, bool is_base, int fd, char *ret, size_t size,
		      struct error *err)
{
	return sandboxed_save(ctx, name, is_base, fd, ret, size, err);
}

struct app_saver cmd_screen_saver(const struct sandboxed *sandboxed)
{
	return (struct app_saver){save_there, (void *)(uintptr_t)sandboxed};
}

int cmd_screen_options(const struct opts *o, struct app_options *a, struct verdict_limits *verdict,
		       struct error *err)
{
	if (cmd_verdict(o, verdict, err) < 0)
		return -EINVAL;
	a->verdict = verdict;
	a->percent_limit = cmd_percent_limit(o);
	a->theme = o->theme;
	a->columns = o->columns;
	a->view = o->view ? o->view : a->view;
	a->by = o->by;
	a->sort = o->sort;
	a->locks_by = o->locks_by;
	a->locks_sort = o->locks_sort;
	/* These are about the locks table; the overview would take no notice of them. */
	if (!a->view && (a->by || a->sort))
		a->view = "locks";
	return 0;
}

int cmd_screen(const struct opts *o, struct engine *e, struct run *run, struct app_options a,
	       const struct sandboxed *sandboxed, struct error *err)
{
	struct term_options t = {.theme = o->theme, .ascii = o->ascii, .no_mouse = o->no_mouse};
	void *there = sandboxed && sandboxed_is(sandboxed) ? (void *)(uintptr_t)sandboxed : NULL;
	const struct app_keep kept = {there ? keep_there : keep_here, there, o->config_path};
	const struct app_saver saver = cmd_screen_saver(there);
	struct verdict_limits verdict;
	struct display *display;

	if (cmd_screen_options(o, &a, &verdict, err) < 0)
		return CMD_EXIT_USAGE;
	if (there)
		a.saver = &saver;
	if (o->config_path)
		a.keep = &kept;
	if (o->color && term_color_parse(o->color, &t.color) < 0)
		return CMD_EXIT_USAGE;
	if (term_new(&display, &t, err) < 0)
		return CMD_EXIT_FAILURE;
	int status = run_app(e, run, &a, display, err);
	display->ops->free(display);
	return status;
}
