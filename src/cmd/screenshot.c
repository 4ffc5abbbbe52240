// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend screenshot`: a recording is opened as `kontend replay` does it, the same user interface
 * draws it, and keys are pressed as a user would; but there is no terminal, and the last screen is
 * written to a file.
 */
#include "kontend/command.h"
#include "kontend/display.h"
#include "kontend/ending.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/query-verdict.h"
#include "kontend/text.h"
#include "screen.h"
#include "verbs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_W = 20, LEAST_H = 6, MOST_W = 1000, MOST_H = 500, USUAL_W = 100, USUAL_H = 30 };
enum { KEY_NAME = 16 };

static const uint64_t settle_ns = 5000000000;

/* "200x60" into @shot. */
static int parse_size(const char *text, struct cmd_shot *shot, struct error *err)
{
	const char *at = text;
	uint64_t w, h;

	if (number_take(&at, MOST_W, &w) < 0 || *at++ != 'x' ||
	    number_parse(at, LEAST_H, MOST_H, &h) < 0 || w < LEAST_W)
		return error_set(err, -EINVAL,
				 "--size '%.40s': give columns and rows, like 100x30, of at least "
				 "%dx%d and at most %dx%d",
				 text, LEAST_W, LEAST_H, MOST_W, MOST_H);
	shot->w = (int)w;
	shot->h = (int)h;
	return 0;
}

static int check(const struct opts *o, struct cmd_shot *shot, struct error *err)
{
	if (o->at && o->time)
		return error_set(err, -EINVAL,
				 "--at and --time exclude each other: give a moment or a range");
	if (o->format)
		picture_format_parse(o->format, &shot->format);
	else
		shot->format = o->output ? picture_format_of(o->output) : PICTURE_TEXT;
	return o->screen_size ? parse_size(o->screen_size, shot, err) : 0;
}

static void press(struct app *a, uint32_t key)
{
	app_key(a, &(struct display_input){.key = key});
	app_settle(a, settle_ns);
}

/* A word is the name of a key, or typed as it is. */
static void press_word(struct app *a, const char *word, size_t len)
{
	char name[KEY_NAME] = "";
	uint32_t key;

	if (len < sizeof(name))
		memcpy(name, word, len);
	key = *name ? command_key_parse(name) : 0;
	if (key) {
		press(a, key);
		return;
	}
	const char *end = word + len;
	for (size_t n; word < end && (n = text_decode(word, &key)) > 0; word += n)
		press(a, key);
}

static void press_keys(struct app *a, const char *keys)
{
	for (size_t len; *keys; keys += len) {
		keys += strspn(keys, " ");
		len = strcspn(keys, " ");
		press_word(a, keys, len);
	}
}

/* The screen is that of a user who stops there and does not let it play on. */
static bool is_playing(const struct app_options *a)
{
	return !a->to_ns && timeline_now_ns(a->timeline) < timeline_end_ns(a->timeline);
}

/* @failures: of memory before @app was there: what it lacked since is missing on the screen. */
static int write_picture(struct app *app, const struct cmd_shot *shot, unsigned long failures,
			 struct error *err)
{
	int r = mem_failures() == failures ? app_picture(app, shot->format, shot->output.file)
					   : -ENOMEM;

	return r < 0 ? error_errno(err, r, "Cannot make the picture") : 0;
}

int cmd_screenshot_take(const struct opts *o, struct engine *e, struct app_options a,
			const struct cmd_shot *shot, struct error *err)
{
	const struct app_saver saver = cmd_screen_saver(&shot->sandboxed);
	struct verdict_limits verdict;
	struct display *paper;
	struct app *app;
	int r;

	if (cmd_screen_options(o, &a, &verdict, err) < 0)
		return CMD_EXIT_USAGE;
	r = display_new_paper(&paper, shot->w, shot->h, o->ascii);
	if (r < 0) {
		error_errno(err, r, "Cannot set up the screen");
		return CMD_EXIT_FAILURE;
	}
	if (sandboxed_is(&shot->sandboxed))
		a.saver = &saver;
	const unsigned long failures = mem_failures();
	r = app_new(&app, e, paper, &a, err);
	if (r == 0) {
		app_settle(app, settle_ns);
		if (is_playing(&a) && !a.tour) /* a tour stands still by itself */
			press(app, ' ');
		press_keys(app, o->keys ? o->keys : "");
		r = write_picture(app, shot, failures, err);
		app_free(app);
	}
	paper->ops->free(paper);
	return r == 0 ? CMD_EXIT_OK : r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE;
}

/* The signal that asked for our end meanwhile, 0: none. */
static int signal_of(const sigset_t *set)
{
	int sig = sigtimedwait(set, NULL, &(struct timespec){0});

	return sig > 0 ? sig : 0;
}

/* An incomplete file is removed, also when a signal comes: signals are blocked, and polled for. */
static int run(const struct opts *o, struct cmd_shot *shot, struct error *err)
{
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (output_open(&shot->output, o->output, stdout, err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, err);
	int status = cmd_replay_to(o, shot);
	sandboxed_output(&shot->sandboxed, &shot->output);
	int sig = signal_of(&set);
	if (sig)
		status = CMD_EXIT_SIGNAL + sig;
	else if (status == CMD_EXIT_OK && o->output && output_commit(&shot->output, err) < 0)
		status = cmd_fail(CMD_EXIT_FAILURE, err);
	output_close(&shot->output);
	sandboxed_leave(&shot->sandboxed);
	return status;
}

int cmd_screenshot(const struct opts *o)
{
	struct cmd_shot shot = {.w = USUAL_W, .h = USUAL_H};
	struct error err = {0};

	if (o->story && (o->topic || o->input)) {
		error_set(&err, -EINVAL, "--story has a recording of its own: leave out '%s'",
			  o->topic ? o->topic : o->input);
		return cmd_fail(CMD_EXIT_USAGE, &err);
	}
	if (o->story)
		return cmd_story_screenshot(o, cmd_screenshot);
	if (check(o, &shot, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	int status = run(o, &shot, &err);
	return o->output ? status : cmd_flush(status);
}
