/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_READERS_FUNCTIONS_H
#define KONTEND_INSPECT_READERS_FUNCTIONS_H

#include "readers-shared.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Where in the text of /proc/kallsyms the functions are that hold a lock for reading, or say whose
 * it is: at most RAW_READER_RANGES, by address. 0: none, or the addresses are withheld.
 */
uint32_t readers_functions_find(const char *text, size_t len, struct raw_reader_range *ret);

#endif
