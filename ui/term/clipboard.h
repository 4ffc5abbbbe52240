/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERM_CLIPBOARD_H
#define KONTEND_UI_TERM_CLIPBOARD_H

#include <stdbool.h>

/*
 * The sequence by which a terminal sets its clipboard (OSC 52): into *@ret, mem_free(). 0,
 * -E2BIG (more than DISPLAY_COPY_MAX bytes) or -ENOMEM.
 */
int clipboard_sequence(const char *text, char **ret);
/*
 * May a terminal of type @term know it? Those that do not show it or drop it. @screen and @tmux:
 * $STY and $TMUX, or NULL.
 */
bool clipboard_is_there(const char *term, const char *screen, const char *tmux);

#endif
