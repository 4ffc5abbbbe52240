/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_PROMPT_COMPLETE_H
#define KONTEND_UI_APP_PROMPT_COMPLETE_H

#include "kontend/command.h"
#include <stdbool.h>

/* The @nth completion of a palette line into @out; false after the last. */
bool prompt_complete(enum command_mode mode, const char *line, size_t nth, char *out, size_t size);
/* Commands whose name begins with the line's first word: their number, at most @max. */
size_t prompt_matches(enum command_mode mode, const char *line, const struct command_info **ret,
		      size_t max);

#endif
