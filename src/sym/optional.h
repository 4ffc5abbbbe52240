/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_OPTIONAL_H
#define KONTEND_SYM_OPTIONAL_H

/*
 * Functions of optional libraries, each in a file of its own, with a NAME-none.c for builds
 * without the library.
 */
#include <stdbool.h>
#include <stddef.h>

/*
 * code/demangle.c: the source name of a C++ or Rust function, without its parameters. False: @name
 * is not mangled, is nested too deep, or this build has no demangler; then @ret is undefined.
 */
bool demangle(const char *name, char *ret, size_t size);

/*
 * elf/unxz.c: unpacks an xz file into at most @most bytes, mem_free() them. 0, -ENOMEM, -EBADMSG
 * (damaged, or larger than @most), -ENOTSUP (built without liblzma).
 */
int unxz(const void *from, size_t len, size_t most, void **ret, size_t *ret_len);

/* lines/debuginfod.c: why no download is possible, for users; NULL: it is. */
const char *debuginfod_missing(void);
/*
 * Asks the servers of DEBUGINFOD_URLS for the debug file of @build_id (lower-case hexadecimal), for
 * at most @most_s seconds. Returns a readable descriptor, or a negative errno with @ret_why set.
 * -ENOENT: the servers do not have it. Blocks: only for a separate process.
 */
int debuginfod_find(const char *build_id, unsigned most_s, char *ret_why, size_t size);

#endif
