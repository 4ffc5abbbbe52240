/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SCRIPT_H
#define KONTEND_TESTS_SCRIPT_H

#include <stdio.h>

/*
 * A script is lines of: # comment; stream NAME; file NAME (from where the script is); replay
 * NAME (the stream as a recording of that name); against FILE (another recording, which it is
 * compared with); range FROM TO (seconds of it); history (keeps the last minutes); trigger EXPR;
 * view NAME; filter TEXT; locks-by KEY; locks-sort COLUMN; ascii; size W H; tick [N] (without N: to
 * the end); unseen (a tick that is not drawn); settle (names that are asked for come); pass TIME
 * (that long goes by); key NAME; type TEXT; click X Y; dclick X Y; wheel up|down X Y; dump NAME;
 * copied NAME (what is in the clipboard). Those up to ascii come first, as does no-clipboard.
 */

/* Plays @path on a screen of w x h and writes each dump to @out. 0, or 1 with a message on stderr.
 */
int script_play(const char *path, int w, int h, FILE *out);
/* Does the script set its size itself? */
int script_has_size(const char *path);

#endif
