/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STATEFOLDER_H
#define KONTEND_STATEFOLDER_H

#include "kontend/error.h"

#include <stddef.h>

/*
 * The folder of what a user has saved: $XDG_STATE_HOME/kontend or ~/.local/state/kontend. What is
 * missing of it is made for us alone. It is of use only if it and all that it is in belong to us,
 * and nobody else may write there: so root leaves nothing in the home of another user. A descriptor
 * with its path, or a negative errno with @err, which names what is not so.
 */
int statefolder_open(char *ret_path, size_t size, struct error *err);

#endif
