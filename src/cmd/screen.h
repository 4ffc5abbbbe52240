/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_SCREEN_H
#define KONTEND_CMD_SCREEN_H

#include "kontend/app.h"
#include "kontend/opts.h"
#include "kontend/output.h"
#include "kontend/run.h"
#include "kontend/sandboxed.h"

struct verdict_limits;

/* Adds to @a what @o says of views and colours; @verdict has to stay. -EINVAL with @err. */
int cmd_screen_options(const struct opts *o, struct app_options *a, struct verdict_limits *verdict,
		       struct error *err);
/*
 * Opens what is measured, after a first frame without figures is on the terminal: the kernel takes
 * a tenth of a second or more to check the BPF programs. It may add to @a. 0, or a negative errno
 * with @err.
 */
struct screen_opening {
	int (*open)(void *ctx, struct app_options *a, struct error *err);
	void *ctx;
	const char *note; /* in that frame */
};

/*
 * Shows @e on the terminal until the user leaves: with @a, to which is added what @o says of views
 * and colours. @run is started when the screen is there; NULL: there is nothing to start. The
 * @sandboxed: NULL, or where it is read. The terminal is given back before this answers, with an
 * exit status, and @err for what is to be said. @opening opens @e and @run; NULL: they are open.
 */
int cmd_screen(const struct opts *o, struct engine *e, struct run *run, struct app_options a,
	       const struct sandboxed *sandboxed, const struct screen_opening *opening,
	       struct error *err);
/* Saves a screen, for struct sandboxed_wants. */
int cmd_screen_save(void *ctx, int dir, const char *name, bool is_base, int fd, char *ret,
		    size_t size, struct error *err);
/* The saver for a process in @sandboxed. */
struct app_saver cmd_screen_saver(const struct sandboxed *sandboxed);

/* A picture that is asked for, and the file for it, which is open before a recording is. */
struct cmd_shot {
	int w, h;
	enum picture_format format;
	struct output output;
	struct sandboxed sandboxed; /* where the recording is read */
};

/*
 * Draws @e as the screen would with @a, and with the views that @o asks for, presses the keys of
 * @o, and writes the resulting screen. An exit status, with @err.
 */
int cmd_screenshot_take(const struct opts *o, struct engine *e, struct app_options a,
			const struct cmd_shot *shot, struct error *err);

/* `kontend replay` on the terminal, or of a moment onto @shot; NULL: the terminal. */
int cmd_replay_to(const struct opts *o, struct cmd_shot *shot);

#endif
