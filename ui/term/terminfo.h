/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERMINFO_H
#define KONTEND_UI_TERMINFO_H

#include <stdbool.h>

/* Descriptions of terminals in the program itself, for machines that have none. */
struct terminfo {
	char *before; /* TERMINFO as it was */
	bool is_ours; /* that of now */
};

/* From here on curses has ours of terminal @name. False: there is none of it. */
bool terminfo_begin(struct terminfo *t, const char *name);
void terminfo_end(struct terminfo *t); /* the environment is as before */

#endif
