/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_THISBOOT_H
#define KONTEND_THISBOOT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Was what happened at @wall_ns (CLOCK_REALTIME), @clock_ns (CLOCK_MONOTONIC) under kernel @release
 * on this machine, since it booted? Process numbers and files are those of then, if it was.
 */
bool thisboot_saw(const char *release, uint64_t wall_ns, uint64_t clock_ns);

enum { THISBOOT_ID = 40 };
/* What the kernel calls this boot, with zeros behind it. 0 or a negative errno. */
int thisboot_id(char ret[THISBOOT_ID]);

#endif
