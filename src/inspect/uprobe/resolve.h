/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_UPROBE_RESOLVE_H
#define KONTEND_INSPECT_UPROBE_RESOLVE_H

#include "kontend/uprobe-attach.h"

/* Looks up @text for process @pid (0: all), which is going to run @command (NULL: nothing). */
int uprobe_resolve(const char *text, pid_t pid, const char *command,
		   struct uprobe_attach_probe *ret, struct error *err);

#endif
