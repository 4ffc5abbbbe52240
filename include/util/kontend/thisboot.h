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

#endif
