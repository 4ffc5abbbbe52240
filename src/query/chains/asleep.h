/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CHAINS_ASLEEP_H
#define KONTEND_QUERY_CHAINS_ASLEEP_H

#include "../internal.h"

/*
 * The thing that a sleeping task waits for, by the functions of its calls, the innermost first:
 * "I/O", "pipe is full", "completion"; NULL: no function shows it.
 */
const char *asleep_for(struct query *q, const uint64_t *frames, uint32_t n);
/* The same of one function. */
const char *asleep_in(const char *function);

#endif
