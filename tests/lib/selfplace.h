/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SELFPLACE_H
#define KONTEND_TESTS_SELFPLACE_H

#include <stddef.h>
#include <stdint.h>

/* Offset in the file of an address of this program's own; 0: it is not in a file. */
uint64_t selfplace(uintptr_t addr);
/* The path of this program. */
const char *selfplace_path(char *buf, size_t size);

#endif
