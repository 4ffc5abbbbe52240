/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_PLACED_FIND_H
#define KONTEND_INSPECT_PLACED_FIND_H

#include "kontend/placed.h"

/* Looks up @text for process @pid (0: all), which is going to run @command (NULL: nothing). */
int placed_find(const char *text, pid_t pid, const char *command, struct placed_probe *ret,
		struct error *err);

#endif
