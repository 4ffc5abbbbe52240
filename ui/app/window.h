/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_WINDOW_H
#define KONTEND_UI_APP_WINDOW_H

#include <stdint.h>

struct app;

/* The time that figures cover. */
enum app_window { APP_WINDOW_1S, APP_WINDOW_10S, APP_WINDOW_1MIN, APP_WINDOW_ALL, APP_WINDOWS };

/* Before each frame, as a range may be shown or not. */
void app_window_apply(struct app *a);
void app_window_command(struct app *a, const char *text); /* NULL: the next one */

/* The window that was chosen, also while a range is shown; 0: all. */
uint64_t app_window_ns(const struct app *a);

#endif
