// SPDX-License-Identifier: GPL-2.0-only
/* The common part of live and replay: a terminal, and the user interface on it. */
#include "screen.h"
#include "kontend/ending.h"
#include "kontend/limits.h"
#include "kontend/query-verdict.h"
#include "kontend/settings.h"
#include "kontend/source.h"
#include "kontend/term.h"
#include "verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

enum { FIRST_FRAME_MEMORY = 1 << 20, SAY_MS = 200 };

/*
 * Holds the signals that end or stop kontend until app_run() reads them: only then the terminal can
 * be restored and the measurement ended. *ret_before: the signals to hold after app_run(), which
 * are SIGTSTP and those that were held before.
 */
static void hold_signals(sigset_t *ret_before)
{
	sigset_t set;

	ending_signals(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	sigaddset(ret_before, SIGTSTP);
}

/* A source of no record. */
static int take_nothing(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	(void)s, (void)timeout_ms, (void)ret, (void)err;
	return SOURCE_IDLE;
}

static void free_nothing(struct source *s)
{
	(void)s;
}

/* The screen without a figure, as nothing is measured yet. */
static int draw_first_frame(struct display *display, struct app_options a, const char *note,
			    struct error *err)
{
	static const struct source_ops ops = {.next = take_nothing, .free = free_nothing};
	const struct model_limits limits = model_limits_recent(FIRST_FRAME_MEMORY);
	struct source nothing = {&ops};
	struct engine none;
	struct app *app;
	int r = engine_init(&none, &nothing, &limits, err);

	if (r < 0)
		return r;
	a.tour = a.has_history = false;
	a.opening = note;
	r = app_new(&app, &none, display, &a, err);
	if (r == 0) {
		app_draw(app);
		app_free(app);
	}
	engine_deinit(&none);
	return r;
}

static int exit_status(int r)
{
	return r == 0 ? CMD_EXIT_OK : r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE;
}

/* A signal that ends us takes effect when all is open. An exit status; CMD_EXIT_OK: all is open. */
static int open_after_frame(const struct screen_opening *o, struct app_options *a,
			    struct display *display, struct error *err)
{
	sigset_t ending;
	int sig = 0;
	int status = exit_status(draw_first_frame(display, *a, o->note, err));
	if (status == CMD_EXIT_OK && o->open(o->ctx, a, err) < 0)
		status = CMD_EXIT_FAILURE;
	if (ending_is_pending()) {
		ending_signals(&ending);
		sigwait(&ending, &sig);
	}
	return sig ? CMD_EXIT_SIGNAL + sig : status;
}

static int run_app(struct engine *e, struct run *run, const struct app_options *a,
		   struct display *display, const char **ret_end, struct error *err)
{
	struct app *app;
	int r = app_new(&app, e, display, a, err);

	if (r < 0)
		return exit_status(r);
	r = run ? run_start(run, err) : 0;
	if (r == 0)
		r = app_run(app, err);
	int sig = app_signal(app);
	*ret_end = app_end(app);
	app_free(app);
	if (r < 0)
		return CMD_EXIT_FAILURE;
	return sig ? CMD_EXIT_SIGNAL + sig : CMD_EXIT_OK;
}

static int keep_here(void *ctx, const char *where, const char *table, const char *keys,
		     struct error *err)
{
	(void)ctx;
	return settings_keep_columns(where, table, keys, err);
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

/* Not to a terminal that takes nothing, as after Ctrl-S: that would keep us from the end. */
static void say_end(const struct opts *o, const char *end)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (end && poll(&p, 1, SAY_MS) == 1 && p.revents & POLLOUT)
		cmd_say(o, "%s", end);
}

int cmd_screen(const struct opts *o, struct engine *e, struct run *run, struct app_options a,
	       const struct sandboxed *sandboxed, const struct screen_opening *opening,
	       struct error *err)
{
	struct term_options t = {.theme = o->theme, .ascii = o->ascii, .no_mouse = o->no_mouse};
	void *there = sandboxed && sandboxed_is(sandboxed) ? (void *)(uintptr_t)sandboxed : NULL;
	const struct app_keep kept = {there ? keep_there : keep_here, there, o->config_path};
	const struct app_saver saver = cmd_screen_saver(there);
	struct verdict_limits verdict;
	struct display *display;
	const char *end = NULL;
	sigset_t before;

	if (cmd_screen_options(o, &a, &verdict, err) < 0)
		return CMD_EXIT_USAGE;
	if (there)
		a.saver = &saver;
	if (o->config_path)
		a.keep = &kept;
	if (o->color && term_color_parse(o->color, &t.color) < 0)
		return CMD_EXIT_USAGE;
	hold_signals(&before);
	if (term_new(&display, &t, err) < 0)
		return CMD_EXIT_FAILURE;
	int status = opening ? open_after_frame(opening, &a, display, err) : CMD_EXIT_OK;

	if (status > CMD_EXIT_SIGNAL)
		end = ending_text(status - CMD_EXIT_SIGNAL);
	/* The intervals of multiplexing are put back before a signal takes effect. */
	a.mask = run && run->mux.n ? NULL : &before;
	if (status == CMD_EXIT_OK)
		status = run_app(e, run, &a, display, &end, err);
	display->ops->free(display);
	say_end(o, end);
	return status;
}
