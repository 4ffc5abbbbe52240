/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STATEFOLDER_H
#define KONTEND_STATEFOLDER_H

#include "kontend/error.h"

#include <stddef.h>

/*
 * Folder for files that a user has saved: $XDG_STATE_HOME/kontend or ~/.local/state/kontend.
 * Missing folders are created for the user only. It is used only if it and all folders above belong
 * to kontend's user and no other user may write to them: so root writes nothing into the home of
 * another user. A descriptor with its path, or a negative errno with @err, which names the
 * offending folder.
 */
int statefolder_open(char *ret_path, size_t size, struct error *err);

#endif
