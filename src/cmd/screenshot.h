/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_SCREENSHOT_H
#define KONTEND_CMD_SCREENSHOT_H

#include "kontend/app.h"
#include "kontend/opts.h"
#include "kontend/output.h"
#include "kontend/sandboxed.h"

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

#endif
