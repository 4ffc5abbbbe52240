/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BINARY_H
#define KONTEND_BINARY_H

#include "kontend/error.h"
#include "kontend/uprobe.h"

/*
 * A program or library on disk, as probes need it: places are file offsets. The file may be
 * damaged, so every read is checked.
 */
struct binary;

/* 0; -ENOTSUP: not an ELF file; or another negative errno. */
int binary_open(struct binary **ret, const char *path, struct error *err);
enum uprobe_machine binary_machine(const struct binary *b);
/* Reads up to @n bytes from @offset on and returns their number; 0 beyond the end. */
size_t binary_read(const struct binary *b, uint64_t offset, void *ret, size_t n);
/*
 * The function at @offset as "name", *ret_into bytes after its start; false: none is known.
 * *ret_debug: the name is from separate debug information.
 */
bool binary_symbol(struct binary *b, uint64_t offset, char *ret, size_t size, uint64_t *ret_into,
		   bool *ret_debug);
/* The virtual address in the file of the byte at @offset; false: no segment loads it. */
bool binary_address(const struct binary *b, uint64_t offset, uint64_t *ret);
/* The function or variable that covers this virtual address, as "name"; false: none. */
bool binary_symbol_at(struct binary *b, uint64_t addr, char *ret, size_t size, uint64_t *ret_into);
enum binary_kind {
	BINARY_FUNCTION,
	BINARY_CHOOSER, /* runs once and returns which of several functions to use */
	BINARY_VARIABLE,
};

/* A symbol. The name is the binary's own. */
struct binary_entry {
	const char *name;
	uint64_t offset; /* into the file; UINT64_MAX: not in it */
	uint64_t size;	 /* 0: not known */
	enum binary_kind kind;
	bool global;
};

/* Calls @each for all defined symbols; false: the binary has none. */
bool binary_walk(struct binary *b, void (*each)(void *arg, const struct binary_entry *e),
		 void *arg);
/* True if @offset is in an executable segment. */
bool binary_is_code(const struct binary *b, uint64_t offset);
/*
 * File offset of the instruction @into bytes after the start of function @name. -ENOENT: no such
 * function. -EINVAL: there is no code, or several functions have that name. The message begins with
 * @path.
 */
int binary_locate(struct binary *b, const char *path, const char *name, uint64_t into,
		  uint64_t *ret_offset, struct error *err);
void binary_close(struct binary *b); /* NULL is fine */

#endif
