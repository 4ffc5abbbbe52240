/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CODESET_H
#define KONTEND_CODESET_H

#include <stdbool.h>

/* Sets the locale's character encoding for the C library; call once, before any text. */
void codeset_set(void);
bool codeset_is_utf8(void);

#endif
