/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BINARY_H
#define KONTEND_BINARY_H

#include "kontend/error.h"
#include "kontend/uprobe.h"

/*
 * A program or library on disk, as probes see it: places are offsets into the file. It is read as
 * something that may be damaged.
 */
struct binary;

/* 0; -ENOTSUP: not an ELF file; or a negative errno. */
int binary_open(struct binary **ret, const char *path, struct error *err);
enum uprobe_machine binary_machine(const struct binary *b);
/* Bytes read from @offset on, at most @n; 0 beyond the end. */
size_t binary_read(const struct binary *b, uint64_t offset, void *ret, size_t n);
/*
 * The function at @offset as "name", *ret_into bytes into it; false: none is known. *ret_debug: it
 * is known from separate debug information.
 */
bool binary_symbol(struct binary *b, uint64_t offset, char *ret, size_t size, uint64_t *ret_into,
		   bool *ret_debug);
/* File offset of the function @name; 0, or -ENOENT. */
int binary_find(struct binary *b, const char *name, uint64_t *ret_offset);
void binary_close(struct binary *b); /* NULL is fine */

#endif
