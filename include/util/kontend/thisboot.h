/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_THISBOOT_H
#define KONTEND_THISBOOT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if @wall_ns (CLOCK_REALTIME), @clock_ns (CLOCK_MONOTONIC) under kernel @release was on this
 * machine, in this boot. Then PIDs and files are still valid.
 */
bool thisboot_saw(const char *release, uint64_t wall_ns, uint64_t clock_ns);

enum { THISBOOT_ID = 40 };
/* The kernel's id of this boot, padded with zeros. 0 or a negative errno. */
int thisboot_id(char ret[THISBOOT_ID]);

#endif
