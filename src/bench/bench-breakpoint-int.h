/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_BREAKPOINT_INT_H
#define KONTEND_BENCH_BREAKPOINT_INT_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a breakpoint on memory that no thread touches: its descriptor or a negative errno. */
int bench_breakpoint_open(uint32_t nth, pid_t pid, int cpu, bool inherit);
/* Describes @code in a sentence: breakpoint @nth (from 0) of @of was refused. Returns a code. */
int bench_breakpoint_refused(int code, uint32_t nth, uint32_t of, struct error *err);

/* Sorts in place. 0 or -ENOMEM. */
int bench_breakpoint_sort(uint64_t *ns, size_t n);

#endif
