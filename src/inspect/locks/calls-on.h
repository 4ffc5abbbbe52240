/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_CALLS_ON_H
#define KONTEND_INSPECT_LOCKS_CALLS_ON_H

#include "waits/on-shared.h"

/* By number of a system call: what its arguments name, and which of them. */
void calls_on_codes(unsigned char ret[ON_CALLS]);

#endif
