/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_CALLS_H
#define KONTEND_INSPECT_LOCKS_CALLS_H

#include "kontend/locksnap-items.h"
#include <stddef.h>

/* The use that a system call makes of the descriptor in its argument *@ret_arg (from 0); else
 * LOCKSNAP_NO_FILE. */
enum locksnap_doing calls_doing(long long number, unsigned *ret_arg);
/* "vda1" of /sys/dev/block, @sys is "/sys" or a test's tree; "": there is no such device. */
const char *calls_device(const char *sys, unsigned dev, char *ret, size_t size);

#endif
