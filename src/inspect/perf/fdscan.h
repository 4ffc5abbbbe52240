/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_FDSCAN_H
#define KONTEND_INSPECT_FDSCAN_H

#include <stdint.h>

/*
 * Calls @found for each descriptor of a perf event that a process under @root ("/proc") has open,
 * as far as we may look. 0, what @found answered if not 0, or the errno of reading @root.
 */
int fdscan(const char *root, int (*found)(void *arg, int32_t pid, int32_t fd, const char *comm),
	   void *arg);

#endif
