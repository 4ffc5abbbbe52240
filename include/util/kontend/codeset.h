/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CODESET_H
#define KONTEND_CODESET_H

#include <stdbool.h>

/* How text is written here, as the environment says: for the C library, once, before any text. */
void codeset_set(void);
bool codeset_is_utf8(void);

#endif
