/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WHERE_H
#define KONTEND_INSPECT_WHERE_H

#include <stddef.h>
#include <stdint.h>

/*
 * "file:symbol+0xoffset" for an address of process @pid, "file+0xaddress" as the file has it where
 * there is no symbol, "[heap]+0xoffset", "anon+0xoffset"; "" when its maps under @root ("/proc")
 * do not have it, or cannot be read.
 */
void where_find(char *ret, size_t size, const char *root, int32_t pid, uint64_t addr);

#endif
