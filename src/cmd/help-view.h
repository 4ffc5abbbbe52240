/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_HELP_VIEW_H
#define KONTEND_CMD_HELP_VIEW_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the manual's section on the view called @name. False: there is no such view. */
bool help_view(const char *name, FILE *out);

#endif
